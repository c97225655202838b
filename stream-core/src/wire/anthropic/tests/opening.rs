//! `message_start` with content (rule 7).

use super::*;

const A: &str = r#"{"type":"tool_use","id":"toolu_a","name":"a","input":{"x":1},"caller":{"type":"code"}}"#;
const B: &str = r#"{"type":"tool_use","id":"toolu_b","name":"b","input":{ "y": 2 }}"#;

fn opening(content: &[&str], stop: &str) -> String {
    event(
        "message_start",
        &format!(
            r#"{{"type":"message_start","message":{{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{}],"stop_reason":{stop},"stop_sequence":null,"usage":{{"input_tokens":9}}}}}}"#,
            content.join(",")
        ),
    )
}

fn said(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

#[test]
fn untouched_it_leaves_as_it_came_and_counts() {
    let came = opening(&[A], r#""tool_use""#);
    let client = Client::new().send(&came).insert(inserted_text("no place"));
    client.end(EndingKind::Refuse).got(came + &error());
}

#[test]
fn the_first_of_two_calls_can_be_dropped() {
    Client::new()
        .send_as(opening(&[A, B], r#""tool_use""#), |parts| set_block(parts, 0, Fate::Dropped))
        .send(message_stop())
        .got(opening(&[B], r#""tool_use""#) + &message_stop());
}

#[test]
fn blocks_after_it_are_shifted() {
    Client::new()
        .send_as(opening(&[&said("secret"), &said("Hi")], "null"), |parts| set_block(parts, 0, Fate::Dropped))
        .send(start_call(2, "c"))
        .got(opening(&[&said("Hi")], "null") + &start_call(1, "c"));
}

#[test]
fn all_calls_can_be_dropped() {
    Client::new()
        .send_as(opening(&[A, B], r#""tool_use""#), |parts| {
            set_block(parts, 0, Fate::Dropped);
            set_block(parts, 1, Fate::Dropped);
            edit_finish(parts, FinishKind::Stop);
        })
        .send(message_stop())
        .got(opening(&[&said("[withheld by policy]")], r#""end_turn""#) + &message_stop());
}

#[test]
fn a_call_in_it_is_replaced_in_its_input() {
    let replaced = |arguments: &'static str| {
        Client::new().send_as(opening(&[A], r#""tool_use""#), move |parts| edit_call(parts, "c", arguments))
    };
    let with = |input: &str| {
        let call = format!(
            r#"{{"type":"tool_use","id":"toolu_a","name":"c","input":{input},"caller":{{"type":"code"}}}}"#
        );
        opening(&[&call], r#""tool_use""#)
    };
    replaced(r#"{"z":3}"#).got(with(r#"{"z":3}"#));
    replaced("").got(with("{}"));
    replaced("no json").got(with(r#""no json""#));
}

#[test]
fn text_in_it_is_edited_and_thinking_is_emptied() {
    let thought = r#"{"type":"thinking","thinking":"secret","signature":"c2ln","x":"secret"}"#;
    let hollow = r#"{"type":"thinking","thinking":"","signature":"c2ln"}"#;
    Client::new()
        .send_as(opening(&[thought, &said("secret")], "null"), |parts| {
            edit_text(parts, "***");
            set_block(&mut parts[2..3], 0, Fate::Dropped);
        })
        .got(opening(&[hollow, &said("***")], "null"));
}

#[test]
fn text_is_inserted_among_its_blocks_and_never_after_a_call() {
    Client::new()
        .insert(inserted_text("first"))
        .send_as(opening(&[&said("Hi"), A], r#""tool_use""#), |parts| {
            parts.insert(3, inserted_text("second"));
            parts.push(inserted_text("no place"));
            parts.push(inserted_call("d", r#"{"q":1}"#));
        })
        .got(opening(
            &[
                &said("first"),
                &said("Hi"),
                &said("second"),
                A,
                r#"{"type":"tool_use","id":"toolu_new","name":"d","input":{"q":1}}"#,
            ],
            r#""tool_use""#,
        ));
}

#[test]
fn an_empty_one_stays_as_it_came_when_text_is_inserted_with_it() {
    Client::new()
        .send_as(message_start(), |parts| parts.insert(1, inserted_text("Hello")))
        .send(start_text(0))
        .got(message_start() + &made_text(0, "Hello") + &start_text(1));
}
