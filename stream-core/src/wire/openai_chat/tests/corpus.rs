//! Recorded streams: every frame decodes, and the deltas say what the
//! recording's expectation says.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Expected {
    file: String,
    error: bool,
    choices: Vec<ExpectedChoice>,
}

#[derive(Deserialize)]
struct ExpectedChoice {
    index: u32,
    content: String,
    reasoning: String,
    refusal: String,
    tool_calls: Vec<ExpectedCall>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ExpectedCall {
    id: String,
    name: String,
    arguments: Option<String>,
}

#[derive(Default)]
struct Folded {
    text: [String; 3],
    calls: Vec<(Option<u64>, String, String, String)>,
    finish: Option<String>,
}

impl Folded {
    fn call(&mut self, index: Option<u64>, call: &CallDelta) {
        let same_id = |known: &str| call.id.as_deref().is_some_and(|id| id == known);
        let found = match &call.id {
            Some(_) => self.calls.iter().rposition(|known| same_id(&known.1)),
            None => self.calls.iter().rposition(|known| known.0 == index),
        };
        let at = found.unwrap_or_else(|| {
            let word = |text: &Option<crate::delta::Text>| text.as_deref().unwrap_or_default().to_owned();
            self.calls.push((index, word(&call.id), word(&call.name), String::new()));
            self.calls.len() - 1
        });
        self.calls[at].3.push_str(call.arguments.as_deref().unwrap_or_default());
    }
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn recorded_streams_decode_to_what_is_expected() {
    let corpus = stream_testkit::logs::root().expect("recorded streams: STREAM_CORPUS names their folder");
    let lines = std::fs::read_to_string(corpus.join("expected.jsonl")).unwrap();
    let mut read = 0;
    for line in lines.lines().filter(|line| line.contains("\"openai-chat\"")) {
        let expected: Expected = serde_json::from_str(line).unwrap();
        check(&expected, &std::fs::read(corpus.join(&expected.file)).unwrap());
        read += 1;
    }
    assert!(read > 0);
}

/// Rule 19: with all payload dropped, and what follows it, no output is left in any field but the notice.
#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn recorded_streams_can_be_emptied() {
    for recorded in stream_testkit::logs::recorded(stream_testkit::WireKind::OpenAiChat) {
        let file = &recorded.file;
        let out = emptied(recorded.load().unwrap().bytes());
        for frame in frames(&out).iter().filter(|frame| frame.data_bytes().is_some()) {
            let mut decoded = Decoded::new();
            OpenAiChat.decode(frame, &mut decoded).unwrap();
            for delta in decoded.deltas {
                match delta.kind {
                    DeltaKind::Text { text, .. } => assert_eq!(&*text, "[withheld by policy]", "{file}"),
                    kind => assert!(!kind.is_payload(), "{file}: {kind:?}"),
                }
            }
        }
    }
}

fn emptied(bytes: &[u8]) -> Vec<u8> {
    let mut run = Run::new();
    for frame in frames(bytes).into_iter().filter(|frame| frame.data_bytes().is_some()) {
        let mut decoded = Decoded::new();
        OpenAiChat.decode(&frame, &mut decoded).unwrap();
        let mut parts: Vec<Part> = decoded.deltas.into_iter().map(part).collect();
        for part in &mut parts {
            let follows = matches!(part.delta.kind, DeltaKind::Copy(_) | DeltaKind::Annotation { .. });
            if follows || part.delta.kind.is_payload() {
                part.fate = Fate::Dropped;
            }
        }
        run.writer.frame(Outgoing { frame: Some(frame), parts }, &mut run.out);
    }
    run.out.concat()
}

fn frames(bytes: &[u8]) -> Vec<Frame> {
    let mut framer = Framer::new(1 << 24);
    framer.push(bytes);
    let mut frames = Vec::new();
    while let Some(frame) = framer.next_frame().unwrap() {
        frames.push(frame);
    }
    frames.extend(framer.finish());
    frames
}

fn check(expected: &Expected, bytes: &[u8]) {
    let mut run = Run::new();
    let mut choices = BTreeMap::<u32, Folded>::new();
    let mut failed = false;
    for frame in frames(bytes) {
        if frame.data_bytes().is_none() {
            run.out.push(frame.raw().clone());
            continue;
        }
        let mut decoded = Decoded::new();
        OpenAiChat.decode(&frame, &mut decoded).unwrap_or_else(|error| panic!("{}: {error}", expected.file));
        assert_ne!(decoded.deltas, [], "{}", expected.file);
        for delta in &decoded.deltas {
            failed |= matches!(delta.kind, DeltaKind::Error(_));
            if matches!(&delta.kind, DeltaKind::Opaque { kind, .. } if &**kind == "unknown") {
                panic!("{}: {delta:?}", expected.file);
            }
            let Some(number) = delta.choice else { continue };
            let choice = choices.entry(number).or_default();
            match (&delta.kind, delta.slot) {
                (DeltaKind::Text { channel, text }, slot) if slot != Slot::Speech => {
                    choice.text[*channel as usize].push_str(text);
                }
                (DeltaKind::Call(call), Slot::Call { index }) => choice.call(index, call),
                (DeltaKind::Finish(reason), _) => choice.finish = Some(reason.raw().to_owned()),
                _ => {}
            }
        }
        let parts = decoded.deltas.into_iter().map(part).collect();
        run.writer.frame(Outgoing { frame: Some(frame), parts }, &mut run.out);
    }
    assert_eq!(failed, expected.error, "{}", expected.file);
    for choice in &expected.choices {
        let folded = choices.remove(&choice.index).unwrap_or_default();
        let texts = [&choice.content, &choice.reasoning, &choice.refusal];
        assert_eq!(folded.text.each_ref(), texts, "{}", expected.file);
        assert_eq!(folded.finish, choice.finish_reason, "{}", expected.file);
        let calls: Vec<_> = folded.calls.iter().map(|call| (&*call.1, &*call.2, &*call.3)).collect();
        let want: Vec<_> = choice
            .tool_calls
            .iter()
            .map(|call| (&*call.id, &*call.name, call.arguments.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(calls, want, "{}", expected.file);
    }
    assert_eq!(run.out.concat(), bytes, "{}", expected.file);
}
