//! Responses, rule 28: what was judged is what every client reads. Items are found by position, by `output_index`, by
//! `item_id`, and in what the last event lists.

use stream_core::{Action, ErrorKind};
use stream_policies::judge::rules::{Condition, Otherwise, Rule, RulesSettings};
use stream_policies::{Passthrough, ToolGate};

use crate::kit::responses::{added, completed, created, done, unreadable};
use crate::kit::{gate, named, run, whole};

/// Lets `ls` and `note` run.
fn ls_only() -> ToolGate {
    ToolGate::new(
        RulesSettings::otherwise(Otherwise::Deny).allow(Rule::tools(["ls", "note"])).build().unwrap(),
    )
}

fn call(id: &str, name: &str, arguments: &str) -> String {
    let arguments = serde_json::Value::from(arguments);
    format!(
        r#"{{"type":"function_call","id":"{id}","call_id":"c_{id}","name":"{name}","arguments":{arguments}}}"#
    )
}

fn arguments(index: u32, id: &str, delta: &str) -> String {
    let delta = serde_json::Value::from(delta);
    named(&[&format!(
        r#"{{"type":"response.function_call_arguments.delta","item_id":"{id}","output_index":{index},"delta":{delta}}}"#
    )])
}

/// A call with all its events.
fn whole_call(index: u32, id: &str, name: &str, json: &str) -> String {
    added(index, &call(id, name, "")) + &arguments(index, id, json) + &done(index, &call(id, name, json))
}

/// Rule 28: an item has the index of its position, in every copy.
#[test]
fn items_that_open_out_of_order_leave_with_the_indices_of_their_positions() {
    let (a, b) = (call("a", "ls", "{}"), call("b", "note", "{}"));
    let body = created()
        + &whole_call(1, "b", "note", "{}")
        + &whole_call(0, "a", "ls", "{}")
        + &completed(&format!("{a},{b}"));
    let expected = created()
        + &whole_call(0, "b", "note", "{}")
        + &whole_call(1, "a", "ls", "{}")
        + &completed(&format!("{b},{a}"));
    assert_eq!(run(ls_only, &body).out, expected);
    assert_eq!(run(|| Passthrough, &body).out, body);
}

/// Rule 28: an item opens once.
#[test]
fn an_item_that_opens_again_closes_the_stream() {
    let first = created() + &whole_call(0, "a", "ls", "{}");
    let events = run(ls_only, &(first.clone() + &added(0, &call("b", "note", "")) + &completed("")));
    assert_eq!((events.error, events.out), (Some(ErrorKind::Ambiguous), first + &unreadable()));
}

/// Rule 28: an id belongs to one item; one provider gives every event another one, which belongs to none. The arguments of
/// a call leave with the id that the call opened with, where those who go by ids find them.
#[test]
fn an_id_of_another_item_closes_the_stream_and_an_id_of_none_is_that_of_the_item() {
    let open = created() + &added(0, &call("a", "ls", "")) + &added(1, &call("b", "note", ""));
    let events = run(ls_only, &(open.clone() + &arguments(0, "b", "{}") + &completed("")));
    assert_eq!(events.error, Some(ErrorKind::Ambiguous));
    // An id that was of one item cannot be the id of the next.
    let taken = created()
        + &added(0, &call("a", "ls", ""))
        + &arguments(0, "x", "{}")
        + &added(1, &call("x", "ls", ""));
    assert_eq!(run(ls_only, &taken).error, Some(ErrorKind::Ambiguous));
    let rotated = created()
        + &added(0, &call("a", "ls", ""))
        + &arguments(0, "x1", "{}")
        + &done(0, &call("x2", "ls", "{}").replace("c_x2", "c_a"))
        + &completed(&call("x3", "ls", "{}").replace("c_x3", "c_a"));
    let expected = rotated.replace(&arguments(0, "x1", "{}"), &arguments(0, "a", "{}"));
    assert_eq!(run(ls_only, &rotated).out, expected);
}

/// Rules 19 and 28: a copy is of the kind that the item was.
#[test]
fn a_call_that_is_done_as_another_kind_closes_the_stream() {
    let open = created() + &added(0, &call("a", "ls", "")) + &arguments(0, "a", r#"{"command":["rm"]}"#);
    let shell = r#"{"type":"local_shell_call","id":"a","call_id":"c_a","action":{"command":["rm"]}}"#;
    let custom = r#"{"type":"custom_tool_call","id":"a","call_id":"c_a","name":"ls","input":"{\"command\":[\"rm\"]}"}"#;
    for other in [shell, custom] {
        let events = run(ls_only, &(open.clone() + &done(0, other) + &completed(other)));
        assert_eq!((events.error, events.view.choices[0].calls.len()), (Some(ErrorKind::Ambiguous), 0));
        let events = run(ls_only, &(open.clone() + &completed(other)));
        assert_eq!(events.error, Some(ErrorKind::Ambiguous));
    }
    // Nor does an event of another kind belong to it.
    let input = named(&[
        r#"{"type":"response.custom_tool_call_input.delta","item_id":"a","output_index":0,"delta":"rm"}"#,
    ]);
    assert_eq!(run(ls_only, &(open + &input + &completed(""))).error, Some(ErrorKind::Ambiguous));
}

/// Rules 7 and 28: clients run the API's own tools by their type, whatever name stands beside it.
#[test]
fn a_tool_of_the_api_is_judged_by_its_type() {
    let shell = r#"{"type":"local_shell_call","id":"x","call_id":"c","name":"ls","action":{"type":"exec","command":["rm"]}}"#;
    let ran = run(ls_only, &(created() + &added(0, shell) + &done(0, shell) + &completed(shell)));
    assert_eq!(ran.view.choices[0].calls, []);
    assert_eq!(ran.out.find("rm"), None);
    let plain = shell.replace(r#""name":"ls","#, "");
    let body = |item: &str| {
        format!(r#"{{"id":"r","object":"response","status":"completed","model":"m","output":[{item}]}}"#)
    };
    let allowed = || {
        ToolGate::new(
            RulesSettings::otherwise(Otherwise::Deny)
                .allow(Rule::tools(["local_shell_call"]))
                .build()
                .unwrap(),
        )
    };
    assert_eq!(whole(ls_only, &body(shell)).view.choices[0].calls, []);
    assert_eq!(whole(allowed, &body(shell)).out, body(&plain));
    let stream = |item: &str| created() + &added(0, item) + &done(0, item) + &completed(item);
    assert_eq!(run(allowed, &stream(shell)).out, stream(&plain));
}

/// Rule 28: a part has one kind, opens once, in order.
#[test]
fn parts_open_in_order_with_one_kind() {
    let message =
        |content: &str| format!(r#"{{"type":"message","id":"m","role":"assistant","content":[{content}]}}"#);
    let open = created() + &added(0, &message(""));
    let part = |index: u32, part: &str| {
        named(&[&format!(
            r#"{{"type":"response.content_part.added","item_id":"m","output_index":0,"content_index":{index},"part":{part}}}"#
        )])
    };
    let empty = r#"{"type":"output_text","text":"","annotations":[]}"#;
    let refusal = named(&[
        r#"{"type":"response.refusal.delta","item_id":"m","output_index":0,"content_index":0,"delta":"no"}"#,
    ]);
    for rest in [part(1, empty), part(0, empty) + &part(0, empty), part(0, empty) + &refusal] {
        assert_eq!(run(ls_only, &(open.clone() + &rest + &completed(""))).error, Some(ErrorKind::Ambiguous));
    }
    // What belongs to another type of part does not leave.
    let both = r#"{"type":"output_text","text":"","refusal":"rm","annotations":[]}"#;
    let delta = named(&[
        r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"hi"}"#,
    ]);
    let said = message(r#"{"type":"output_text","text":"hi","annotations":[]}"#);
    let rest = delta + &done(0, &said) + &completed(&said);
    let ran = run(ls_only, &(open.clone() + &part(0, both) + &rest));
    assert_eq!(ran.out, open + &part(0, empty) + &rest);
}

/// Rule 28: numbers that do not grow are written anew.
#[test]
fn sequence_numbers_grow() {
    let numbered = |numbers: [u32; 5]| {
        let events = [
            created(),
            added(0, &call("a", "ls", "")),
            arguments(0, "a", "{}"),
            done(0, &call("a", "ls", "{}")),
            completed(&call("a", "ls", "{}")),
        ];
        let number = |(event, number): (&String, u32)| {
            let at = event.find(r#"","#).unwrap() + 2;
            format!("{}\"sequence_number\":{number},{}", &event[..at], &event[at..])
        };
        events.iter().zip(numbers).map(number).collect::<String>()
    };
    let plain = numbered([0, 1, 2, 3, 4]);
    assert_eq!(run(ls_only, &plain).out, plain);
    assert_eq!(run(ls_only, &numbered([0, 1, 1, 2, 3])).out, plain);
}

/// Rule 28: an opening lists nothing.
#[test]
fn an_opening_with_items_closes_the_stream() {
    let opening = created().replace(r#""output":[]"#, &format!(r#""output":[{}]"#, call("a", "ls", "{}")));
    let events = run(ls_only, &(opening + &completed("")));
    assert_eq!(
        (events.error, events.view.choices.iter().map(|it| it.calls.len()).sum()),
        (Some(ErrorKind::Ambiguous), 0)
    );
}

/// A named call is judged whoever runs it.
#[test]
fn a_call_that_the_provider_runs_is_judged_by_its_name_or_its_type() {
    let mcp = r#"{"type":"mcp_call","id":"x","server_label":"s","name":"rm","arguments":"{\"p\":1}","output":"ok"}"#;
    let search =
        r#"{"type":"web_search_call","id":"x","status":"completed","action":{"type":"search","query":"q"}}"#;
    for (item, name) in [(mcp, "rm"), (search, "web_search_call")] {
        let body = created() + &added(0, item) + &done(0, item) + &completed(item);
        let deny = move || {
            let rules = RulesSettings::otherwise(Otherwise::Allow).deny(Rule::tools([name]).because("no"));
            ToolGate::new(rules.build().unwrap())
        };
        let ran = run(deny, &body);
        assert_eq!(ran.edits(), [(Action::Dropped, "no")], "{name}");
        assert_eq!(ran.out.find(r#""id":"x""#), None, "{name}");
        // The request asked for it: no rule is for it, and it passes.
        assert_eq!(run(ls_only, &body).out, body, "{name}");
        let whole_body =
            format!(r#"{{"id":"r","object":"response","status":"completed","model":"m","output":[{item}]}}"#);
        assert_eq!(whole(deny, &whole_body).edits(), [(Action::Dropped, "no")], "{name}");
    }
}

/// A call of the provider's that is first seen in the last event, or that says something else there, is judged by what it is.
#[test]
fn a_call_that_the_provider_ran_is_judged_where_only_the_last_event_tells_of_it() {
    let mcp = |name: &str, arguments: &str| {
        let arguments = serde_json::Value::from(arguments);
        format!(
            r#"{{"type":"mcp_call","id":"x","server_label":"s","name":"{name}","arguments":{arguments},"output":"ok"}}"#
        )
    };
    let deny = || {
        let rule = Rule::tools(["rm"]).because("no");
        let by_arguments = Rule::tools(["*"]).when(Condition::at("/p").regex("evil")).because("no");
        let rules = RulesSettings::otherwise(Otherwise::Allow).deny(rule).deny(by_arguments);
        ToolGate::new(rules.build().unwrap())
    };
    for item in [mcp("rm", "{}"), mcp("ls", r#"{"p":"evil"}"#)] {
        let ran = run(deny, &(created() + &completed(&item)));
        assert_eq!(ran.edits(), [(Action::Dropped, "no")], "{item}");
        assert_eq!(ran.out.find(r#""id":"x""#), None, "{item}");
        // No rule is for it: what the request asked for passes.
        let body = created() + &completed(&mcp("ls", "{}"));
        assert_eq!(run(deny, &body).out, body);
    }
    let ls = mcp("ls", r#"{"p":1}"#);
    let body = |last: &str| created() + &added(0, &mcp("ls", "")) + &done(0, &ls) + &completed(last);
    for last in [mcp("rm", r#"{"p":1}"#), mcp("ls", r#"{"p":"evil"}"#)] {
        let ran = run(deny, &body(&last));
        assert!(
            matches!(ran.error, Some(ErrorKind::Ambiguous | ErrorKind::CopyDisagrees)),
            "{:?}",
            ran.error
        );
        assert_eq!((ran.out.find("rm"), ran.out.find("evil")), (None, None), "{last}");
    }
    let spaced = body(&mcp("ls", r#"{ "p": 1 }"#));
    assert_eq!(run(deny, &spaced).out, spaced);
}

/// Commands and diffs that events write are those that the item says when it is done.
#[test]
fn what_events_write_of_an_action_is_what_is_judged() {
    let patch = |diff: &str| {
        format!(
            r#"{{"id":"x","type":"apply_patch_call","call_id":"c","status":"completed","operation":{{"type":"update_file","path":"p","diff":"{diff}"}}}}"#
        )
    };
    let shell = |commands: &str| {
        format!(
            r#"{{"id":"x","type":"shell_call","call_id":"c","status":"completed","action":{{"commands":[{commands}],"timeout_ms":null}}}}"#
        )
    };
    let writes = |kind: &str, rest: &str| {
        named(&[&format!(r#"{{"type":"response.{kind}","item_id":"x","output_index":0,{rest}}}"#)])
    };
    let diff =
        |piece: &str| writes("apply_patch_call_operation_diff.delta", &format!(r#""delta":"{piece}""#));
    let diff_done =
        |diff: &str| writes("apply_patch_call_operation_diff.done", &format!(r#""diff":"{diff}""#));
    let command = |at: u32, piece: &str| {
        writes("shell_call_command.delta", &format!(r#""command_index":{at},"delta":"{piece}""#))
    };
    let command_opens = writes("shell_call_command.added", r#""command_index":0,"command":"""#);
    let command_done =
        |said: &str| writes("shell_call_command.done", &format!(r#""command_index":0,"command":"{said}""#));
    let gate = || ToolGate::new(RulesSettings::otherwise(Otherwise::Allow).build().unwrap());
    let whole = |opening: &str, middle: &str, item: &str| {
        created() + &added(0, opening) + middle + &done(0, item) + &completed(item)
    };
    for body in [
        whole(&patch(""), &(diff("o") + &diff("k") + &diff_done("ok")), &patch("ok")),
        whole(&patch(""), &diff_done("ok"), &patch("ok")),
        whole(&patch(""), "", &patch("ok")),
        whole(
            &shell(""),
            &(command_opens.clone() + &command(0, "l") + &command(0, "s") + &command_done("ls")),
            &shell(r#""ls""#),
        ),
        whole(&shell(""), &(command(0, "ls") + &command(1, "id")), &shell(r#""ls","id""#)),
    ] {
        assert_eq!(run(gate, &body).out, body);
    }
    for body in [
        whole(&patch(""), &(diff("ev") + &diff("il")), &patch("ok")),
        whole(&patch(""), &(diff("ok") + &diff_done("evil")), &patch("ok")),
        whole(&patch(""), &diff_done("evil"), &patch("ok")),
        whole(&shell(""), &(command(0, "ev") + &command(0, "il")), &shell(r#""ls""#)),
        whole(&shell(""), &(command_opens + &command_done("evil")), &shell(r#""ls""#)),
        whole(&shell(""), &(command(0, "ls") + &command(1, "evil")), &shell(r#""ls""#)),
        created() + &added(0, &shell("")) + &command(0, "evil") + &completed(""),
    ] {
        let ran = run(gate, &body);
        assert_eq!(ran.error, Some(ErrorKind::Ambiguous), "{body}");
        assert_eq!((ran.out.find("evil"), ran.out.find(r#""ev"#)), (None, None), "{body}");
    }
}

/// LangChain puts the strings of both together, and programs that run a call whenever it is done run it twice.
#[test]
fn an_item_that_is_done_twice_closes_the_stream() {
    let gate = || ToolGate::new(RulesSettings::otherwise(Otherwise::Allow).build().unwrap());
    let search = |query: &str| {
        format!(
            r#"{{"id":"i0","type":"web_search_call","status":"completed","action":{{"type":"search","query":"{query}"}}}}"#
        )
    };
    let message = r#"{"id":"i0","type":"message","status":"completed","role":"assistant","content":[]}"#;
    for (one, two) in [(search("SECRET-"), search("1234")), (message.to_owned(), message.to_owned())] {
        let body = created() + &added(0, &one) + &done(0, &one) + &done(0, &two) + &completed(&one);
        let ran = run(gate, &body);
        assert_eq!(ran.error, Some(ErrorKind::Ambiguous), "{body}");
        assert_eq!(ran.out.matches(r#""response.output_item.done""#).count(), 1, "{}", ran.out);
    }
}

/// Rule 28: a client that runs items as they are done reads the copy, whatever its type.
#[test]
fn an_item_that_is_done_as_a_type_nobody_knows_closes_the_stream() {
    for kind in ["tool_call", "", "Function_Call", "image_generation_call", "function_call_output"] {
        let open = created() + &added(0, &call("a", "ls", "")) + &arguments(0, "a", "{}");
        let other = call("a", "rm", "{}").replacen("function_call", kind, 1);
        let ran = run(ls_only, &(open + &done(0, &other) + &completed(&other)));
        assert_eq!(ran.error, Some(ErrorKind::Ambiguous), "{kind}");
        assert_eq!(ran.out, created() + &unreadable(), "{kind}");
    }
}

/// pydantic-ai names the call of a server's tool by the id of the item and `-call`, and adds arguments to the call of that name.
#[test]
fn an_id_that_is_made_from_the_id_of_another_item_closes_the_stream() {
    let ls = call("x-call", "ls", "");
    let more = r#"{"type":"response.mcp_call_arguments.delta","item_id":"x","output_index":1,"delta":"{\"p\":\"evil\"}"}"#;
    let ran = run(ls_only, &(created() + &added(0, &ls) + &done(0, &ls) + &named(&[more]) + &completed(&ls)));
    assert_eq!(ran.error, Some(ErrorKind::Ambiguous));
    assert_eq!(ran.out, created() + &added(0, &ls) + &done(0, &ls) + &unreadable());
    let first = added(0, r#"{"type":"mcp_call","id":"x","name":"ls","arguments":"","server_label":"s"}"#);
    let ran = run(ls_only, &(created() + &first + &added(1, &ls)));
    assert_eq!(ran.error, Some(ErrorKind::Ambiguous));
}

/// The AI SDK finds the call that code belongs to by its index.
#[test]
fn code_of_a_servers_tool_at_the_index_of_a_call_closes_the_stream() {
    for event in ["code_interpreter_call_code.delta", "mcp_call_arguments.delta"] {
        let code = format!(r#"{{"type":"response.{event}","item_id":"a","output_index":0,"delta":"rm"}}"#);
        let ran = run(ls_only, &(created() + &added(0, &call("a", "ls", "")) + &named(&[&code])));
        assert_eq!((ran.out, ran.error), (created() + &unreadable(), Some(ErrorKind::Ambiguous)), "{event}");
    }
}

/// An event that no client knows takes no number: what opens behind it does so as if it had not been there.
#[test]
fn an_unknown_event_before_an_item_leaves_as_it_came() {
    let news = named(&[r#"{"type":"response.news","item_id":"a","output_index":0,"text":"soon"}"#]);
    let a = call("a", "ls", "{}");
    let body = created() + &news + &whole_call(0, "a", "ls", "{}") + &completed(&a);
    let ran = run(gate, &body);
    assert_eq!((ran.out, ran.error), (body, None));
    // It cannot be of two items.
    let body = created() + &whole_call(0, "a", "ls", "{}");
    let other = news.replace(r#""output_index":0"#, r#""output_index":1"#);
    let ran = run(gate, &(body.clone() + &other + &completed(&a)));
    assert_eq!((ran.out, ran.error), (body + &unreadable(), Some(ErrorKind::Ambiguous)));
}

/// Some clients would give them to another call.
#[test]
fn arguments_for_a_tool_of_the_provider_whose_item_never_opened_close_the_stream() {
    for event in ["mcp_call_arguments.delta", "code_interpreter_call_code.delta", "web_search_call.searching"]
    {
        let event = named(&[&format!(
            r#"{{"type":"response.{event}","item_id":"a","output_index":0,"delta":"rm"}}"#
        )]);
        let ran = run(ls_only, &(created() + &event + &completed("")));
        assert_eq!((ran.out, ran.error), (created() + &unreadable(), Some(ErrorKind::Ambiguous)), "{event}");
    }
}

/// Rule 28: some clients take it for the first item, others fail; where text was inserted before, the first item is another.
#[test]
fn text_and_copies_of_no_item_close_the_stream() {
    for event in [
        r#"{"type":"response.output_text.delta","delta":"hi"}"#,
        r#"{"type":"response.output_text.done","text":"hi"}"#,
        r#"{"type":"response.function_call_arguments.done","arguments":"{}"}"#,
    ] {
        let ran = run(gate, &(created() + &named(&[event]) + &completed("")));
        assert_eq!((ran.out, ran.error), (created() + &unreadable(), Some(ErrorKind::Ambiguous)), "{event}");
    }
}

/// Rules 8 and 28: some clients stop at the first response that is complete, others take the last.
#[test]
fn a_response_that_ends_again_closes_the_stream() {
    let body = created() + &whole_call(0, "a", "ls", "{}") + &completed(&call("a", "ls", "{}"));
    let ran = run(gate, &(body.clone() + &completed("")));
    assert_eq!((ran.out, ran.error), (body, Some(ErrorKind::AfterTerminal)));
}

/// Rule 28: an item whose type is the name of a function is listed as a call of that function at the end.
#[test]
fn a_call_in_the_place_of_an_item_whose_type_is_its_name_closes_the_stream() {
    // What the provider runs has left before; an item of an unknown type is held.
    for (kind, left) in [("rm", false), ("web_search_call", true)] {
        let opened = added(0, &format!(r#"{{"id":"a","type":"{kind}"}}"#));
        let ran = run(ls_only, &(created() + &opened + &completed(&call("a", kind, "{}"))));
        let left = if left { opened } else { String::new() };
        let expected = created() + &left + &unreadable();
        assert_eq!((ran.out, ran.error), (expected, Some(ErrorKind::CopyDisagrees)), "{kind}");
    }
}
