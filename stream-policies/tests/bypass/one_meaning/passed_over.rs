//! Chat: chunks that some clients pass over. What such a client puts together was never judged (rule 28).

use stream_core::{Action, ErrorKind, Odd};
use stream_policies::judge::rules::{Condition, Otherwise, Rule, RulesSettings};
use stream_policies::{Pattern, Redact, RedactSettings, ToolGate};

use crate::kit::chat::{DONE, UNREADABLE, call, delta, end};
use crate::kit::{data, run};

/// A gate that denies `shell` where the whole command is `rm`.
fn no_rm() -> ToolGate {
    let rule = Rule::tools(["shell"]).when(Condition::at("/command").glob("rm")).because("no rm");
    ToolGate::new(RulesSettings::otherwise(Otherwise::Allow).deny(rule).build().unwrap())
}

fn redact() -> Redact {
    RedactSettings::default().pattern(Pattern::regex("key", "SECRET-[0-9]{4}")).build().unwrap()
}

/// A call whose middle piece stands in the chunk `middle`: without that chunk the command is `rm`.
fn call_around(middle: &str) -> String {
    let last = r#"{"tool_calls":[{"index":0,"function":{"arguments":"rm\"}"}}]}"#;
    call(0, "a", "shell", r#"{"command":""#) + middle + &delta(last) + &end("tool_calls")
}

/// A text whose middle piece stands in the chunk `middle`: without that chunk the text is a key.
fn text_around(middle: &str) -> String {
    delta(r#"{"content":"SECRET-"}"#) + middle + &delta(r#"{"content":"1234"}"#) + &end("stop")
}

/// The middle piece of the arguments, in an entry of `tool_calls`.
const PIECE: &str = r#"{"index":0,"function":{"arguments":"ls\",\"x\":\""}}"#;

/// A chunk with these fields around its choice, of which these stand in the choice and these in the delta.
fn chunk(around: &str, in_choice: &str, in_delta: &str, payload: &str) -> String {
    data(&format!(
        r#"{{"id":"c",{around}"choices":[{{"index":0,{in_choice}"delta":{{{in_delta}{payload}}},"finish_reason":null}}]}}"#
    ))
}

/// Fields by which at least one client passes over a chunk, and the reason why the chunk is not plain.
fn fields() -> Vec<(&'static str, &'static str, &'static str, Odd)> {
    vec![
        // LangChain.
        (r#""type":"content.delta","#, "", "", Odd::Foreign),
        // openai-python's `.stream()`.
        (r#""object":"chat.completion","#, "", "", Odd::Type),
        (r#""object":"chat.completion.chunk","#, "", "", Odd::Type),
        // The AI SDK.
        (r#""error":null,"#, "", "", Odd::Foreign),
        (r#""error":"","#, "", "", Odd::Foreign),
        (r#""model":7,"#, "", "", Odd::Type),
        (r#""created":"now","#, "", "", Odd::Type),
        (r#""usage":"none","#, "", "", Odd::Type),
        (r#""usage":{"prompt_tokens":"7"},"#, "", "", Odd::Type),
        (r#""usage":{"prompt_tokens_details":{"cached_tokens":"7"}},"#, "", "", Odd::Type),
        ("", r#""logprobs":{"content":[{"token":7}]},"#, "", Odd::Type),
        ("", r#""logprobs":[],"#, "", Odd::Type),
        ("", "", r#""annotations":[{"type":"url_citation"}],"#, Odd::Type),
        ("", "", r#""annotations":{"CodeVulnerability":[]},"#, Odd::Type),
        ("", "", r#""role":"","#, Odd::Type),
    ]
}

#[test]
fn a_piece_of_a_call_in_a_chunk_that_some_clients_pass_over_leaves_in_one_that_all_read() {
    let payload = format!(r#""tool_calls":[{PIECE}]"#);
    let expected = call_around(&chunk("", "", "", &payload));
    for (around, in_choice, in_delta, odd) in fields() {
        let what = format!("{around}{in_choice}{in_delta}");
        let ran = run(no_rm, &call_around(&chunk(around, in_choice, in_delta, &payload)));
        assert_eq!(ran.out, expected, "{what}");
        assert_eq!(ran.edits(), [(Action::Normalised, odd.to_string().as_str())], "{what}");
    }
}

#[test]
fn a_piece_of_a_text_in_a_chunk_that_some_clients_pass_over_leaves_in_one_that_all_read() {
    let payload = r#""content":"x""#;
    let expected = text_around(&chunk("", "", "", payload));
    for (around, in_choice, in_delta, odd) in fields() {
        let what = format!("{around}{in_choice}{in_delta}");
        let ran = run(redact, &text_around(&chunk(around, in_choice, in_delta, payload)));
        assert_eq!(ran.out, expected, "{what}");
        assert_eq!(ran.edits(), [(Action::Normalised, odd.to_string().as_str())], "{what}");
    }
}

/// The AI SDK and LangChain read no entry of a list with one that is no function.
#[test]
fn a_piece_of_a_call_beside_an_entry_without_a_function_leaves_alone() {
    let alone = delta(&format!(r#"{{"tool_calls":[{PIECE}]}}"#));
    for beside in [r#"{"index":0}"#, r#"{"index":0,"id":"a"}"#, r#"{"index":0,"function":null}"#] {
        let ran = run(no_rm, &call_around(&delta(&format!(r#"{{"tool_calls":[{PIECE},{beside}]}}"#))));
        let again = delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":""}}]}"#);
        let out = ran.out.replace(&again, "");
        assert_eq!(out, call_around(&alone), "{beside}");
        assert_eq!(ran.edits(), [(Action::Normalised, Odd::Type.to_string().as_str())], "{beside}");
    }
    let wrong = r#""extra_content":"x""#;
    let piece = PIECE.replacen('{', &format!("{{{wrong},"), 1);
    let ran = run(no_rm, &call_around(&delta(&format!(r#"{{"tool_calls":[{piece}]}}"#))));
    assert_eq!(ran.out, call_around(&alone));
}

/// pydantic-ai reads nothing beside a refusal, and many programs read no calls beside a text.
#[test]
fn a_piece_of_a_call_beside_a_text_leaves_in_a_chunk_of_its_own() {
    let piece = delta(&format!(r#"{{"tool_calls":[{PIECE}]}}"#));
    for beside in [r#""refusal":"no""#, r#""content":"hi""#] {
        let ran = run(no_rm, &call_around(&delta(&format!(r#"{{{beside},"tool_calls":[{PIECE}]}}"#))));
        assert_eq!(ran.out, call_around(&(delta(&format!("{{{beside}}}")) + &piece)), "{beside}");
    }
    let ran = run(redact, &text_around(&delta(r#"{"refusal":"no","content":"x"}"#)));
    assert_eq!(ran.out, text_around(&(delta(r#"{"content":"x"}"#) + &delta(r#"{"refusal":"no"}"#))));
}

/// LangChain reads the choices of `chunk`, as the helper of openai-python names a chunk, where there are no others.
#[test]
fn a_call_within_a_chunk_within_a_chunk_does_not_leave() {
    let evil = r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"shell","arguments":"{\"command\":\"rm\"}"}}]}}"#;
    for choices in ["[]", "null"] {
        let wrapped = data(&format!(r#"{{"id":"c","choices":{choices},"chunk":{{"choices":[{evil}]}}}}"#));
        let ran = run(no_rm, &(delta(r#"{"content":"hi"}"#) + &wrapped + &end("stop")));
        assert_eq!(ran.out, delta(r#"{"content":"hi"}"#) + &end("stop"), "{choices}");
    }
}

/// A stream all of whose chunks one client passes over says nothing to it: one that begins so goes on so, or closes.
#[test]
fn a_stream_whose_calls_have_annotations_of_copilots_goes_on_with_them_or_closes() {
    let noted = r#""annotations":{"CodeVulnerability":[]},"#;
    let open = chunk(
        "",
        "",
        noted,
        r#""tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"shell","arguments":"{\"command\":\""}}]"#,
    );
    let more = chunk("", "", noted, r#""tool_calls":[{"index":0,"function":{"arguments":"ls\"}"}}]"#);
    let body = open.clone() + &more + &end("tool_calls");
    assert_eq!(run(no_rm, &body).out, body);
    let more = chunk("", "", "", r#""tool_calls":[{"index":0,"function":{"arguments":"ls\"}"}}]"#);
    let ran = run(no_rm, &(open + &more + &end("tool_calls")));
    assert_eq!((ran.out.as_str(), ran.error), (UNREADABLE, Some(ErrorKind::Ambiguous)));
    assert!(UNREADABLE.ends_with(DONE));
}
