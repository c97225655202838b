//! Bytes changed behind an armed lane: what the lane does not take for text is read in full.

use bytes::Bytes;
use stream_testkit::{Fragments, Script, WireKind};

use crate::kit::{Made, assert_same, chains, config};
use crate::same::quiet;

/// A stream of which the tenth frame with text is in the lane, and where that frame stands; and one of which the tenth frame
/// with arguments is read by its shape.
fn armed(kind: WireKind) -> [(Vec<u8>, std::ops::Range<usize>); 2] {
    let text = Script::new().text("w\u{f6}rd\\ ".repeat(12)).text_fragments(Fragments::Bytes(7));
    let arguments = format!(r#"{{"abc":"{}"}}"#, " w\u{f6}rd\\n".repeat(12));
    let call = Script::new().call("call_1", "ls", arguments).argument_fragments(Fragments::Bytes(8));
    [text, call].map(|script| tenth(&script.bytes(kind)))
}

fn tenth(body: &[u8]) -> (Vec<u8>, std::ops::Range<usize>) {
    let body = body.to_vec();
    let mut framer = stream_core::sse::Framer::new(usize::MAX);
    framer.push(&body);
    let (mut at, mut texts) = (0, 0);
    while let Some(frame) = framer.next_frame().unwrap() {
        let len = frame.raw().len();
        texts += usize::from(frame.raw().windows(5).any(|bytes| bytes == "w\u{f6}rd".as_bytes()));
        if texts == 10 {
            return (body, at..at + len);
        }
        at += len;
    }
    (body, 0..0)
}

fn some_chains() -> Vec<Made> {
    let names = ["nothing", "content", "all", "Hold", "gate", "calls, some of them held", "strings"];
    chains().into_iter().filter(|(name, ..)| names.contains(&name.as_str())).collect()
}

#[test]
fn a_changed_byte_is_the_same_with_the_lane_and_without() {
    quiet();
    let bytes =
        [b'"', b'\\', b'\n', b'\r', b'{', b'}', b',', b':', b' ', b'0', 0, 0x1f, 0x7f, 0xc2, 0xe2, 0xff];
    let chains = some_chains();
    for (kind, (body, frame)) in
        WireKind::ALL.into_iter().flat_map(|kind| armed(kind).map(|armed| (kind, armed)))
    {
        assert!(kind == WireKind::Gemini || !frame.is_empty(), "{kind}");
        for at in frame {
            for byte in bytes {
                let flipped = [&body[..at], &[byte], &body[at + 1..]].concat();
                let inserted = [&body[..at], &[byte], &body[at..]].concat();
                for (what, body) in [("flipped", flipped), ("inserted", inserted)] {
                    // Every change goes through one of the chains, every place through all of them.
                    let chain = &chains[(at + usize::from(byte)) % chains.len()];
                    assert_same(
                        &format!("{kind}, {what} {byte:#x} at {at}"),
                        chain,
                        &[body.into()],
                        &config(),
                    );
                }
            }
            let deleted = Bytes::from([&body[..at], &body[at + 1..]].concat());
            for chain in &chains {
                assert_same(
                    &format!("{kind}, deleted at {at}"),
                    chain,
                    std::slice::from_ref(&deleted),
                    &config(),
                );
            }
        }
    }
}

#[test]
fn another_value_is_the_same_with_the_lane_and_without() {
    quiet();
    let changes = [
        ("\"index\":0", "\"index\":1"),
        ("\"index\":0", "\"index\":0,\"index\":0"),
        ("\"finish_reason\":null", "\"finish_reason\":\"stop\""),
        ("\"delta\":{", "\"delta\":{\"role\":\"user\","),
        ("\"delta\":{", "\"delta\":{\"Content\":\"x\","),
        ("\"delta\":{", "\"delta\":{\"content\":\"x\","),
        ("\"choices\":[{", "\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}},{"),
        ("\"content\":\"", "\"content\":\"\\ud800"),
        ("\"content\":\"", "\"content\":\"\u{2028}"),
        ("\"text\":\"", "\"text\":\"\u{85}"),
        ("\"content\":\"w", "\"content\":[\"w"),
        ("\"output_index\":0", "\"output_index\":1"),
        ("\"type\":\"text_delta\"", "\"type\":\"thinking_delta\""),
        ("\"tool_calls\":[{", "\"tool_calls\":[{\"id\":\"call_9\","),
        ("\"arguments\":\"", "\"name\":\"rm\",\"arguments\":\""),
        ("\"arguments\":\"", "\"arguments\":\"\",\"arguments\":\""),
        ("\"item_id\":\"", "\"item_id\":\"x"),
        ("\"sequence_number\":1", "\"sequence_number\":"),
        ("\"partial_json\":\"", "\"partial_json\":\"\\ud800"),
        ("\"type\":\"input_json_delta\"", "\"type\":\"text_delta\""),
        ("data: ", "data:"),
        ("data: ", ": note\ndata: "),
        ("data: ", "id: 7\ndata: "),
        ("event: ", "event:  "),
    ];
    for (kind, (body, frame)) in
        WireKind::ALL.into_iter().flat_map(|kind| armed(kind).map(|armed| (kind, armed)))
    {
        let text = String::from_utf8(body[frame.clone()].to_vec()).unwrap();
        for (from, to) in changes {
            let changed =
                [&body[..frame.start], text.replace(from, to).as_bytes(), &body[frame.end..]].concat();
            for chain in some_chains() {
                assert_same(&format!("{kind}, {to}"), &chain, &[Bytes::from(changed.clone())], &config());
            }
        }
    }
}
