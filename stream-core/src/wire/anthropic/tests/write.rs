//! Edits within a stream.

use super::*;

#[test]
fn an_untouched_stream_leaves_as_it_came() {
    let events = [
        message_start(),
        ping(),
        start_thinking(0),
        thinking(0, "hm"),
        signature(0),
        stop(0),
        start_text(1),
        text(1, "Hi"),
        stop(1),
        start_call(2, "a"),
        input(2, ""),
        input(2, "{}"),
        stop(2),
        finish("tool_use"),
        message_stop(),
        event("data", "[DONE]"),
    ]
    .concat();
    let client = Client::new().send(&events);
    client.got(&events);
    assert!(client.writer.ended());
}

#[test]
fn an_untouched_frame_shares_its_bytes() {
    let frame = frames(&text(0, "Hi")).remove(0);
    let parts = parts(&frame);
    let raw = frame.raw().clone();
    let mut out = Vec::new();
    let mut writer = Anthropic.writer(&WriterOptions::default());
    writer.frame(Outgoing { frame: Some(frame), parts }, &mut out);
    assert_eq!(out.len(), 1);
    assert_eq!(out[0].as_ptr(), raw.as_ptr());
}

#[test]
fn comments_and_blank_lines_leave_or_do_not() {
    let comment = Part { delta: Delta::stream(DeltaKind::Comment), key: None, fate: Fate::Kept };
    let send = |fate| {
        let mut client = Client::new();
        let frame = frames(": hello\n\n").remove(0);
        let parts = vec![Part { fate, ..comment.clone() }];
        client.write(Outgoing { frame: Some(frame), parts });
        client
    };
    send(Fate::Kept).got(": hello\n\n");
    send(Fate::Dropped).got("");
}

/// Rule 9.
#[test]
fn a_dropped_line_that_is_no_field_does_not_leave_with_its_event() {
    let stray = text(0, "Hi").replacen('\n', "\n data: secret\n", 1);
    let frame = frames(&stray).remove(0);
    assert!(frame.is_stray());
    let mut client = Client::new().send(start_text(0));
    let line = DeltaKind::Opaque { kind: "line".into(), runs: crate::delta::Runs::Unknown, bytes: 12 };
    let mut parts = parts(&frame);
    parts.insert(0, Part { delta: Delta::new(0, Slot::None, line), key: None, fate: Fate::Dropped });
    client.write(Outgoing { frame: Some(frame), parts });
    client.got(start_text(0) + &text(0, "Hi"));
}

#[test]
fn lines_that_are_no_event_stay_as_they_came_beside_an_insertion() {
    let stray = DeltaKind::Opaque { kind: "stray".into(), runs: crate::delta::Runs::Unknown, bytes: 3 };
    Client::new()
        .send(start_text(0))
        .send_as("odd\n\n", |parts| {
            parts.push(kept(Delta::new(0, Slot::None, stray.clone())));
            parts.push(inserted_text("Hi"));
        })
        .got(start_text(0) + "odd\n\n" + &anew(&text(0, "Hi")));
}

/// Rule 28: the official SDKs pass over events without an `event` line. Of a stream in which some have one, they would read a part.
#[test]
fn what_is_made_in_a_stream_without_event_lines_has_none_but_for_an_error() {
    let unnamed = |events: String| -> String {
        events.split_inclusive('\n').filter(|line| !line.starts_with("event: ")).collect()
    };
    Client::new()
        .send(unnamed(message_start()))
        .insert(inserted_text("Hi"))
        .send_as(unnamed(start_text(0) + &text(0, "x") + &stop(0)), |parts| edit_text(parts, "y"))
        .end(EndingKind::Error)
        .got(
            unnamed(message_start() + &made_text(0, "Hi") + &start_text(1) + &anew(&text(1, "y")) + &stop(1))
                + &error(),
        );
}

#[test]
fn dropping_the_first_of_two_calls_moves_the_second_up() {
    Client::new()
        .send(message_start() + &start_text(0) + &text(0, "Hi") + &stop(0))
        .drop(start_call(1, "a") + &input(1, "{'x':1}") + &stop(1))
        .send(start_call(2, "b") + &input(2, "{'y':2}") + &stop(2) + &finish("tool_use") + &message_stop())
        .got(
            message_start()
                + &start_text(0)
                + &text(0, "Hi")
                + &stop(0)
                + &start_call(1, "b")
                + &input(1, "{'y':2}")
                + &stop(1)
                + &finish("tool_use")
                + &message_stop(),
        );
}

#[test]
fn dropping_all_calls_after_text_leaves_the_text_and_the_corrected_finish() {
    Client::new()
        .send(message_start() + &start_text(0) + &text(0, "Hi") + &stop(0))
        .drop(start_call(1, "a") + &input(1, "{}") + &stop(1))
        .send_as(finish("tool_use"), |parts| edit_finish(parts, FinishKind::Stop))
        .send(message_stop())
        .got(
            message_start()
                + &start_text(0)
                + &text(0, "Hi")
                + &stop(0)
                + &finish("end_turn")
                + &message_stop(),
        );
}

/// Rule 21.
#[test]
fn a_message_of_which_everything_was_dropped_says_so() {
    Client::new()
        .send(message_start())
        .drop(start_call(0, "a") + &input(0, "{}") + &stop(0))
        .send_as(finish("tool_use"), |parts| edit_finish(parts, FinishKind::Stop))
        .send(message_stop())
        .got(message_start() + &made_text(0, "[withheld by policy]") + &finish("end_turn") + &message_stop());
}

/// Rule 21: reasoning does not count as an answer.
#[test]
fn the_notice_follows_reasoning_and_comes_before_a_terminal_marker_without_finish() {
    let thought = start_thinking(0) + &thinking(0, "hm") + &signature(0) + &stop(0);
    Client::new()
        .send(message_start() + &thought)
        .drop(start_text(1) + &text(1, "secret") + &stop(1))
        .send(message_stop())
        .got(message_start() + &thought + &made_text(1, "[withheld by policy]") + &message_stop());
}

#[test]
fn nothing_is_noticed_where_nothing_was_dropped_or_no_notice_is_wanted() {
    let empty = message_start() + &finish("end_turn") + &message_stop();
    Client::new().send(&empty).got(&empty);

    let silent = Anthropic.writer(&WriterOptions { empty_notice: None, ..WriterOptions::default() });
    Client { writer: silent, got: Vec::new() }
        .send(message_start())
        .drop(start_text(0) + &text(0, "secret") + &stop(0))
        .send(finish("end_turn") + &message_stop())
        .got(&empty);
}

#[test]
fn a_replaced_call_is_a_new_start_and_one_delta() {
    let block = r#"{"type":"tool_use","id":"toolu_a","name":"a","input":{},"caller":{"type":"direct"},"copy":"secret"}"#;
    let new = r#"{"type":"tool_use","id":"toolu_a","name":"b","input":{},"caller":{"type":"direct"}}"#;
    Client::new()
        .send(message_start())
        .send_as(start(0, block), |parts| edit_call(parts, "b", r#"{"x":0}"#))
        .send(input(0, ""))
        .drop(input(0, "{'x':") + &input(0, "1}"))
        .send(stop(0) + &finish("tool_use"))
        .got(
            message_start()
                + &anew(&(start(0, new) + &input(0, "{'x':0}")))
                + &input(0, "")
                + &stop(0)
                + &finish("tool_use"),
        );
}

#[test]
fn a_call_that_came_filled_is_replaced_filled() {
    let block = |name, input| {
        start(0, &format!(r#"{{"type":"tool_use","id":"toolu_a","name":"{name}","input":{input}}}"#))
    };
    let edited = |arguments: &'static str| {
        Client::new().send_as(block("a", r#"{"x":1}"#), move |parts| edit_call(parts, "b", arguments))
    };
    edited(r#"{"x":0}"#).got(anew(&block("b", r#"{"x":0}"#)));
    // What is no object cannot be an input; as a delta it is what the client's own parser makes of it.
    edited("[1]").got(anew(&(block("b", "{}") + &input(0, "[1]"))));
    edited("").got(anew(&block("b", "{}")));
}

#[test]
fn later_arguments_can_be_edited_in_calls_and_in_blocks_the_server_runs() {
    let search = r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#;
    for begin in [start_call(0, "a"), start(0, search)] {
        Client::new()
            .send(&begin)
            .send_as(input(0, "{'x':1}"), |parts| edit_call(parts, "a", r#"{"x":0}"#))
            .send_as(input(0, " "), |parts| edit_call(parts, "a", ""))
            .send(stop(0))
            .got(begin + &anew(&input(0, "{'x':0}")) + &stop(0));
    }
}

#[test]
fn edited_text_is_written_anew_without_unknown_fields() {
    let came = delta(0, r#"{"type":"text_delta","text":"my secret","tokens":["my"," secret"]}"#);
    Client::new()
        .send(start_text(0))
        .send_as(&came, |parts| edit_text(parts, "my \"\n"))
        .send_as(&came, |parts| edit_text(parts, ""))
        .send(stop(0))
        .got(start_text(0) + &anew(&text(0, r#"my \"\n"#)) + &stop(0));
}

#[test]
fn text_in_a_start_can_be_edited_or_dropped_and_loses_its_citations() {
    let came = start(0, r#"{"type":"text","text":"secret","citations":[{"cited_text":"secret"}]}"#);
    Client::new()
        .send_as(&came, |parts| {
            edit_text(parts, "***");
            parts.last_mut().unwrap().fate = Fate::Dropped;
        })
        .got(anew(&start(0, r#"{"type":"text","text":"***"}"#)));
    Client::new().send_as(&came, |parts| set(&mut parts[1..], Fate::Dropped)).got(anew(&start_text(0)));
    Client::new().drop(&came).got("");
}

#[test]
fn a_citation_of_touched_text_does_not_leave() {
    let citation = delta(0, r#"{"type":"citations_delta","citation":{"cited_text":"secret"}}"#);
    Client::new()
        .send(start_text(0))
        .send_as(text(0, "secret"), |parts| edit_text(parts, "***"))
        .drop(&citation)
        .send(stop(0))
        .got(start_text(0) + &anew(&text(0, "***")) + &stop(0));
}

/// Rule 22.
#[test]
fn thinking_loses_its_text_and_keeps_its_signature() {
    Client::new()
        .send(start_thinking(0))
        .drop(thinking(0, "secret"))
        .send(signature(0) + &stop(0))
        .got(start_thinking(0) + &signature(0) + &stop(0));
    Client::new()
        .send_as(
            start(0, r#"{"type":"thinking","thinking":"secret","signature":"c2ln","x":"secret"}"#),
            |parts| {
                set(&mut parts[1..], Fate::Dropped);
            },
        )
        .got(anew(&start(0, r#"{"type":"thinking","thinking":"","signature":"c2ln"}"#)));
    Client::new()
        .send(start_thinking(0))
        .send_as(thinking(0, "secret"), |parts| edit_text(parts, "***"))
        .got(start_thinking(0) + &anew(&thinking(0, "***")));
}

#[test]
fn what_is_left_of_a_dropped_block_does_not_leave() {
    Client::new()
        .send(message_start())
        .drop(start_call(0, "a"))
        // No delta of payload, so it comes kept; without a key it is known by its number.
        .send(input(0, ""))
        .send_as(input(0, ""), |parts| parts[0].key = None)
        .send(ping() + &stop(0))
        .got(message_start() + &ping());
}

#[test]
fn opaque_blocks_can_be_dropped_whole_or_in_part() {
    let begin = start(0, r#"{"type":"compaction","content":null}"#);
    let more = delta(0, r#"{"type":"compaction_delta","content":"secret"}"#);
    Client::new().send(begin.clone() + &more + &stop(0)).got(begin.clone() + &more + &stop(0));
    Client::new().send(&begin).drop(&more).send(stop(0)).got(begin.clone() + &stop(0));
    Client::new().drop(&begin).send(&more).send(stop(0)).got("");
}

#[test]
fn text_is_inserted_before_between_and_after_blocks() {
    Client::new()
        .insert(inserted_text("before"))
        .send(message_start() + &start_thinking(0))
        .insert(inserted_text("waits"))
        .send(stop(0) + &start_text(1) + &text(1, "Hi"))
        .insert(inserted_text(" inside"))
        .send(stop(1))
        .send_as(finish("end_turn"), |parts| parts.push(inserted_text("after")))
        .insert(inserted_text("too late"))
        .send(message_stop())
        .got(
            message_start()
                + &made_text(0, "before")
                + &start_thinking(1)
                + &stop(1)
                + &made_text(2, "waits")
                + &start_text(3)
                + &text(3, "Hi")
                + &anew(&text(3, " inside"))
                + &stop(3)
                + &made_text(4, "after")
                + &finish("end_turn")
                + &message_stop(),
        );
}

#[test]
fn inserted_parts_of_a_frame_keep_their_side_of_it() {
    Client::new()
        .send(start_text(0))
        .send_as(text(0, "b"), |parts| {
            parts.insert(0, inserted_text("a"));
            parts.push(inserted_text("c"));
        })
        .send_as(stop(0), |parts| {
            parts.insert(0, inserted_text("d"));
            parts.push(inserted_text("e"));
        })
        .got(
            start_text(0)
                + &anew(&text(0, "a"))
                + &text(0, "b")
                + &anew(&text(0, "c"))
                + &anew(&text(0, "d"))
                + &stop(0)
                + &made_text(1, "e"),
        );
}

/// Rule 21.
/// Rule 20: the message has its end.
#[test]
fn behind_the_terminal_marker_nothing_is_made() {
    Client::new()
        .send(message_start() + &message_stop())
        .insert(inserted_text("Hi"))
        .drop(start_text(0) + &text(0, "secret") + &stop(0))
        .send(message_stop())
        .got(message_start() + &message_stop() + &message_stop());
}

#[test]
fn no_text_is_inserted_after_a_call() {
    let call = start_call(0, "a") + &input(0, "{}") + &stop(0);
    Client::new()
        .send(message_start() + &call)
        .insert(inserted_text("no place"))
        .send(finish("tool_use"))
        .got(message_start() + &call + &finish("tool_use"));
}

#[test]
fn a_call_is_inserted_between_blocks() {
    let made = anew(&(start_call(1, "new") + &input(1, "{'q':1}") + &stop(1)));
    Client::new()
        .send(message_start() + &start_text(0))
        .insert(inserted_call("new", r#"{"q":1}"#))
        .insert(inserted(DeltaKind::Stop))
        .send(text(0, "Hi") + &stop(0) + &start_call(1, "b") + &stop(1))
        .send_as(
            event(
                "message_delta",
                r#"{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"X"},"extra":1 }"#,
            ),
            |parts| edit_finish(parts, FinishKind::ToolCalls),
        )
        .got(
            message_start()
                + &start_text(0)
                + &text(0, "Hi")
                + &stop(0)
                + &made
                + &start_call(2, "b")
                + &stop(2)
                + &event(
                    "message_delta",
                    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"extra":1 }"#,
                ),
        );
}

#[test]
fn an_inserted_call_without_id_gets_one() {
    let mut part = inserted_call("new", "");
    if let DeltaKind::Call(call) = &mut part.delta.kind {
        call.id = None;
    }
    let block = r#"{"type":"tool_use","id":"toolu_inserted_0","name":"new","input":{}}"#;
    Client::new()
        .send(message_start())
        .insert(part)
        .got(message_start() + &anew(&(start(0, block) + &stop(0))));
}

#[test]
fn keep_alives_are_comments_until_the_message_opens() {
    let client = Client::new();
    assert_eq!(client.writer.keep_alive(), ": keep-alive\n\n");
    let client = client.send(message_start());
    assert_eq!(client.writer.keep_alive(), "event: ping\ndata: {\"type\": \"ping\"}\n\n");
}
