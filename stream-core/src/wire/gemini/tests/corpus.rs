//! Recorded streams: read frame by frame, and written with random blocks
//! dropped.

use std::collections::HashMap;

use super::*;

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn recorded_streams_are_sniffed_read_and_written_as_they_came() {
    for (name, frames) in recorded() {
        assert!(Gemini.sniff(&frames[0]), "{name}");
        let read: Vec<u8> = frames.iter().flat_map(|frame| frame.raw().to_vec()).collect();
        let run = write(frames, |_| false).0;
        assert_eq!(run.out.concat(), read, "{name}");
    }
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn what_is_left_of_recorded_streams_is_what_was_not_dropped() {
    for (name, frames) in recorded() {
        for seed in 0..16_u32 {
            let drops = |key: u32| {
                (key + 1).wrapping_mul(seed.wrapping_mul(2) + 1).wrapping_mul(0x9e37_79b9) >> 31 == 1
            };
            let (run, kept) = write(frames.clone(), drops);
            let left = payload(&framed(&run.out.concat()));
            let notice = |kind: &DeltaKind| matches!(kind, DeltaKind::Text { text, .. } if &**text == NOTICE);
            let left: Vec<DeltaKind> = left.into_iter().filter(|kind| !notice(kind)).collect();
            assert_eq!(left, kept, "{name} {seed}");
        }
    }
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn recorded_fragments_are_joined() {
    for (name, frames) in recorded() {
        let mut calls: Vec<String> = Vec::new();
        for kind in payload(&frames) {
            let DeltaKind::Call(call) = kind else { continue };
            if call.starts {
                calls.push(String::new());
            }
            calls.last_mut().unwrap().push_str(call.arguments.as_deref().unwrap_or_default());
        }
        for call in calls {
            let joined = Gemini.join_arguments(&call);
            assert_eq!(joined.is_some(), call.starts_with('['), "{name}: {call}");
            let arguments = joined.unwrap_or(call);
            assert!(arguments.is_empty() || crate::json::is_object(&arguments), "{name}: {arguments}");
        }
    }
}

const NOTICE: &str = "[withheld by policy]";

/// Writes frames and drops blocks; gives the payload that was kept.
fn write(frames: Vec<Frame>, drops: impl Fn(u32) -> bool) -> (Run, Vec<DeltaKind>) {
    let mut run = Run::new();
    let mut kept = Vec::new();
    let mut fates: HashMap<BlockKey, Fate> = HashMap::new();
    for frame in frames {
        let mut parts = run.keys.parts(deltas(&frame));
        for part in &mut parts {
            let Some(key) = part.key else { continue };
            part.fate = *fates.entry(key).or_insert(if drops(key.0) { Fate::Dropped } else { Fate::Kept });
            if part.fate == Fate::Kept && part.delta.kind.is_payload() {
                kept.push(part.delta.kind.clone());
            }
        }
        run.writer.frame(Outgoing { frame: Some(frame), parts }, &mut run.out);
    }
    (run, kept)
}

fn payload(frames: &[Frame]) -> Vec<DeltaKind> {
    frames.iter().flat_map(deltas).map(|delta| delta.kind).filter(DeltaKind::is_payload).collect()
}

fn deltas(frame: &Frame) -> Vec<Delta> {
    let mut decoded = Decoded::new();
    if let Some(data) = frame.data().or_else(|| frame.lenient_data()) {
        Gemini.decode(&Frame::whole(data), &mut decoded).unwrap();
        assert!(!decoded.deltas.is_empty());
    }
    decoded.deltas
}

fn framed(bytes: &[u8]) -> Vec<Frame> {
    let mut framer = Framer::new(1 << 24);
    framer.push(bytes);
    let mut frames = Vec::new();
    while let Some(frame) = framer.next_frame().unwrap() {
        frames.push(frame);
    }
    frames.extend(framer.finish());
    frames
}

fn recorded() -> Vec<(String, Vec<Frame>)> {
    let recorded = stream_testkit::logs::recorded(stream_testkit::WireKind::Gemini);
    recorded.into_iter().map(|one| (one.file.clone(), framed(one.load().unwrap().bytes()))).collect()
}
