//! Frames that are written oddly.

use stream_core::{Action, ErrorKind};

use crate::kit::chat::{DONE, UNREADABLE, call, delta, end, entry, text};
use crate::kit::{Ran, data, gate, run, whole};
use crate::secrets_text::redact;

const DROPPED: &[(Action, &str)] = &[(Action::Dropped, "no shells")];

/// What was decided, beside lines that were written anew (rule 28).
fn decided(ran: &Ran) -> Vec<(Action, &str)> {
    ran.edits().into_iter().filter(|(action, _)| *action != Action::Normalised).collect()
}

fn body() -> String {
    text("ok") + &call(0, "a", "bash", "{}") + &end("tool_calls")
}

/// A call is dropped whatever ends the lines of its events.
#[test]
fn line_ends_of_any_kind_hide_nothing() {
    for (what, end) in [("crlf", "\r\n"), ("cr", "\r")] {
        let ran = run(gate, &body().replace('\n', end));
        assert_eq!(decided(&ran), DROPPED, "{what}");
        assert_eq!(ran.out.matches("bash").count(), 0, "{what}: {}", ran.out);
        let ran = run(redact, &(text("a sec") + &text("ret b") + &end_of_text()).replace('\n', end));
        assert_eq!(ran.view.choices[0].content, "a [redacted] b", "{what}");
    }
}

fn end_of_text() -> String {
    end("stop")
}

#[test]
fn a_byte_order_mark_hides_nothing() {
    let ran = run(gate, &format!("\u{feff}{}", body()));
    assert_eq!(decided(&ran), DROPPED);
    assert_eq!(ran.out.matches("bash").count(), 0, "{}", ran.out);
}

#[test]
fn an_event_on_several_data_lines_is_one() {
    let json = format!(
        r#"{{"id":"c","choices":[{{"index":0,"delta":{{"tool_calls":[{}]}},"finish_reason":null}}]}}"#,
        entry(0, "a", "bash", "{}")
    );
    let split = format!("data: {}\n\n", json.replace(r#""choices""#, "\ndata: \"choices\""));
    let ran = run(gate, &(text("ok") + &split + &end("tool_calls")));
    assert_eq!(ran.edits(), DROPPED);
    assert_eq!(ran.out, text("ok") + &end("stop"));
}

#[test]
fn fields_of_an_event_in_any_order_or_without_a_space_hide_nothing() {
    let call = call(0, "a", "bash", "{}");
    let json = call.trim_start_matches("data: ").trim_end();
    for event in [
        format!("data:{json}\n\n"),
        format!("id: 1\ndata: {json}\nretry: 5\n\n"),
        format!(": hi\ndata: {json}\n\n"),
        format!("event: message\ndata: {json}\n\n"),
    ] {
        let ran = run(gate, &(text("ok") + &event + &end("tool_calls")));
        assert_eq!(ran.edits(), DROPPED, "{event}");
        assert_eq!(ran.out.matches("bash").count(), 0, "{}", ran.out);
    }
}

#[test]
fn lines_that_only_lenient_clients_read_hide_nothing() {
    let call = call(0, "a", "bash", "{}");
    let json = call.trim_start_matches("data: ").trim_end();
    for line in [
        format!(" data: {json}\n\n"),
        format!("{json}\n\n"),
        format!("Data: {json}\n\n"),
        format!("data : {json}\n\n"),
    ] {
        let ran = run(gate, &(text("ok") + &line + &end("tool_calls")));
        assert_eq!(ran.out.matches("bash").count(), 0, "{line}: {}", ran.out);
    }
}

#[test]
fn a_call_in_a_comment_is_dropped_or_harmless() {
    // No client reads comments: it leaves as it came.
    let comment = ": {\"choices\":[]}\n\n";
    assert_eq!(run(gate, &(text("ok") + comment + &end("stop"))).out, text("ok") + comment + &end("stop"));
}

#[test]
fn an_event_that_does_not_end_is_read_as_far_as_it_goes() {
    let tail = call(0, "a", "bash", "{}");
    for cut in
        [tail.trim_end().to_owned(), tail[..tail.len() - 4].to_owned(), format!("{}\n", tail.trim_end())]
    {
        let ran = run(gate, &(text("ok") + &cut));
        assert_eq!(ran.out.matches("bash").count(), 0, "{}", ran.out);
    }
}

#[test]
fn a_huge_frame_hides_nothing() {
    let filler = "x".repeat(300_000);
    let huge = data(&format!(
        r#"{{"id":"c","filler":"{filler}","choices":[{{"index":0,"delta":{{"content":"a secret b","tool_calls":[{}]}},"finish_reason":null}}]}}"#,
        entry(0, "a", "bash", "{}")
    ));
    let log = |body: String| {
        stream_testkit::ChunkLog::from_chunks("huge", [(std::time::Duration::ZERO, bytes::Bytes::from(body))])
    };
    let body = text("ok") + &huge + &end("tool_calls");
    let gated = crate::kit::ran(&stream_testkit::Replay::new(log(body.clone())).policy(gate).run());
    assert_eq!(gated.edits(), DROPPED);
    assert_eq!(gated.out.matches("bash").count(), 0);
    let clean = crate::kit::ran(&stream_testkit::Replay::new(log(body)).policy(redact).run());
    assert_eq!(clean.out.matches("secret").count(), 0);
    // One above the limit closes the stream.
    let config = stream_core::Config::default().limits(stream_core::Limits::default().frame(100_000));
    let over = stream_testkit::Replay::new(log(text("ok") + &huge)).config(config).policy(gate).run();
    let over = crate::kit::ran(&over);
    assert_eq!(over.error, Some(ErrorKind::FrameTooLarge));
    assert_eq!(over.out.matches("bash").count(), 0);
}

#[test]
fn a_very_deep_frame_closes_the_stream_or_leaves_without_a_call() {
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for frame in [
        data(&format!(
            r#"{{"id":"c","x":{deep},"choices":[{{"index":0,"delta":{{"tool_calls":[{}]}}}}]}}"#,
            entry(0, "a", "bash", "{}")
        )),
        delta(&format!(r#"{{"tool_calls":{deep}}}"#)),
        delta(&format!(r#"{{"content":{deep}}}"#)),
    ] {
        let ran = run(gate, &(text("ok") + &frame + &end("tool_calls")));
        assert_eq!(ran.out.matches("bash").count(), 0, "{}", ran.out);
    }
}

#[test]
fn nulls_and_lists_where_objects_are_expected_hide_nothing() {
    let bash = entry(0, "a", "bash", "{}");
    for frame in [
        data(&format!(r#"[{{"id":"c","choices":[{{"index":0,"delta":{{"tool_calls":[{bash}]}}}}]}}]"#)),
        data(&format!(r#"{{"id":"c","choices":{{"index":0,"delta":{{"tool_calls":[{bash}]}}}}}}"#)),
        data(&format!(r#"{{"id":"c","choices":[{{"index":0,"delta":[{{"tool_calls":[{bash}]}}]}}]}}"#)),
        data(&format!(r#"{{"id":"c","choices":[null,{{"index":0,"delta":{{"tool_calls":[{bash}]}}}}]}}"#)),
        data(&format!(r#"{{"id":"c","choices":[{{"index":"0","delta":{{"tool_calls":[{bash}]}}}}]}}"#)),
        data(&format!(r#"{{"id":"c","choices":[{{"index":-1,"delta":{{"tool_calls":[{bash}]}}}}]}}"#)),
        data(&format!(r#"{{"id":"c","choices":[{{"delta":{{"tool_calls":[{bash}]}}}}]}}"#)),
    ] {
        let ran = run(gate, &(text("ok") + &frame + &end("tool_calls")));
        assert_eq!(ran.out.matches("bash").count(), 0, "{frame}: {}", ran.out);
    }
}

#[test]
fn keys_almost_like_known_ones_close_the_stream() {
    let bash = entry(0, "a", "bash", "{}");
    for delta_json in [
        format!(r#"{{"Tool_Calls":[{bash}]}}"#),
        format!(r#"{{"toolCalls":[{bash}]}}"#),
        format!(r#"{{"tool_calls":null,"tool-calls":[{bash}]}}"#),
        // Go's parser takes a long s for an s.
        format!(r#"{{"tool_callſ":[{bash}]}}"#),
        format!(r#"{{"tool_call\u017f":[{bash}]}}"#),
    ] {
        let ran = run(gate, &(text("ok") + &delta(&delta_json) + &end("tool_calls")));
        assert_eq!(
            (ran.error, ran.out),
            (Some(ErrorKind::Malformed), text("ok") + UNREADABLE),
            "{delta_json}"
        );
    }
}

#[test]
fn fields_of_a_delta_outside_of_one_are_read_by_nobody() {
    // They leave as they came: every client looks for calls in a delta, or in a message.
    let bash = entry(0, "a", "bash", "{}");
    for frame in [
        data(&format!(r#"{{"id":"c","choices":[{{"index":0,"tool_calls":[{bash}],"delta":{{}}}}]}}"#)),
        data(&format!(r#"{{"id":"c","choices":[],"tool_calls":[{bash}]}}"#)),
        data(&format!(r#"{{"id":"c","choices":[],"delta":{{"tool_calls":[{bash}]}}}}"#)),
    ] {
        let body = text("ok") + &frame + &end("stop");
        let ran = run(gate, &body);
        assert_eq!((ran.view.choices[0].calls.len(), ran.out), (0, body));
    }
}

/// Rule 28: fields nobody knows are plain, and a policy that takes text out searches their strings.
#[test]
fn unknown_fields_at_the_top_leave_as_they_came_but_for_what_is_found_in_them() {
    let body = |said: &str| {
        data(&format!(
            r#"{{"id":"c","x_note":"{said}","choices":[{{"index":0,"delta":{{"content":"ok"}},"finish_reason":null}}]}}"#
        )) + &end("stop")
    };
    assert_eq!(run(redact, &body("a note")).out, body("a note"));
    assert_eq!(run(redact, &body("a secret")).out, body("a [redacted]"));
}

#[test]
fn frames_after_the_end_leave_only_if_nothing_is_said_in_them() {
    let usage =
        data(r#"{"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#);
    let ran = run(redact, &(text("ok") + &end("stop") + &text("secret")));
    assert_eq!((ran.error, ran.out), (Some(ErrorKind::AfterTerminal), text("ok") + &end("stop")));
    let ran = run(redact, &(text("ok") + &end("stop") + DONE + &usage));
    assert_eq!(ran.out.matches("secret").count(), 0);
}

#[test]
fn a_whole_response_behind_white_space_or_a_mark_is_still_one() {
    let body = r#"{"id":"c","object":"chat.completion","model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"ok","tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    for before in ["", " \r\n\t", "\u{feff}"] {
        let ran = whole(gate, &format!("{before}{body}\n"));
        assert_eq!(ran.out.matches("bash").count(), 0, "{before:?}: {}", ran.out);
    }
}

/// Where the format is not named, a document that is an answer of two APIs has no single meaning.
#[test]
fn a_document_of_two_formats_closes_the_stream() {
    let gemini = r#""candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"bash","args":{}}}]},"index":0}]"#;
    for other in [
        r#""type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}"#,
        r#""type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"usage":{}}"#,
        r#""object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]"#,
    ] {
        for frame in [format!("{{{other},{gemini}}}"), format!("{{{gemini},{other}}}")] {
            let ran = run(gate, &data(&frame));
            assert_eq!((ran.error, ran.out.find("bash")), (Some(ErrorKind::Ambiguous), None), "{frame}");
        }
    }
    for other in [
        r#""object":"response","status":"completed","output":[]"#,
        r#""type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"a"}],"usage":{}"#,
        r#""object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]"#,
    ] {
        for body in [format!("{{{other},{gemini}}}"), format!("{{{gemini},{other}}}")] {
            let ran = whole(gate, &body);
            assert_eq!((ran.error, ran.out.find("bash")), (Some(ErrorKind::Ambiguous), None), "{body}");
        }
    }
}

/// Where no host says which API the client speaks, no later frame speaks to the clients of another, be it in escapes.
#[test]
fn frames_of_another_format_behind_those_of_the_first_close_the_stream() {
    let chat = r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]"#;
    let ping = r#"{"type":"ping""#;
    let start = r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"usage":{}}}"#;
    let created = r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#;
    let gemini = r#"{"candidates":[]"#;
    let parts =
        r#"[{"content":{"role":"model","parts":[{"functionCall":{"name":"bash","args":{}}}]},"index":0}]"#;
    let choices = r#"[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"bash","arguments":"{}"}}]}}]"#;
    let block = r#""index":0,"content_block":{"type":"tool_use","id":"t","name":"bash","input":{}}"#;
    let item =
        r#""output_index":0,"item":{"type":"function_call","call_id":"c","name":"bash","arguments":"{}"}"#;
    for (first, second) in [
        (format!("{chat}}}"), format!(r#"{chat},"candidates":{parts}}}"#)),
        (format!("{chat}}}"), format!(r#"{chat},"\u0063andidates":{parts}}}"#)),
        (format!("{chat}}}"), format!(r#"{{"candidates":{parts}}}"#)),
        (format!("{chat}}}"), format!(r#"{chat},"type":"content_block_start",{block}}}"#)),
        (format!("{chat}}}"), format!(r#"{chat},"type":"response.output_item.done",{item}}}"#)),
        (format!("{gemini}}}"), format!(r#"{gemini},"choices":{choices}}}"#)),
        (format!("{gemini}}}"), format!(r#"{gemini},"type":"response.output_item.done",{item}}}"#)),
        (start.to_owned(), format!(r#"{ping},"choices":{choices}}}"#)),
        (created.to_owned(), format!(r#"{ping},"choices":{choices}}}"#)),
    ] {
        let ran = run(gate, &(data(&first) + &data(&second)));
        let closes = matches!(ran.error, Some(ErrorKind::Ambiguous | ErrorKind::WrongFormat));
        assert_eq!((closes, ran.out.find("bash")), (true, None), "{second}");
    }
    let body = format!(
        r#"{{"object":"chat.completion","choices":[{{"index":0,"message":{{"content":"a"}}}}],"\u0063andidates":{parts}}}"#
    );
    let ran = whole(gate, &body);
    assert_eq!((ran.error, ran.out.find("bash")), (Some(ErrorKind::Ambiguous), None), "{body}");
}

/// JavaScript takes this key for the prototype of an object where members are copied by assignment: what stands there is read as
/// if it stood in the object.
#[test]
fn a_prototype_is_no_place_for_a_call() {
    let call = entry(0, "c1", "bash", "{}");
    let proto = |key: &str, inner: &str| format!(r#"{{"content":"a","{key}":{inner}}}"#);
    for key in ["__proto__", r"\u005f_proto\u005f_"] {
        for frame in [
            delta(&proto(key, &format!(r#"{{"tool_calls":[{call}]}}"#))),
            data(&format!(
                r#"{{"choices":[],"{key}":{{"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}}}"#
            )),
            delta(&format!(
                r#"{{"tool_calls":[{{"index":0,"id":"c1","type":"function","{key}":{{"function":{{"name":"bash","arguments":"{{}}"}}}}}}]}}"#
            )),
            data(&format!(
                r#"{{"candidates":[{{"index":0,"content":{{"role":"model","parts":[{{"text":"a","{key}":{{"functionCall":{{"name":"bash","args":{{}}}}}}}}]}}}}]}}"#
            )),
            data(&format!(
                r#"{{"type":"message_start","message":{{"id":"m","type":"message","role":"assistant","model":"x","content":[],"usage":{{}},"{key}":{{"content":[{{"type":"tool_use","id":"t","name":"bash","input":{{}}}}]}}}}}}"#
            )),
            data(&format!(
                r#"{{"type":"response.completed","response":{{"id":"r","object":"response","status":"completed","output":[],"{key}":{{"output":[{{"type":"function_call","id":"f","call_id":"c","name":"bash","arguments":"{{}}"}}]}}}}}}"#
            )),
        ] {
            let ran = run(gate, &frame);
            assert_eq!((ran.error, ran.out.find("bash")), (Some(ErrorKind::Malformed), None), "{frame}");
        }
    }
}
