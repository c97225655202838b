//! Anthropic, rule 28: what was judged is what every client reads. The official SDKs append blocks and take `index` as a
//! position, others go by `index`, others give input to the call that started last.

use stream_core::{Action, ErrorKind};
use stream_policies::judge::rules::{Condition, Otherwise, Rule, RulesSettings, RunBy};
use stream_policies::{Passthrough, ToolGate};

use crate::kit::anthropic::{call, delta, end, open, start, start_with, stop, text, unreadable};
use crate::kit::{named, run, whole};

/// Lets `note` run, and `shell` with `ls`.
fn ls_only() -> ToolGate {
    let rules = RulesSettings::otherwise(Otherwise::Deny)
        .allow(Rule::tools(["note"]))
        .allow(Rule::tools(["shell"]).when(Condition::at("/command").regex("ls|pwd")));
    ToolGate::new(rules.build().unwrap())
}

fn tool(index: u32, id: &str, name: &str) -> String {
    open(index, &format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#))
}

fn input(index: u32, json: &str) -> String {
    let json = serde_json::Value::from(json);
    delta(index, &format!(r#"{{"type":"input_json_delta","partial_json":{json}}}"#))
}

const RM: &str = r#"{"command":"rm -rf /"}"#;
const LS: &str = r#"{"command":"ls"}"#;

/// Rule 28: a block has the number of its position, and blocks that take turns leave one behind the other.
#[test]
fn blocks_that_start_out_of_order_leave_with_the_numbers_of_their_positions() {
    let body = start()
        + &tool(1, "t1", "note")
        + &tool(0, "t2", "shell")
        + &input(1, RM)
        + &input(0, LS)
        + &stop(1)
        + &stop(0)
        + &end("tool_use");
    let expected = start() + &call(0, "t1", "note", RM) + &call(1, "t2", "shell", LS) + &end("tool_use");
    let ran = run(ls_only, &body);
    assert_eq!(ran.out, expected);
    assert!(
        ran.edits()
            .contains(&(Action::Normalised, "expected blocks that open once, in order, found another order"))
    );
}

/// Rule 28, a proxy's quirk: every block has the number 0.
#[test]
fn blocks_that_all_have_the_number_0_leave_with_numbers_of_their_own() {
    let body = start()
        + &text(0, "ok")
        + &call(0, "t1", "shell", LS)
        + &call(0, "t2", "note", RM)
        + &end("tool_use");
    let expected = start()
        + &text(0, "ok")
        + &call(1, "t1", "shell", LS)
        + &call(2, "t2", "note", RM)
        + &end("tool_use");
    assert_eq!(run(ls_only, &body).out, expected);
    assert_eq!(run(|| Passthrough, &body).out, body);
}

/// Rule 28, a server's quirk: a block starts under the number of one that it never stopped.
#[test]
fn a_block_that_starts_in_the_place_of_another_ends_it() {
    let body =
        start() + &open(0, r#"{"type":"text","text":""}"#) + &call(0, "t1", "shell", LS) + &end("tool_use");
    let expected = start()
        + &open(0, r#"{"type":"text","text":""}"#)
        + &stop(0)
        + &call(1, "t1", "shell", LS)
        + &end("tool_use");
    assert_eq!(run(ls_only, &body).out, expected);
}

/// Rule 28: blocks in `message_start` stand before all others.
#[test]
fn a_block_behind_those_of_message_start_has_the_next_number() {
    let first = r#"{"type":"tool_use","id":"t0","name":"shell","input":{"command":"ls"}}"#;
    let body = start_with(first) + &call(0, "t1", "note", RM) + &end("tool_use");
    let expected = start_with(first) + &call(1, "t1", "note", RM) + &end("tool_use");
    assert_eq!(run(ls_only, &body).out, expected);
    // Numbers that go on from those in it are plain.
    assert_eq!(run(ls_only, &expected).out, expected);
}

/// Rule 28, an adapter's quirk: to some clients a second opening is a new message.
#[test]
fn a_message_opens_once() {
    let rest = call(0, "t1", "note", "{}") + &end("tool_use");
    let body = start() + &start() + &rest;
    assert_eq!(run(ls_only, &body).out, start() + &rest);
    let again = start_with(r#"{"type":"text","text":"x"}"#);
    let ran = run(ls_only, &(start() + &again + &rest));
    assert_eq!((ran.error, ran.out), (Some(ErrorKind::Ambiguous), start() + &unreadable()));
}

/// Rule 28: more of a block that is not the one that started last has no single meaning.
#[test]
fn more_of_a_whole_call_behind_the_start_of_another_closes_the_stream() {
    let body = start() + &tool(0, "t1", "note") + &input(0, "{}") + &tool(1, "t2", "shell") + &input(0, RM);
    let events = run(ls_only, &body);
    assert_eq!((events.error, events.view.choices[0].calls.len()), (Some(ErrorKind::Ambiguous), 0));
}

/// Rule 28: some clients go by the keys of a delta, some by its type.
#[test]
fn a_delta_has_only_what_its_type_has() {
    let start = start() + &tool(0, "t", "shell") + &input(0, LS) + &stop(0);
    let open = open(1, r#"{"type":"text","text":""}"#);
    let both = delta(1, r#"{"type":"text_delta","text":"hi","partial_json":"{}"}"#);
    let alone = delta(1, r#"{"type":"text_delta","text":"hi"}"#);
    let rest = stop(1) + &end("tool_use");
    let ran = run(ls_only, &[&start, &open, &both, &rest].map(String::as_str).concat());
    assert_eq!(ran.out, [&start, &open, &alone, &rest].map(String::as_str).concat());
    let unknown = delta(1, r#"{"type":"more_delta","partial_json":"{}"}"#);
    let events = run(ls_only, &[&start, &open, &unknown, &rest].map(String::as_str).concat());
    assert_eq!(events.error, Some(ErrorKind::Ambiguous));
}

/// Rule 28: an item has the fields its type has, in a stream and in a whole response.
#[test]
fn a_block_has_only_what_its_type_has() {
    let odd = r#"{"type":"text","text":"hi","name":"rm","input":{"command":"rm"}}"#;
    let plain = r#"{"type":"text","text":"hi"}"#;
    let rest = stop(0) + &end("end_turn");
    assert_eq!(run(ls_only, &(start() + &open(0, odd) + &rest)).out, start() + &open(0, plain) + &rest);
    let body = |block: &str| {
        format!(
            r#"{{"id":"m","type":"message","role":"assistant","model":"x","content":[{block}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        )
    };
    assert_eq!(whole(ls_only, &body(odd)).out, body(plain));
    assert_eq!(whole(|| Passthrough, &body(odd)).out, body(odd));
    // A result is no call, whatever name it has.
    for plain in [
        r#"{"type":"container_upload","file_id":"f"}"#,
        r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#,
    ] {
        let odd = plain.replacen(r#"","#, r#"","name":"rm","input":{"command":"rm"},"#, 1);
        let body_of = |block: &str| start() + &open(0, block) + &rest;
        assert_eq!(run(ls_only, &body_of(&odd)).out, body_of(plain));
        assert_eq!(run(ls_only, &body_of(plain)).out, body_of(plain));
        assert_eq!(whole(ls_only, &body(&odd)).out, body(plain));
    }
}

/// Rule 28: the official SDKs go by the `event` line, others by the type.
#[test]
fn every_event_is_named_by_its_type() {
    let block = tool(0, "t", "note");
    let misnamed = block.replace("event: content_block_start", "event: other");
    let nameless = block.replace("event: content_block_start\n", "");
    let rest = input(0, "{}") + &stop(0) + &end("tool_use");
    for odd in [misnamed, nameless] {
        assert_eq!(run(ls_only, &(start() + &odd + &rest)).out, start() + &block + &rest);
    }
    // A proxy that names no event is read in one way by those who read it at all.
    let nameless: String = (start() + &block + &rest)
        .lines()
        .filter(|line| !line.starts_with("event:"))
        .fold(String::new(), |all, line| all + line + "\n");
    assert_eq!(run(ls_only, &nameless).out, nameless);
}

/// Rule 28: input that came with the start and goes on is written in pieces, all of which were judged.
#[test]
fn input_that_is_there_and_goes_on_is_one_input() {
    let filled = open(0, r#"{"type":"tool_use","id":"t","name":"note","input":{"a":1}}"#);
    let ran = run(ls_only, &(start() + &filled + &input(0, r#"{"b":2}"#) + &stop(0) + &end("tool_use")));
    let expected = start()
        + &tool(0, "t", "note")
        + &input(0, r#"{"a":1}"#)
        + &input(0, r#"{"b":2}"#)
        + &stop(0)
        + &end("tool_use");
    assert_eq!(ran.out, expected);
    let plain = start() + &filled + &stop(0) + &end("tool_use");
    assert_eq!(run(ls_only, &plain).out, plain);
}

/// Rule 28: text of a block that never started gets a start, an end without one does not leave.
#[test]
fn what_never_started_starts_or_stays_back() {
    let orphan = delta(3, r#"{"type":"text_delta","text":"hi"}"#);
    let empty = delta(5, r#"{"type":"text_delta","x":""}"#);
    let body = start() + &orphan + &stop(3) + &stop(7) + &empty + &end("end_turn");
    let expected = start()
        + &open(0, r#"{"type":"text","text":""}"#)
        + &delta(0, r#"{"type":"text_delta","text":"hi"}"#)
        + &stop(0)
        + &end("end_turn");
    let ran = run(ls_only, &body);
    let odd = (Action::Normalised, "expected blocks that open once, in order, found another order");
    assert_eq!((ran.edits(), ran.out.as_str()), (vec![odd; 3], expected.as_str()));
}

/// Rule 28: text for the number of a thought that has stopped is a block of its own, and a record says so.
#[test]
fn text_for_the_number_of_a_stopped_thought_starts_another_block() {
    let thought = open(0, r#"{"type":"thinking","thinking":"","signature":""}"#)
        + &delta(0, r#"{"type":"thinking_delta","thinking":"hm"}"#)
        + &delta(0, r#"{"type":"signature_delta","signature":"x"}"#)
        + &stop(0);
    let said = |index| delta(index, r#"{"type":"text_delta","text":"hi"}"#);
    let body = start() + &thought + &said(0) + &end("end_turn");
    let opened = open(1, r#"{"type":"text","text":""}"#);
    let expected = start() + &thought + &opened + &said(1) + &end("end_turn");
    let ran = run(ls_only, &body);
    let odd = (Action::Normalised, "expected blocks that open once, in order, found another order");
    assert_eq!((ran.edits(), ran.out.as_str()), (vec![odd], expected.as_str()));
}

/// Rule 28, an adapter's quirk: thinking in a text block is reasoning to those who read it.
#[test]
fn thinking_in_a_text_block_leaves_as_it_came() {
    let body = start()
        + &open(0, r#"{"type":"text","text":""}"#)
        + &delta(0, r#"{"type":"thinking_delta","thinking":"hm"}"#)
        + &delta(0, r#"{"type":"text_delta","text":"hi"}"#)
        + &stop(0)
        + &end("end_turn");
    assert_eq!(run(ls_only, &body).out, body);
}

/// Rule 28: fields nobody knows are plain, and so are events and blocks of every kind in their order.
#[test]
fn harmless_shapes_leave_as_they_came() {
    let search = open(
        1,
        r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{},"caller":{"type":"direct"}}"#,
    ) + &input(1, r#"{"query":"x"}"#)
        + &stop(1);
    let result = open(2, r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#) + &stop(2);
    let ping = named(&[r#"{"type":"ping","cost":"0"}"#]);
    let thinking = open(0, r#"{"type":"thinking","thinking":"","signature":""}"#)
        + &delta(0, r#"{"type":"thinking_delta","thinking":"hm","estimated_tokens":3}"#)
        + &delta(0, r#"{"type":"signature_delta","signature":"x"}"#)
        + &stop(0);
    let body = start()
        + &ping
        + &thinking
        + &search
        + &result
        + &text(3, "ok")
        + &call(4, "t", "note", "{}")
        + &end("tool_use");
    let ran = run(ls_only, &body);
    assert_eq!((ran.edits(), ran.out.as_str()), (Vec::new(), body.as_str()));
}

/// A named call is judged whoever runs it; the provider's own tools pass where no rule is for them.
#[test]
fn a_call_that_the_provider_runs_is_judged_by_its_name() {
    let server = |index: u32, name: &str| {
        open(index, &format!(r#"{{"type":"server_tool_use","id":"s","name":"{name}","input":{{}}}}"#))
            + &input(index, r#"{"query":"x"}"#)
            + &stop(index)
    };
    let body = |name: &str| start() + &text(0, "ok") + &server(1, name) + &end("end_turn");
    let without = start() + &text(0, "ok") + &end("end_turn");
    // Some clients hand out what is none of the API's tools as a call of their own.
    assert_eq!(run(ls_only, &body("rm")).out, without);
    assert_eq!(run(ls_only, &body("web_search")).out, body("web_search"));
    let rules = |settings: RulesSettings| move || ToolGate::new(settings.build().unwrap());
    let allow = || RulesSettings::otherwise(Otherwise::Allow);
    let denied = Rule::tools(["web_search"]).because("no searches");
    assert_eq!(run(rules(allow().deny(denied.clone())), &body("web_search")).out, without);
    let by_server = denied.clone().run_by(RunBy::Server).when(Condition::at("/query").equals("x"));
    assert_eq!(run(rules(allow().deny(by_server)), &body("web_search")).out, without);
    let by_client = denied.run_by(RunBy::Client);
    assert_eq!(run(rules(allow().deny(by_client)), &body("web_search")).out, body("web_search"));
    let only = allow().server(Otherwise::Deny).allow(Rule::tools(["web_fetch"]));
    assert_eq!(run(rules(only.clone()), &body("web_search")).out, without);
    assert_eq!(run(rules(only), &body("web_fetch")).out, body("web_fetch"));
}

/// LangChain gives input to no call once another block has started, and reads what it has of the call: `/` of `/tmp`.
#[test]
fn a_block_that_starts_within_the_input_of_a_call_leaves_behind_the_call() {
    let ls = r#"{"command":"ls","path":"/tmp"}"#;
    let (first, rest) = ls.split_at(ls.len() - 5);
    let result = open(1, r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#) + &stop(1);
    for block in [text(1, "hi"), result] {
        let call = tool(0, "a", "shell") + &input(0, first);
        let end = input(0, rest) + &stop(0);
        let ran = run(ls_only, &(start() + &call + &block + &end + &self::end("tool_use")));
        assert_eq!(ran.out, start() + &call + &end + &block + &self::end("tool_use"));
        assert_eq!(ran.error, None);
    }
}

/// Rule 28: litellm assigns the input of any block to the call that started last.
#[test]
fn input_of_a_block_that_is_no_call_within_a_call_closes_the_stream() {
    let body = start()
        + &tool(0, "t1", "note")
        + &open(1, r#"{"type":"news"}"#)
        + &input(1, r#"{"a":1}"#)
        + &stop(1)
        + &stop(0)
        + &end("tool_use");
    let ran = run(ls_only, &body);
    assert_eq!((ran.out, ran.error), (start() + &unreadable(), Some(ErrorKind::Ambiguous)));
}
