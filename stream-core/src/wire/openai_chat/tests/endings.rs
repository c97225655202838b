use super::*;

const ROLE: &str = r#"{"role":"assistant","content":""}"#;
const ERROR: &str = "data: {\"error\":{\"message\":\"no\",\"type\":\"policy_error\",\"param\":null,\"code\":\"blocked_by_policy\"}}\n\n";

fn text(text: &str) -> String {
    delta(&format!("{{\"content\":{text:?}}}"))
}

/// Rule 20: with nothing of the upstream there, an opening is made.
#[test]
fn refused_before_anything_came() {
    let made = |choice: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-blocked\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"\",\"choices\":[{choice}]}}\n\n"
        )
    };
    let mut run = Run::new();
    run.end(&refuse("no"));
    run.wrote(&[
        &made(r#"{"index":0,"delta":{"role":"assistant","refusal":"no"},"finish_reason":null}"#),
        &made(r#"{"index":0,"delta":{},"finish_reason":"content_filter"}"#),
        DONE,
    ]);
    assert!(run.writer.ended());
}

/// Rule 20: what was dropped before still gives its envelope.
#[test]
fn refused_before_anything_left() {
    let mut run = Run::new();
    run.lose(&text("x")).end(&refuse(""));
    run.wrote(&[
        &chunk(r#"{"index":0,"delta":{"role":"assistant"},"finish_reason":"content_filter"}"#),
        DONE,
    ]);
}

#[test]
fn refused_in_the_middle_of_text() {
    let mut run = Run::new();
    run.keep(&delta(ROLE)).keep(&text("a")).end(&refuse("no"));
    run.wrote(&[&delta(ROLE), &text("a"), &delta(r#"{"refusal":"no"}"#), &finish("content_filter"), DONE]);
}

#[test]
fn the_envelope_of_a_chunk_with_a_choice_is_preferred() {
    let azure = "data: {\"choices\":[],\"id\":\"\",\"model\":\"\",\"prompt_filter_results\":[]}\n\n";
    let mut run = Run::new();
    run.keep(azure).keep(&text("a")).end(&refuse(""));
    run.wrote(&[azure, &text("a"), &finish("content_filter"), DONE]);
}

#[test]
fn every_choice_gets_its_finish_and_known_usage_is_kept() {
    let second = chunk(r#"{"index":1,"delta":{"content":"b"},"finish_reason":null}"#);
    let counted = text("x").replace("]}\n", "],\"usage\":{\"total_tokens\": 3}}\n");
    let usage = chunk("").replace("]}\n", "],\"usage\":{\"total_tokens\": 3}}\n");
    let mut run = Run::new();
    run.keep(&text("a")).keep(&second).keep(&counted).end(&refuse(""));
    run.wrote(&[
        &text("a"),
        &second,
        &counted,
        &finish("content_filter"),
        &chunk(r#"{"index":1,"delta":{},"finish_reason":"content_filter"}"#),
        DONE,
    ]);
    let mut run = Run::new();
    run.keep(&text("a")).with(&finish("stop"), super::drop_all).keep(&usage).end(&refuse(""));
    run.wrote(&[&text("a"), &finish("content_filter"), &usage, DONE]);
}

/// Rule 20: a closed half call is run by clients.
#[test]
fn a_refusal_in_the_middle_of_a_call_is_an_error() {
    let mut run = Run::new();
    run.keep(&open_call(0, "{")).end(&refuse("no"));
    run.wrote(&[&open_call(0, "{"), ERROR, DONE]);
    let mut run = Run::new();
    // White space does not complete a call (rule 2).
    run.keep(&open_call(0, "{")).keep(&text(" ")).end(&refuse("no"));
    run.wrote(&[&open_call(0, "{"), &text(" "), ERROR, DONE]);
}

#[test]
fn a_refusal_after_a_call_that_another_block_completed_is_one() {
    let mut run = Run::new();
    run.keep(&open_call(0, "{}")).lose(&open_call(1, "{")).end(&refuse(""));
    run.wrote(&[&open_call(0, "{}"), &finish("content_filter"), DONE]);
    let mut run = Run::new();
    run.with(&open_call(0, "{"), |parts| set_arguments(&mut parts[0], "{}")).end(&refuse(""));
    let replaced = open_call(0, "{}").replace("{\"tool_calls\"", "{\"role\":\"assistant\",\"tool_calls\"");
    run.wrote(&[&replaced, &finish("content_filter"), DONE]);
}

#[test]
fn a_refusal_after_the_finish_is_an_error() {
    let mut run = Run::new();
    run.keep(&text("a")).keep(&finish("stop")).end(&refuse("no"));
    run.wrote(&[&text("a"), &finish("stop"), ERROR, DONE]);
}

#[test]
fn an_error_is_an_error_everywhere() {
    let mut run = Run::new();
    run.end(&error("no"));
    run.wrote(&[ERROR, DONE]);
    for before in [text("a"), open_call(0, "{"), finish("stop")] {
        let mut run = Run::new();
        run.keep(&before).end(&error("no"));
        run.wrote(&[&before, ERROR, DONE]);
    }
}

#[test]
fn nothing_follows_a_terminal_marker_or_an_error() {
    let failed = "data: {\"error\":{\"message\":\"m\"}}\n\n";
    for last in [DONE, failed] {
        let mut run = Run::new();
        run.keep(last).end(&refuse("no")).end(&error("no"));
        run.wrote(&[last]);
    }
}

/// Rule 20: an event border is restored before anything is added.
#[test]
fn an_ending_after_an_unfinished_event_starts_on_its_own_line() {
    for (tail, border) in [("", "\n\n"), ("\n", "\n"), ("\r\n", "\n")] {
        let cut = format!("{}{tail}", text("a").trim_end());
        let mut run = Run::new();
        run.keep(&cut).end(&error("no"));
        run.wrote(&[&cut, border, ERROR, DONE]);
    }
}
