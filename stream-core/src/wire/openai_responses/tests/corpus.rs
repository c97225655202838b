//! Recorded streams, read back by a strict client.

use super::client::{Client, texts};
use super::kit::{Run, decode_frame, joined, parts, text};
use crate::delta::{Channel, DeltaKind, Slot};
use crate::sse::{Frame, Framer};
use crate::wire::openai_responses::OpenAiResponses;
use crate::wire::{Fate, Outgoing, Part, WireFormat, WriterOptions};

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn every_recorded_stream_decodes_and_leaves_as_it_came() {
    for (path, body) in recordings() {
        let mut writer = OpenAiResponses.writer(&WriterOptions::default());
        let mut out = Vec::new();
        let mut sniffed = false;
        for frame in frames(&body) {
            let deltas = decode_frame(&frame).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            assert_eq!(frame.data_bytes().is_none(), deltas.is_empty(), "{path:?}");
            sniffed |= OpenAiResponses.sniff(&frame);
            writer.frame(Outgoing { frame: Some(frame), parts: parts(deltas) }, &mut out);
        }
        assert_eq!(joined(&out).as_bytes(), body, "{path:?}");
        assert!(sniffed && writer.ended(), "{path:?}");
    }
}

/// Rules 17, 19 and 22, item by item.
#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn any_one_item_can_be_dropped_from_any_recorded_stream() {
    for (path, body) in recordings() {
        let whole = Client::read(std::str::from_utf8(&body).unwrap());
        for dropped in 0..u32::try_from(whole.items.len()).unwrap() {
            let output = run(&body, |parts| parts.iter_mut().for_each(|part| drop_item(part, dropped)));
            let client = Client::read(&output);
            agree(&path, &client);
            let item = &whole.items[dropped as usize];
            if item["type"] == "reasoning" {
                assert_eq!(client.items.len(), whole.items.len(), "{path:?}");
                assert!(!output.contains(r#""type":"summary_text""#), "{path:?}");
            } else {
                // Recorders put one word in place of every id.
                let id = format!("\"{}\"", item["id"].as_str().unwrap());
                assert!(!output.contains(&id) || id.contains("REDACTED"), "{path:?}: {id}");
            }
        }
    }
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn text_can_be_inserted_before_any_item_of_any_recorded_stream() {
    for (path, body) in recordings() {
        let whole = Client::read(std::str::from_utf8(&body).unwrap());
        let output = run(&body, |parts| {
            let opens = |part: &Part| match &part.delta.kind {
                DeltaKind::ItemStart { .. } => true,
                DeltaKind::Call(call) => call.starts,
                _ => false,
            };
            if parts.iter().any(opens) {
                parts.insert(0, text("inserted"));
            }
        });
        let client = Client::read(&output);
        agree(&path, &client);
        let inserted = client.items.iter().filter(|item| texts(&item["content"]) == ["inserted"]).count();
        assert_eq!(client.items.len(), whole.items.len() + inserted, "{path:?}");
        assert!(inserted > 0 || whole.items.is_empty(), "{path:?}");
    }
}

/// The items that were streamed and those of the terminal event are the same.
fn agree(path: &str, client: &Client) {
    let terminal = client.terminal.as_ref().unwrap_or_else(|| panic!("{path:?}: no terminal event"));
    let Some(output) = terminal["output"].as_array().filter(|output| !output.is_empty()) else { return };
    assert_eq!(output.len(), client.items.len(), "{path:?}");
    for (restated, item) in output.iter().zip(&client.items) {
        for field in ["type", "name", "call_id", "arguments", "input", "operation"] {
            assert_eq!(restated[field], item[field], "{path:?}");
        }
        assert_eq!(texts(&restated["content"]), texts(&item["content"]), "{path:?}");
    }
}

/// Drops an item as the engine does: a reasoning item only loses its parts.
fn drop_item(part: &mut Part, dropped: u32) {
    let Slot::At { item, part: number } = part.delta.slot else { return };
    let stays = match part.delta.kind {
        DeltaKind::ItemStart { channel } => channel == Channel::Reasoning,
        // Only a reasoning item can still be there.
        DeltaKind::Stop => number == Slot::ITEM,
        _ => false,
    };
    if item == dropped && !stays {
        part.fate = Fate::Dropped;
    }
}

fn run(body: &[u8], mut decide: impl FnMut(&mut Vec<Part>)) -> String {
    let mut run = Run::new();
    for frame in frames(body) {
        run.frame(frame, &mut decide);
    }
    run.output()
}

fn frames(body: &[u8]) -> Vec<Frame> {
    let mut framer = Framer::new(1 << 24);
    framer.push(body);
    let mut frames = Vec::new();
    while let Some(frame) = framer.next_frame().unwrap().or_else(|| framer.finish()) {
        frames.push(frame);
    }
    frames
}

fn recordings() -> Vec<(String, Vec<u8>)> {
    let recorded = stream_testkit::logs::recorded(stream_testkit::WireKind::OpenAiResponses);
    recorded.into_iter().map(|one| (one.file.clone(), one.load().unwrap().bytes().to_vec())).collect()
}
