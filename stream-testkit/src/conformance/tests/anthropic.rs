//! Anthropic Messages.

use super::{
    super::{CallView, Ended, View, WireKind},
    expect, named,
};

const START: &str = r#"{"type":"message_start","message":{"id":"m","model":"x","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":1}}}"#;
const PING: &str = r#"{"type":"ping"}"#;
const TEXT_0: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const HI_0: &str = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#;
const STOP_0: &str = r#"{"type":"content_block_stop","index":0}"#;
const TOOL_1: &str = r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#;
const JSON_1: &str =
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#;
const STOP_1: &str = r#"{"type":"content_block_stop","index":1}"#;
const END_TURN: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}"#;
const TOOL_USE: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}"#;
const MAX: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":1}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const ERROR: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"no"}}"#;

#[track_caller]
fn broken(events: &[&str], violations: &[&str]) -> View {
    expect(WireKind::AnthropicMessages, &named(events), violations)
}

#[test]
fn a_good_stream() {
    let think = TEXT_0.replace(r#""text","text":"""#, r#""thinking","thinking":"","signature":"""#);
    let thought = HI_0.replace(r#""text_delta","text""#, r#""thinking_delta","thinking""#);
    let signed = HI_0.replace(r#""text_delta","text""#, r#""signature_delta","signature""#);
    let shift =
        |event: &str| event.replace("\"index\":1", "\"index\":2").replace("\"index\":0", "\"index\":1");
    let events = [
        START,
        &think,
        PING,
        &thought,
        &signed,
        STOP_0,
        &shift(TEXT_0),
        &shift(HI_0),
        &shift(STOP_0),
        &shift(TOOL_1),
        &shift(JSON_1),
        &shift(STOP_1),
        TOOL_USE,
        STOP,
    ];
    let view = broken(&events, &[]);
    let choice = &view.choices[0];
    assert_eq!((choice.reasoning.as_str(), choice.content.as_str()), ("Hi", "Hi"));
    let (id, name, arguments) = ("t".to_owned(), "f".to_owned(), "{}".to_owned());
    assert_eq!(choice.calls, [CallView { id, name, arguments, kind: "tool_use".to_owned() }]);
    assert_eq!((view.ended, view.usage, choice.finish.as_deref()), (Ended::Clean, true, Some("tool_use")));
}

#[test]
fn a_refusal_and_an_error_are_endings() {
    let refusal = END_TURN.replace("end_turn", "refusal");
    assert_eq!(broken(&[START, &refusal, STOP], &[]).ended, Ended::Refused);
    assert_eq!(broken(&[START, TEXT_0, HI_0, ERROR], &[]).ended, Ended::Error);
    broken(
        &[r#"{"type":"error","error":{}}"#],
        &[
            "event 1: shape: expected error.type, found none",
            "event 1: shape: expected error.message, found none",
        ],
    );
}

#[test]
fn the_message_starts_first_and_once() {
    broken(
        &[TEXT_0, HI_0, STOP_0, START, START, END_TURN, STOP],
        &[
            "event 1: event-order: expected message_start first, found \"content_block_start\"",
            "event 2: event-order: expected message_start first, found \"content_block_delta\"",
            "event 3: event-order: expected message_start first, found \"content_block_stop\"",
            "event 5: event-order: expected message_start once, found it again",
        ],
    );
    broken(
        &[r#"{"type":"message_start","message":{}}"#, TEXT_0, HI_0, STOP_0, END_TURN, STOP],
        &[
            "event 1: shape: expected message.id, found none",
            "event 1: shape: expected message.model, found none",
            "event 1: shape: expected message.role, found none",
        ],
    );
}

#[test]
fn block_indices_have_no_gap() {
    broken(
        &[START, TOOL_1, JSON_1, STOP_1, TOOL_USE, STOP],
        &["event 2: index: expected block index 0, found 1"],
    );
    broken(
        &[START, TEXT_0, HI_0, STOP_0, TEXT_0, HI_0, STOP_0, END_TURN, STOP],
        &["event 5: index: expected block index 1, found 0"],
    );
}

#[test]
fn one_block_is_open_at_a_time() {
    broken(
        &[START, TEXT_0, HI_0, TOOL_1, HI_0, STOP_0, JSON_1, STOP_1, HI_0, STOP_1, TOOL_USE, STOP],
        &[
            "event 4: pairing: expected block 0 to stop first, found another start",
            "event 5: pairing: expected a delta for 1, found one for 0",
            "event 6: pairing: expected the stop of 1, found that of 0",
            "event 9: pairing: expected a delta for no open block, found one for 0",
            "event 10: pairing: expected the stop of none, found that of 1",
        ],
    );
}

#[test]
fn blocks_stop_before_the_message() {
    broken(
        &[START, TEXT_0, HI_0, END_TURN, STOP],
        &["event 4: pairing: expected block 0 to stop first, found message_delta"],
    );
    broken(
        &[START, TEXT_0, HI_0, MAX, STOP],
        &[
            "event 4: pairing: expected block 0 to stop first, found message_delta (excused by block-left-open)",
        ],
    );
    broken(
        &[START, TEXT_0, HI_0, STOP],
        &[
            "event 4: pairing: expected block 0 to stop first, found message_stop",
            "event 4: ending: expected message_delta before message_stop, found none",
        ],
    );
}

#[test]
fn a_delta_is_of_its_blocks_kind() {
    let thought = HI_0.replace(r#""text_delta","text""#, r#""thinking_delta","thinking""#);
    let unknown = HI_0.replace("text_delta", "new_delta");
    broken(
        &[START, TEXT_0, HI_0, &thought, &unknown, STOP_0, END_TURN, STOP],
        &[
            "event 4: delta-type: expected a delta of a \"text\" block, found \"thinking_delta\"",
            "event 5: delta-type: expected a delta of a \"text\" block, found \"new_delta\"",
        ],
    );
    let other = TEXT_0.replace("\"text\",\"text\":\"\"", "\"new\"");
    broken(&[START, &other, &unknown, STOP_0, END_TURN, STOP], &[]);
    let none = HI_0.replace(",\"text\":\"Hi\"", "");
    broken(
        &[START, TEXT_0, HI_0, &none, STOP_0, END_TURN, STOP],
        &["event 4: shape: expected text in a text_delta, found none"],
    );
}

#[test]
fn a_call_opens_with_everything() {
    broken(
        &[
            START,
            TEXT_0,
            HI_0,
            STOP_0,
            &TOOL_1.replace(r#","id":"t","name":"f","input":{}"#, ""),
            STOP_1,
            TOOL_USE,
            STOP,
        ],
        &[
            "event 5: call-identity: expected a tool_use block to open with id, found none",
            "event 5: call-identity: expected a tool_use block to open with name, found none",
            "event 5: shape: expected a tool_use block to open with an input object, found none",
        ],
    );
    let again = TOOL_1.replace("\"index\":1", "\"index\":2");
    let stop = STOP_1.replace('1', "2");
    broken(
        &[START, TEXT_0, HI_0, STOP_0, TOOL_1, STOP_1, &again, &stop, TOOL_USE, STOP],
        &["event 7: call-identity: expected an id of its own, found \"t\" again"],
    );
}

#[test]
fn input_is_whole_unless_the_last_call_was_cut() {
    let half = JSON_1.replace("{}\"", "{\"");
    let head = [START, TEXT_0, HI_0, STOP_0, TOOL_1];
    broken(
        &[&head[..], &[&half, STOP_1, TOOL_USE, STOP]].concat(),
        &["event 9: arguments: expected the input of \"f\" to be one JSON value, found {"],
    );
    broken(&[&head[..], &[&half, STOP_1, MAX, STOP]].concat(), &[]);
}

#[test]
fn input_comes_at_the_start_or_in_deltas() {
    let filled = TOOL_1.replace("\"input\":{}", "\"input\":{\"x\":1}");
    let head = [START, TEXT_0, HI_0, STOP_0, &filled];
    let view = broken(&[&head[..], &[STOP_1, TOOL_USE, STOP]].concat(), &[]);
    assert_eq!(view.choices[0].calls[0].arguments, r#"{"x":1}"#);
    broken(
        &[&head[..], &[JSON_1, STOP_1, TOOL_USE, STOP]].concat(),
        &["event 7: copy: expected the input of \"f\" at its start or in deltas, found both"],
    );
}

#[test]
fn only_tool_use_follows_tool_use() {
    let late = |event: &str| event.replace("\"index\":0", "\"index\":2");
    let head = [START, TEXT_0, HI_0, STOP_0, TOOL_1, STOP_1];
    let (text, hi, stop) = (late(TEXT_0), late(HI_0), late(STOP_0));
    broken(
        &[&head[..], &[&text, &hi, &stop, TOOL_USE, STOP]].concat(),
        &["event 7: after-tool-use: expected nothing but tool_use after a tool_use, found a \"text\" block"],
    );
    let server = TOOL_1.replace("\"index\":1", "\"index\":2").replace("tool_use", "server_tool_use");
    broken(
        &[&head[..], &[&server, &stop, TOOL_USE, STOP]].concat(),
        &[
            "event 7: after-tool-use: expected nothing but tool_use after a tool_use, found a \"server_tool_use\" block \
           (excused by server-tool-after-tool-use)",
        ],
    );
}

#[test]
fn the_message_ends_once() {
    broken(
        &[START, TEXT_0, HI_0, STOP_0, END_TURN],
        &["event 5: ending: expected message_stop or an error, found the end"],
    );
    broken(
        &[START, TEXT_0, HI_0, STOP_0, END_TURN, END_TURN, TOOL_1, STOP_1, STOP],
        &[
            "event 6: ending: expected one message_delta, found another",
            "event 7: after-ending: expected message_stop after message_delta, found \"content_block_start\"",
            "event 8: after-ending: expected message_stop after message_delta, found \"content_block_stop\"",
            "event 9: finish-reason: expected \"tool_use\" after a tool_use block, found \"end_turn\"",
        ],
    );
    broken(
        &[START, TEXT_0, HI_0, STOP_0, END_TURN, STOP, PING, ERROR],
        &[
            "event 7: after-ending: expected nothing after the ending, found \"ping\" (excused by event-after-ending)",
            "event 8: after-ending: expected nothing after the ending, found \"error\"",
        ],
    );
}

#[test]
fn message_delta_tells_reason_and_usage() {
    broken(
        &[START, TEXT_0, HI_0, STOP_0, r#"{"type":"message_delta","delta":{}}"#, STOP],
        &[
            "event 5: ending: expected a stop_reason, found none",
            "event 5: shape: expected usage.output_tokens in message_delta, found none",
        ],
    );
}

#[test]
fn the_stop_reason_is_known_and_fits_the_calls() {
    broken(
        &[START, TEXT_0, HI_0, STOP_0, TOOL_USE, STOP],
        &["event 6: finish-reason: expected a tool_use block before \"tool_use\", found none"],
    );
    broken(
        &[START, TEXT_0, HI_0, STOP_0, &END_TURN.replace("end_turn", "stop"), STOP],
        &["event 6: finish-reason: expected a known stop_reason, found \"stop\""],
    );
}

#[test]
fn a_turn_and_its_text_blocks_hold_something() {
    broken(
        &[START, END_TURN, STOP],
        &["event 3: empty-turn: expected a block that holds something, found none"],
    );
    broken(
        &[START, TEXT_0, STOP_0, END_TURN, STOP],
        &[
            "event 3: empty-block: expected text in block 0, found none (excused by empty-text-block)",
            "event 5: empty-turn: expected a block that holds something, found none",
        ],
    );
}

#[test]
fn a_prefilled_message_is_read() {
    let start = START
        .replace("\"content\":[]", r#""content":[{"type":"tool_use","id":"t","name":"f","input":{"x":1}}]"#)
        .replace("\"stop_reason\":null", "\"stop_reason\":\"tool_use\"");
    let view = broken(
        &[&start, STOP],
        &[
            "event 1: event-order: expected message_start without content, found blocks in it \
             (excused by prefilled-message)",
            "event 2: ending: expected message_delta before message_stop, found none (excused by prefilled-message)",
        ],
    );
    assert_eq!(view.choices[0].calls[0].arguments, r#"{"x":1}"#);
}

#[test]
fn other_events_are_foreign() {
    let stream = named(&[START, r#"{"type":"message_end"}"#, TEXT_0, HI_0, STOP_0, END_TURN, STOP]);
    expect(
        WireKind::AnthropicMessages,
        &format!("{stream}data: [DONE]\n\n"),
        &[
            "event 2: unknown-event: expected an event of the format, found \"message_end\"",
            "event 8: unknown-event: expected no [DONE], found one (excused by foreign-done)",
        ],
    );
}

#[test]
fn thinking_ends_with_one_signature() {
    let think = TEXT_0.replace(r#""text","text":"""#, r#""thinking","thinking":"","signature":"""#);
    let thought = HI_0.replace(r#""text_delta","text""#, r#""thinking_delta","thinking""#);
    let signed = HI_0.replace(r#""text_delta","text""#, r#""signature_delta","signature""#);
    broken(
        &[START, &think, &signed, &thought, &signed, STOP_0, END_TURN, STOP],
        &[
            "event 4: signature: expected no thinking after its signature, found some",
            "event 5: signature: expected one signature, found another",
        ],
    );
    broken(
        &[START, &think, &thought, STOP_0, END_TURN, STOP],
        &["event 4: signature: expected a signature of the thinking in block 0, found none \
           (excused by unsigned-thinking)"],
    );
}

/// A refused turn is not sent again: only the thought that the refusal cut off may lack its signature.
#[test]
fn a_refusal_may_cut_off_the_last_thought() {
    let think = TEXT_0.replace(r#""text","text":"""#, r#""thinking","thinking":"","signature":"""#);
    let thought = HI_0.replace(r#""text_delta","text""#, r#""thinking_delta","thinking""#);
    let refused = END_TURN.replace("end_turn", "refusal");
    broken(&[START, &think, &thought, STOP_0, &refused, STOP], &[]);
    let next = |event: &str| event.replace(r#""index":0"#, r#""index":1"#);
    broken(
        &[START, &think, &thought, STOP_0, &next(&think), &next(&thought), &next(STOP_0), &refused, STOP],
        &["event 4: signature: expected a signature of the thinking in block 0, found none \
           (excused by unsigned-thinking)"],
    );
}

#[test]
fn the_input_of_a_server_tool_is_whole_too() {
    let tool = TOOL_1.replace("tool_use", "server_tool_use");
    broken(
        &[START, TEXT_0, HI_0, STOP_0, &tool, &JSON_1.replace("{}\"", "{\""), STOP_1, END_TURN, STOP],
        &["event 9: arguments: expected the input of \"f\" to be one JSON value, found {"],
    );
}
