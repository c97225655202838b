//! Early endings (rule 20).

use super::*;

const KNOWN: &str = r#"{"input_tokens":9,"output_tokens":1}"#;

fn made_opening() -> String {
    event(
        "message_start",
        r#"{"type":"message_start","message":{"id":"msg_blocked","type":"message","role":"assistant","model":"","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}}"#,
    )
}

#[test]
fn with_nothing_left_an_opening_is_made() {
    Client::new().end(EndingKind::Refuse).got(made_opening() + &refusal(r#"{"output_tokens":0}"#));
    Client::new().end(EndingKind::Error).got(made_opening() + &error());
}

#[test]
fn with_nothing_left_the_upstreams_opening_is_sent_again_without_its_content() {
    let came = event(
        "message_start",
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_a","name":"a","input":{}}],"container":{"id":"c"},"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1},"x":"secret"}}"#,
    );
    let sent = event(
        "message_start",
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"container":{"id":"c"},"usage":{"input_tokens":9,"output_tokens":1}}}"#,
    );
    Client::new().drop(&came).end(EndingKind::Refuse).got(sent.clone() + &refusal(KNOWN));
    Client::new().drop(&came).end(EndingKind::Error).got(sent + &error());
}

#[test]
fn in_the_middle_of_text_or_thinking_the_block_is_closed() {
    for begin in [start_text(0) + &text(0, "Hi"), start_thinking(0) + &thinking(0, "hm")] {
        let begin = message_start() + &begin;
        Client::new()
            .send(&begin)
            .end(EndingKind::Refuse)
            .got(begin.clone() + &anew(&stop(0)) + &refusal(KNOWN));
        Client::new().send(&begin).end(EndingKind::Error).got(begin + &error());
    }
}

/// A closed half call is run by clients; so may be what nobody knows.
#[test]
fn in_the_middle_of_a_call_a_refusal_is_an_error() {
    for begin in [start_call(0, "a") + &input(0, "{'x':"), start(0, r#"{"type":"new_tool_use"}"#)] {
        let begin = message_start() + &begin;
        Client::new().send(&begin).end(EndingKind::Refuse).got(begin.clone() + &error());
        Client::new().send(&begin).end(EndingKind::Error).got(begin + &error());
    }
}

#[test]
fn a_call_that_did_not_leave_or_is_whole_does_not_stand_in_the_way() {
    Client::new()
        .send(message_start())
        .drop(start_call(0, "a") + &input(0, "{'x':"))
        .end(EndingKind::Refuse)
        .got(message_start() + &refusal(KNOWN));
    let whole = message_start() + &start_call(0, "a") + &stop(0);
    Client::new().send(&whole).end(EndingKind::Refuse).got(whole + &refusal(KNOWN));
}

#[test]
fn after_the_finish_only_an_error_can_follow() {
    let done = message_start() + &start_text(0) + &text(0, "Hi") + &stop(0) + &finish("end_turn");
    for kind in [EndingKind::Refuse, EndingKind::Error] {
        Client::new().send(&done).end(kind).got(done.clone() + &error());
    }
}

#[test]
fn after_a_terminal_marker_or_an_error_nothing_follows() {
    let done = message_start() + &finish("end_turn") + &message_stop();
    let failed = message_start()
        + &event("error", r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#);
    for events in [done, failed] {
        let client = Client::new().send(&events);
        assert!(client.writer.ended());
        client.end(EndingKind::Refuse).got(&events);
    }
}

#[test]
fn usage_of_a_finish_that_did_not_leave_is_kept() {
    Client::new()
        .send(message_start())
        .drop(finish("tool_use"))
        .end(EndingKind::Refuse)
        .got(message_start() + &refusal(r#"{"output_tokens":7}"#));
}

#[test]
fn text_that_waited_leaves_before_a_refusal() {
    Client::new()
        .send(message_start() + &start_thinking(0))
        .insert(inserted_text("why"))
        .end(EndingKind::Refuse)
        .got(message_start() + &start_thinking(0) + &anew(&stop(0)) + &made_text(1, "why") + &refusal(KNOWN));
}

#[test]
fn an_event_border_is_restored_first() {
    let cut = message_start() + start_text(0).trim_end();
    Client::new().send(&cut).end(EndingKind::Refuse).got(cut + "\n\n" + &anew(&stop(0)) + &refusal(KNOWN));
}

#[test]
fn exactly_one_ending_leaves() {
    let mut client = Client::new().send(message_start());
    assert!(!client.writer.ended());
    client = client.end(EndingKind::Error);
    assert!(client.writer.ended());
    client.end(EndingKind::Refuse).got(message_start() + &error());
}
