//! Recorded streams, where they lie beside the project.

use std::fs;
use std::path::{Path, PathBuf};

use super::kit::{joined, parts};
use crate::sse::Framer;
use crate::wire::openai_responses::OpenAiResponses;
use crate::wire::{Decoded, Outgoing, WireFormat, WriterOptions};

fn recordings() -> Vec<PathBuf> {
    let root = std::env::var_os("STREAM_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"), PathBuf::from);
    let Ok(folder) = fs::read_dir(root.join("openai-responses")) else { return Vec::new() };
    let paths = folder.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "sse")).collect()
}

#[test]
fn every_recorded_stream_decodes_and_leaves_as_it_came() {
    for path in recordings() {
        let body = fs::read(&path).unwrap();
        let mut framer = Framer::new(1 << 24);
        framer.push(&body);
        let mut writer = OpenAiResponses.writer(&WriterOptions::default());
        let mut out = Vec::new();
        let mut sniffed = false;
        loop {
            let next = framer.next_frame().unwrap().or_else(|| framer.finish());
            let Some(frame) = next else { break };
            let mut decoded = Decoded::new();
            OpenAiResponses.decode(&frame, &mut decoded).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            assert!(frame.data_bytes().is_none() || !decoded.deltas.is_empty(), "{path:?}");
            sniffed |= OpenAiResponses.sniff(&frame);
            writer.frame(Outgoing { frame: Some(frame), parts: parts(decoded.deltas) }, &mut out);
        }
        assert_eq!(joined(&out).as_bytes(), body, "{path:?}");
        assert!(sniffed && writer.ended(), "{path:?}");
    }
}
