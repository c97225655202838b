use super::*;

fn body(message: &str, finish: &str) -> String {
    format!(
        "{{\"id\":\"c1\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"message\":{message},\"finish_reason\":\"{finish}\"}}],\"usage\":{{\"total_tokens\":3.0}}}}"
    )
}

fn calls(items: &[&str]) -> String {
    format!("\"tool_calls\":[{}]", items.join(","))
}

fn call(name: &str, arguments: &str) -> String {
    format!(
        "{{\"id\":\"id-{name}\",\"type\":\"function\",\"function\":{{\"name\":\"{name}\",\"arguments\":{arguments:?}}}}}"
    )
}

/// The body with its parts edited; calls are told apart by their order.
fn write(body: &str, ending: Option<&Ending>, edit: impl FnOnce(&mut Vec<Part>)) -> String {
    let mut decoded = Decoded::new();
    OpenAiChat.decode_whole(body.as_bytes(), &mut decoded).unwrap();
    let mut parts: Vec<Part> = decoded.deltas.into_iter().map(part).collect();
    for (key, part) in (0..).zip(&mut parts) {
        part.key = Some(BlockKey(key));
    }
    edit(&mut parts);
    let frame = Frame::whole(Bytes::copy_from_slice(body.as_bytes()));
    let mut writer = OpenAiChat.writer(&WriterOptions::default());
    let written = writer.whole(Outgoing { frame: Some(frame), parts }, ending);
    assert!(writer.ended());
    String::from_utf8(written.to_vec()).unwrap()
}

fn stop_instead(parts: &mut [Part]) {
    for part in parts {
        if matches!(part.delta.kind, DeltaKind::Finish(_)) {
            set_finish(part, FinishKind::Stop);
        }
    }
}

/// Rule 24.
#[test]
fn an_untouched_body_leaves_as_it_came() {
    let body = format!(" {} \n", body(r#"{"role":"assistant","content":"a","x":[1.0]}"#, "stop"));
    assert_eq!(write(&body, None, |_| {}), body);
}

#[test]
fn the_first_of_two_calls_is_dropped() {
    let two = calls(&[&call("f", "{}"), &call("g", "{\"a\":1}")]);
    let one = calls(&[&call("g", "{\"a\":1}")]);
    let message = |calls: &str| format!(r#"{{"role":"assistant","content":null,{calls}}}"#);
    assert_eq!(
        write(&body(&message(&two), "tool_calls"), None, |parts| parts[0].fate = Fate::Dropped),
        body(&message(&one), "tool_calls")
    );
}

#[test]
fn sent_numbers_of_later_calls_are_shifted() {
    let numbered =
        |index: u32, name: &str| call(name, "{}").replacen('{', &format!("{{\"index\":{index},"), 1);
    let message = |calls: &str| format!(r#"{{"role":"assistant","content":null,{calls}}}"#);
    assert_eq!(
        write(
            &body(&message(&calls(&[&numbered(0, "f"), &numbered(1, "g")])), "tool_calls"),
            None,
            |parts| {
                parts[0].fate = Fate::Dropped;
            }
        ),
        body(&message(&calls(&[&numbered(0, "g")])), "tool_calls")
    );
}

#[test]
fn a_response_without_its_calls_gets_a_notice_and_stops() {
    let message = format!(r#"{{"role":"assistant","content":null,{}}}"#, calls(&[&call("f", "{}")]));
    assert_eq!(
        write(&body(&message, "tool_calls"), None, |parts| {
            drop_payload(parts);
            stop_instead(parts);
        }),
        body(r#"{"role":"assistant","content":"[withheld by policy]"}"#, "stop")
    );
}

#[test]
fn arguments_are_replaced() {
    let message = |arguments: &str| {
        format!(r#"{{"role":"assistant","content":null,{}}}"#, calls(&[&call("f", arguments)]))
    };
    assert_eq!(
        write(&body(&message("{\"a\":1}"), "tool_calls"), None, |parts| set_arguments(&mut parts[0], "{}")),
        body(&message("{}"), "tool_calls")
    );
}

#[test]
fn text_is_edited_without_its_copies() {
    let raw =
        body(r#"{"role":"assistant","content":"secret","annotations":["secret"],"refusal":null}"#, "stop")
            .replace(
                "\"finish_reason\"",
                "\"logprobs\":{\"content\":[{\"token\":\"secret\"}]},\"finish_reason\"",
            )
            .replace("\"usage\"", "\"citations\":[\"secret\"],\"usage\"");
    assert_eq!(
        write(&raw, None, |parts| set_text(&mut parts[0], "***")),
        body(r#"{"role":"assistant","content":"***","refusal":null}"#, "stop")
    );
}

#[test]
fn text_is_dropped_beside_a_call() {
    let call = calls(&[&call("f", "{}")]);
    assert_eq!(
        write(
            &body(&format!(r#"{{"role":"assistant","content":"x",{call}}}"#), "tool_calls"),
            None,
            |parts| {
                parts[0].fate = Fate::Dropped;
            }
        ),
        body(&format!(r#"{{"role":"assistant","content":null,{call}}}"#), "tool_calls")
    );
}

#[test]
fn text_is_inserted_before_and_after() {
    assert_eq!(
        write(&body(r#"{"role":"assistant","content":"b"}"#, "stop"), None, |parts| {
            parts.insert(0, inserted_text("a"));
            parts.insert(2, inserted_text("c"));
        }),
        body(r#"{"role":"assistant","content":"abc"}"#, "stop")
    );
}

#[test]
fn a_call_is_inserted() {
    assert_eq!(
        write(&body(r#"{"role":"assistant","content":"b"}"#, "stop"), None, |parts| {
            set_finish(&mut parts[1], FinishKind::ToolCalls);
            parts.insert(1, inserted_call("g", "{}"));
        }),
        body(
            &format!(
                r#"{{"role":"assistant","content":"b",{}}}"#,
                calls(&[&call("g", "{}").replace("id-g", "new")])
            ),
            "tool_calls"
        )
    );
}

#[test]
fn a_finish_alone_is_patched() {
    let message = r#"{"role":"assistant","content":"b","x":"kept"}"#;
    assert_eq!(write(&body(message, "tool_calls"), None, |parts| stop_instead(parts)), body(message, "stop"));
}

/// Rule 22: dropped reasoning leaves its signature.
#[test]
fn dropped_reasoning_takes_its_twins_and_leaves_its_signature() {
    let message = r#"{"role":"assistant","content":"a","reasoning":"secret","reasoning_details":[{"type":"reasoning.text","text":"secret","signature":"s"}]}"#;
    assert_eq!(
        write(&body(message, "stop"), None, |parts| parts[0].fate = Fate::Dropped),
        body(
            r#"{"role":"assistant","content":"a","reasoning_details":[{"type":"reasoning.text","text":"","signature":"s"}]}"#,
            "stop"
        )
    );
}

#[test]
fn the_other_choice_stays_as_it_came() {
    let second = r#"{"index":1, "message":{"content":"b"},"logprobs":{"content":[]},"finish_reason":"stop"}"#;
    let raw = |first: &str| body(first, "stop").replace("}],", &format!("}},{second}],"));
    assert_eq!(
        write(&raw(r#"{"role":"assistant","content":"a"}"#), None, |parts| set_text(&mut parts[0], "A")),
        raw(r#"{"role":"assistant","content":"A"}"#)
    );
}

/// Rule 20, for a whole response: the API's filtered answer, usage kept.
#[test]
fn a_refused_body_is_filtered() {
    let raw = body(r#"{"role":"assistant","content":"x","refusal":null}"#, "stop");
    assert_eq!(
        write(&raw, Some(&refuse("no")), drop_payload),
        body(r#"{"role":"assistant","content":"","refusal":"no"}"#, "content_filter")
    );
    assert_eq!(
        write(&raw, Some(&refuse("")), |_| {}),
        body(r#"{"role":"assistant","content":"x","refusal":null}"#, "content_filter")
    );
}

#[test]
fn a_failed_body_is_an_error() {
    let raw = body(r#"{"role":"assistant","content":"x"}"#, "stop");
    assert_eq!(
        write(&raw, Some(&error("no")), drop_payload),
        r#"{"error":{"message":"no","type":"policy_error","param":null,"code":"blocked_by_policy"}}"#
    );
}

#[test]
fn an_error_of_the_upstream_stays_one() {
    let raw = r#"{"error":{"message":"m","failed_generation":"secret"}}"#;
    assert_eq!(write(raw, None, |_| {}), raw);
    assert_eq!(write(raw, Some(&refuse("no")), drop_payload), r#"{"error":{"message":"m"}}"#);
}

#[test]
fn a_foreign_body_that_is_dropped_leaves_a_notice() {
    assert_eq!(
        write(r#"{"type":"robot","do":"secret"}"#, None, drop_payload),
        r#"{"id":"chatcmpl-blocked","object":"chat.completion","created":0,"model":"","choices":[{"index":0,"message":{"role":"assistant","content":"[withheld by policy]"},"finish_reason":"stop"}]}"#
    );
}

#[test]
fn a_body_that_never_came_is_refused_with_one_made_here() {
    let mut writer = OpenAiChat.writer(&WriterOptions::default());
    assert_eq!(
        writer.whole(Outgoing { frame: None, parts: Vec::new() }, Some(&refuse("no"))),
        r#"{"id":"chatcmpl-blocked","object":"chat.completion","created":0,"model":"","choices":[{"index":0,"message":{"role":"assistant","content":"","refusal":"no"},"finish_reason":"content_filter"}]}"#
    );
}
