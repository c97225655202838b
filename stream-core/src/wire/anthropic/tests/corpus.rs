//! Recorded streams.

use super::*;

fn recorded() -> Vec<(String, Vec<Frame>)> {
    let read = |log: stream_testkit::ChunkLog| frames(std::str::from_utf8(log.bytes()).unwrap());
    let recorded = stream_testkit::logs::recorded(stream_testkit::WireKind::AnthropicMessages);
    recorded.into_iter().map(|one| (one.file.clone(), read(one.load().unwrap()))).collect()
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn every_recorded_frame_decodes_to_something() {
    for (path, frames) in recorded() {
        assert!(frames.iter().any(|frame| Anthropic.sniff(frame)), "{path}");
        for frame in frames.iter().filter(|frame| frame.data_bytes().is_some()) {
            let mut decoded = Decoded::new();
            Anthropic.decode(frame, &mut decoded).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_ne!(decoded.deltas, [], "{path}");
            let unknown = decoded.deltas.iter().find(|delta| {
                matches!(delta.kind, DeltaKind::Opaque { runs: crate::delta::Runs::Unknown, .. })
            });
            assert_eq!(unknown, None, "{path}");
        }
    }
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn every_recorded_stream_leaves_as_it_came() {
    for (path, frames) in recorded() {
        let came: Vec<u8> = frames.iter().flat_map(|frame| frame.raw().to_vec()).collect();
        let mut client = Client::new();
        for frame in frames {
            let parts = parts(&frame);
            client.write(Outgoing { frame: Some(frame), parts });
        }
        assert!(client.got == came, "{path}");
        assert!(client.writer.ended(), "{path}");
    }
}
