use super::*;

const ROLE: &str = r#"{"role":"assistant","content":""}"#;

fn text(text: &str) -> String {
    delta(&format!("{{\"content\":{text:?}}}"))
}

fn stop_instead(parts: &mut Vec<Part>) {
    for part in parts {
        if matches!(part.delta.kind, DeltaKind::Finish(_)) {
            set_finish(part, FinishKind::Stop);
        }
    }
}

/// Rule 17: what nothing touched leaves as its original bytes, odd ones included.
#[test]
fn untouched_frames_leave_as_they_came() {
    let odd = "data:{ \"choices\" : [ {\"index\":0,\"delta\":{\"content\":\"a\"}, \"x\":1.50} ] }\r\n\r\n";
    let mut run = Run::new();
    run.keep(&delta(ROLE)).keep(odd).keep(&open_call(0, "{}")).keep(&finish("tool_calls")).keep(DONE);
    run.wrote(&[&delta(ROLE), odd, &open_call(0, "{}"), &finish("tool_calls"), DONE]);
    assert!(run.writer.ended());
}

/// Rule 17: numbers are shifted by dropped predecessors, in place.
#[test]
fn the_second_call_moves_up_when_the_first_is_dropped() {
    let mut run = Run::new();
    run.keep(&delta(ROLE)).lose(&open_call(0, "{")).lose(&more_call(0, "}"));
    run.keep(&open_call(1, "{")).keep(&more_call(1, "}")).keep(&finish("tool_calls")).keep(DONE);
    let moved = open_call(1, "{").replace("\"index\":1", "\"index\":0");
    let more = more_call(1, "}").replace("\"index\":1", "\"index\":0");
    run.wrote(&[&delta(ROLE), &moved, &more, &finish("tool_calls"), DONE]);
}

#[test]
fn only_the_dropped_one_of_two_calls_in_a_frame_is_gone() {
    let both = delta(
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{}"},"x":"f"}]}"#,
    );
    let mut run = Run::new();
    run.keep(&delta(ROLE)).with(&both, |parts| parts[0].fate = Fate::Dropped);
    let left = delta(
        r#"{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}"#,
    );
    run.wrote(&[&delta(ROLE), &left]);
}

#[test]
fn more_numbers_than_are_worth_patching_are_rebuilt() {
    let call = |index: u32, id: u32| {
        format!(r#"{{"index":{index},"id":"{id}","function":{{"name":"f","arguments":"{{}}"}}}}"#)
    };
    let many: Vec<String> = (1..=20).map(|index| call(index, index)).collect();
    let mut run = Run::new();
    run.keep(&delta(ROLE))
        .lose(&open_call(0, "{}"))
        .keep(&delta(&format!(r#"{{"tool_calls":[{}]}}"#, many.join(","))));
    let each: String =
        (1..=20).map(|id| delta(&format!(r#"{{"tool_calls":[{}]}}"#, call(id - 1, id)))).collect();
    run.wrote(&[&delta(ROLE), &each]);
}

/// Calls that share an index stay where they are: numbers never fall below the first.
#[test]
fn calls_that_share_an_index_saturate() {
    let second = open_call(0, "{}").replace("id0", "idB");
    let mut run = Run::new();
    run.lose(&open_call(0, "{}")).with(&second, |parts| parts[0].key = Some(BlockKey(50)));
    run.wrote(&[&second]);
}

/// Rules 18 and 21: a turn of which everything was dropped finishes with stop, and is not empty.
#[test]
fn a_turn_without_its_calls_gets_a_notice_and_stops() {
    let mut run = Run::new();
    run.keep(&delta(ROLE)).lose(&open_call(0, "{}")).with(&finish("tool_calls"), stop_instead).keep(DONE);
    run.wrote(&[&delta(ROLE), &text("[withheld by policy]"), &finish("stop"), DONE]);
}

/// Rule 21: a message beside a delta is no answer, and is gone with the call that it speaks of.
#[test]
fn a_turn_of_which_only_a_message_beside_the_deltas_was_kept_gets_a_notice() {
    let beside = chunk(
        r#"{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"message":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":null}"#,
    );
    let lose_the_call = |parts: &mut Vec<Part>| {
        let calls = parts.iter_mut().filter(|part| matches!(part.delta.kind, DeltaKind::Call(_)));
        calls.for_each(|call| call.fate = Fate::Dropped);
    };
    let mut run = Run::new();
    run.with(&beside, lose_the_call).with(&finish("tool_calls"), stop_instead).keep(DONE);
    run.wrote(&[&delta(r#"{"role":"assistant"}"#), &text("[withheld by policy]"), &finish("stop"), DONE]);
}

#[test]
fn text_that_left_needs_no_notice() {
    let mut run = Run::new();
    run.keep(&delta(ROLE)).keep(&text("a")).lose(&open_call(0, "{}"));
    run.with(&finish("tool_calls"), stop_instead).keep(DONE);
    run.wrote(&[&delta(ROLE), &text("a"), &finish("stop"), DONE]);
}

/// Rule 9: strict clients skip a line that starts with a space, and with it the role.
#[test]
fn a_role_on_a_line_that_is_no_event_is_said_again_where_text_is_inserted() {
    let stray = format!(" {}", delta(ROLE));
    let mut run = Run::new();
    // The engine reads it leniently: the parts are those of the event.
    let parts = decode(&delta(ROLE)).into_iter().map(part).collect();
    run.writer.frame(Outgoing { frame: Some(frame(&stray)), parts }, &mut run.out);
    run.made(vec![inserted_text("Hm.")]).keep(&text("a"));
    run.wrote(&[&stray, &delta(r#"{"role":"assistant","content":"Hm."}"#), &text("a")]);
}

#[test]
fn text_in_the_finishing_frame_needs_no_notice() {
    let last = chunk(r#"{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}"#);
    let mut run = Run::new();
    run.keep(&delta(ROLE)).lose(&text("x")).keep(&last);
    run.wrote(&[&delta(ROLE), &last]);
}

#[test]
fn a_terminal_marker_without_a_finish_is_preceded_by_the_notice() {
    let mut run = Run::new();
    run.lose(&text("x")).keep(DONE);
    run.wrote(&[&delta(r#"{"role":"assistant","content":"[withheld by policy]"}"#), DONE]);
}

#[test]
fn no_notice_is_written_where_none_is_wanted() {
    let mut run = Run::new();
    run.writer = OpenAiChat.writer(&WriterOptions { empty_notice: None, ..WriterOptions::default() });
    run.keep(&delta(ROLE)).lose(&text("x")).keep(&finish("stop"));
    run.wrote(&[&delta(ROLE), &finish("stop")]);
}

/// Rule 18: the repeated finish and the provider's native word are corrected too.
#[test]
fn an_edited_finish_changes_only_its_words() {
    let native = chunk(
        r#"{"index":0,"delta":{},"finish_reason":"tool_calls","native_finish_reason":"tool_use","x":1.0}"#,
    );
    let null = chunk(r#"{"index":0,"delta":{},"finish_reason":"tool_calls","native_finish_reason":null}"#);
    let mut run = Run::new();
    run.keep(&text("a")).with(&native, stop_instead).with(&null, stop_instead);
    let expected =
        chunk(r#"{"index":0,"delta":{},"finish_reason":"stop","native_finish_reason":"stop","x":1.0}"#);
    run.wrote(&[&text("a"), &expected, &null.replace("tool_calls", "stop")]);
}

#[test]
fn a_replaced_call_leaves_whole_in_its_first_part() {
    let mut run = Run::new();
    run.keep(&delta(ROLE)).with(&open_call(0, "{\"a\""), |parts| set_arguments(&mut parts[0], "{}"));
    run.lose(&more_call(0, ":1}")).keep(&open_call(1, "{}")).keep(&finish("tool_calls"));
    run.wrote(&[&delta(ROLE), &open_call(0, "{}"), &open_call(1, "{}"), &finish("tool_calls")]);
}

#[test]
fn an_edited_fragment_is_only_arguments() {
    let mut run = Run::new();
    run.keep(&open_call(0, "{")).with(&more_call(0, "x"), |parts| set_arguments(&mut parts[0], "y"));
    run.wrote(&[&open_call(0, "{"), &more_call(0, "y")]);
}

#[test]
fn legacy_calls_are_dropped_and_replaced() {
    let legacy = delta(r#"{"function_call":{"name":"f","arguments":"{"}}"#);
    let mut run = Run::new();
    run.keep(&delta(ROLE)).with(&legacy, |parts| set_arguments(&mut parts[0], "{}")).lose(&legacy);
    run.wrote(&[&delta(ROLE), &delta(r#"{"function_call":{"name":"f","arguments":"{}"}}"#)]);
}

/// Rule 17: a rebuilt frame has its envelope, and no field that could hold a copy.
#[test]
fn edited_text_leaves_without_copies_of_the_old() {
    let full = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"obfuscation\":\"secret\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"secret\",\"annotations\":[\"secret\"]},\"logprobs\":{\"content\":[{\"token\":\"secret\"}]},\"finish_reason\":null}],\"usage\":{\"total_tokens\":3.0}}\r\n\r\n";
    let mut run = Run::new();
    run.with(full, |parts| set_text(&mut parts[0], "***"));
    let edited = delta(r#"{"role":"assistant","content":"***"}"#)
        .replace("]}\n", "],\"usage\":{\"total_tokens\":3.0}}\n");
    run.wrote(&[&edited]);
}

#[test]
fn reasoning_keeps_its_field_and_loses_its_twins() {
    let twins = delta(
        r#"{"reasoning":"secret","reasoning_details":[{"type":"reasoning.text","text":"secret","signature":"s","x":"secret"}],"reasoning_opaque":"o"}"#,
    );
    let mut run = Run::new();
    run.keep(&delta(ROLE)).with(&twins, |parts| set_text(&mut parts[0], "***")).lose(&twins);
    let signature = delta(
        r#"{"reasoning_details":[{"type":"reasoning.text","text":"","signature":"s"}],"reasoning_opaque":"o"}"#,
    );
    run.wrote(&[&delta(ROLE), &delta(r#"{"reasoning":"***"}"#), &signature, &signature]);
}

#[test]
fn parts_of_a_content_list_are_decided_one_by_one() {
    let list = delta(
        r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"b"},{"type":"image","url":"u"}]}"#,
    );
    let mut run = Run::new();
    run.keep(&delta(ROLE)).with(&list, |parts| {
        set_text(&mut parts[0], "A");
        parts[1].fate = Fate::Dropped;
    });
    run.wrote(&[
        &delta(ROLE),
        &delta(r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"A"}]}]}"#),
        &delta(r#"{"content":[{"type":"image","url":"u"}]}"#),
    ]);
}

#[test]
fn sound_and_transcript_part_ways() {
    let audio = delta(r#"{"audio":{"id":"a","transcript":"Hi","data":"AA=="}}"#);
    let mut run = Run::new();
    run.keep(&delta(ROLE)).with(&audio, |parts| parts[1].fate = Fate::Dropped);
    run.with(&audio, |parts| parts[0].fate = Fate::Dropped);
    run.wrote(&[
        &delta(ROLE),
        &delta(r#"{"audio":{"id":"a","transcript":"Hi"}}"#),
        &delta(r#"{"audio":{"id":"a","data":"AA=="}}"#),
    ]);
}

/// Rule 17: role, finish reason and usage survive the loss of what they share a frame with.
#[test]
fn role_finish_and_usage_survive_the_loss_of_the_payload() {
    let usage = |sse: &str| sse.replace("]}\n", "],\"usage\":{\"total_tokens\":3}}\n");
    let all =
        usage(&chunk(r#"{"index":0,"delta":{"role":"assistant","content":"x"},"finish_reason":"length"}"#));
    let mut run = Run::new();
    run.writer = OpenAiChat.writer(&WriterOptions { empty_notice: None, ..WriterOptions::default() });
    run.lose(&delta(r#"{"role":"assistant","content":"x"}"#))
        .lose(&all)
        .lose(&usage(&text("x")))
        .lose(&text("x"));
    run.wrote(&[&delta(r#"{"role":"assistant"}"#), &usage(&finish("length")), &usage(&chunk(""))]);
}

#[test]
fn a_frame_of_which_nothing_survives_is_not_written() {
    let mut run = Run::new();
    run.keep(&delta(ROLE)).lose(&text("x")).with(": comment\n\n", drop_all);
    run.wrote(&[&delta(ROLE)]);
}

/// Rule 19: a cumulative message goes as soon as it says what the client did not get.
#[test]
fn copies_of_an_edited_choice_are_gone_from_later_frames() {
    let with_copy = |content: &str, message: &str| {
        chunk(&format!(
            r#"{{"index":0,"delta":{{"content":"{content}"}},"message":{{"role":"assistant","content":"{message}"}},"finish_reason":null}}"#
        ))
    };
    let mut run = Run::new();
    run.keep(&with_copy("a", "a")).lose(&with_copy("b", "ab")).keep(&with_copy("c", "abc"));
    let repeated = chunk(r#"{"index":0,"delta":{"content":""},"text":"abc","finish_reason":"stop"}"#);
    run.keep(&repeated).keep(&with_copy("", "abc"));
    run.wrote(&[&with_copy("a", "a"), &text("c"), &finish("stop")]);
}

#[test]
fn a_dropped_copy_takes_nothing_else_with_it() {
    let sse =
        chunk(r#"{"index":0,"delta":{"content":"b"},"message":{"content":"zzz"},"finish_reason":null}"#);
    let mut run = Run::new();
    run.keep(&delta(ROLE)).with(&sse, |parts| parts[1].fate = Fate::Dropped);
    run.wrote(&[&delta(ROLE), &text("b")]);
}

#[test]
fn logprobs_of_an_edited_choice_are_gone_and_those_of_others_stay() {
    let logprobs = |choice: u32| {
        chunk(&format!(
            r#"{{"index":{choice},"delta":{{"content":"a"}},"logprobs":{{"content":[{{"token":"a"}}]}},"finish_reason":null}}"#
        ))
    };
    let mut run = Run::new();
    run.keep(&delta(ROLE)).lose(&text("x")).keep(&logprobs(0)).keep(&logprobs(1));
    run.wrote(&[&delta(ROLE), &text("a"), &logprobs(1)]);
}

/// An empty continuation is no part, and must not open a ghost of a dropped call.
#[test]
fn empty_continuations_of_an_edited_choice_are_gone() {
    let empty = delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":""}}]}"#);
    let mut run = Run::new();
    run.keep(&delta(ROLE)).keep(&empty).lose(&open_call(0, "{}")).keep(&empty).keep(&open_call(1, "{}"));
    let moved = open_call(1, "{}").replace("\"index\":1", "\"index\":0");
    run.wrote(&[&delta(ROLE), &empty, &moved]);
}

/// Rule 21: text may stand before, between and after calls.
#[test]
fn inserted_text_takes_its_place() {
    let mut run = Run::new();
    run.made(vec![inserted_text("first")]).keep(&delta(ROLE)).keep(&text("a"));
    run.made(vec![inserted_text("between")]).keep(&open_call(0, "{}"));
    run.with(&finish("tool_calls"), |parts| parts.insert(0, inserted_text("after")));
    let made = "data: {\"id\":\"chatcmpl-blocked\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"first\"},\"finish_reason\":null}]}\n\n";
    run.wrote(&[
        made,
        &delta(ROLE),
        &text("a"),
        &text("between"),
        &open_call(0, "{}"),
        &text("after"),
        &finish("tool_calls"),
    ]);
}

/// Rule 17: calls after an inserted one move down.
#[test]
fn an_inserted_call_takes_the_next_index() {
    let new = |index: u32| {
        delta(&format!(
            r#"{{"tool_calls":[{{"index":{index},"id":"new","type":"function","function":{{"name":"g","arguments":"{{}}"}}}}]}}"#
        ))
    };
    let mut run = Run::new();
    run.keep(&delta(ROLE)).keep(&open_call(0, "{}")).made(vec![inserted_call("g", "{}")]);
    run.keep(&open_call(1, "{")).keep(&more_call(1, "}"));
    run.wrote(&[
        &delta(ROLE),
        &open_call(0, "{}"),
        &new(1),
        &open_call(1, "{").replace("\"index\":1", "\"index\":2"),
        &more_call(1, "}").replace("\"index\":1", "\"index\":2"),
    ]);
    let mut run = Run::new();
    run.keep(&delta(ROLE))
        .lose(&open_call(0, "{}"))
        .made(vec![inserted_call("g", "{}")])
        .keep(&open_call(1, "{}"));
    run.wrote(&[&delta(ROLE), &new(0), &open_call(1, "{}")]);
}

#[test]
fn an_inserted_call_turns_stop_into_tool_calls() {
    let mut run = Run::new();
    run.keep(&text("a")).with(&finish("stop"), |parts| {
        set_finish(&mut parts[0], FinishKind::ToolCalls);
        parts.insert(0, inserted_call("g", "{}"));
    });
    let call = delta(
        r#"{"tool_calls":[{"index":0,"id":"new","type":"function","function":{"name":"g","arguments":"{}"}}]}"#,
    );
    run.wrote(&[&text("a"), &call, &finish("tool_calls")]);
}

#[test]
fn calls_without_an_index_get_none() {
    let call = |id: &str| {
        delta(&format!(r#"{{"tool_calls":[{{"id":"{id}","function":{{"name":"f","arguments":"{{}}"}}}}]}}"#))
    };
    let mut run = Run::new();
    run.keep(&delta(ROLE)).lose(&call("a")).with(&call("b"), |parts| parts[0].key = Some(BlockKey(7)));
    run.wrote(&[&delta(ROLE), &call("b")]);
}

#[test]
fn choices_are_edited_apart() {
    let both = chunk(
        r#"{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null},{"index":1,"delta":{"role":"assistant","content":"b"},"finish_reason":null}"#,
    );
    let mut run = Run::new();
    run.with(&both, |parts| parts[0].fate = Fate::Dropped);
    run.wrote(&[
        &chunk(r#"{"index":1,"delta":{"role":"assistant","content":"b"},"finish_reason":null}"#),
        &chunk(r#"{"index":0,"delta":{"role":"assistant"},"finish_reason":null}"#),
    ]);
}

/// Rule 19: what the provider generated before it failed goes without the error.
#[test]
fn an_error_loses_its_failed_generation() {
    let sse = "event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":null,\"failed_generation\":\"secret\",\"x\":\"secret\"}}\n\n";
    let mut run = Run::new();
    run.keep(&delta(ROLE)).lose(sse).end(&refuse("no"));
    run.wrote(&[&delta(ROLE), "event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":null}}\n\n"]);
    assert!(run.writer.ended());
}

#[test]
fn data_over_several_lines_is_patched_as_one_event() {
    let sse = "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n";
    let mut run = Run::new();
    run.keep(&text("a")).with(sse, stop_instead);
    run.wrote(&[&text("a"), &sse.replace("tool_calls", "stop").replace("\ndata: ", " ")]);
}

/// Rule 23.
#[test]
fn a_keep_alive_is_a_comment_at_any_time() {
    let mut run = Run::new();
    assert_eq!(run.writer.keep_alive(), ": keep-alive\n\n");
    run.keep(&text("a"));
    assert_eq!(run.writer.keep_alive(), ": keep-alive\n\n");
}
