//! Effects of one hook take place in the order they were staged; what is held in one choice does not hold another.

use stream_core::{
    Chunk, Config, Context, Policy, PolicyError, Request, StreamState, Verdict, async_trait, each_call,
};
use stream_testkit::{ChunkLog, Cut, Fragments, Replay, Script, WireKind};

/// Lets go of the chunk before, and holds this one.
struct OneBehind;

#[async_trait]
impl Policy for OneBehind {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if chunk.is_payload() {
            ctx.flush();
            ctx.buffer(chunk);
        }
        Ok(())
    }
}

#[test]
fn a_chunk_that_is_buffered_after_a_flush_in_the_same_hook_is_held() {
    let script = Script::new().text("abc").text_fragments(Fragments::Chars(1));
    for kind in WireKind::ALL {
        let replayed = Replay::new(script.to_log(kind)).policy(|| OneBehind).run();
        assert_eq!(replayed.view().choices[0].content, "ab", "{kind}");
    }
}

/// Events of a chat stream with two choices: each line is one, with its choices and what they say.
fn two_choices() -> Vec<String> {
    let chunk = |choices: &str| format!("data: {{\"id\":\"c\",\"choices\":[{choices}]}}\n\n");
    let text = |index: u32, text: &str| format!(r#"{{"index":{index},"delta":{{"content":"{text}"}}}}"#);
    let finish =
        |index: u32, word: &str| format!(r#"{{"index":{index},"delta":{{}},"finish_reason":"{word}"}}"#);
    vec![
        chunk(&text(0, "a")),
        chunk(
            r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"i","type":"function","function":{"name":"ls","arguments":""}}]}}"#,
        ),
        chunk(&text(1, "b")),
        chunk(r#"{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}"#),
        chunk(&text(1, "c")),
        chunk(&[text(1, "d"), finish(0, "tool_calls")].join(",")),
        chunk(&text(1, "e")),
        chunk(&finish(1, "stop")),
        "data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3}}\n\n"
            .to_owned(),
        "data: [DONE]\n\n".to_owned(),
    ]
}

/// Rule 11: what is held in one choice holds nothing of another, an event of both waits for both, and the order within a
/// choice never changes.
#[test]
fn a_held_call_of_one_choice_is_passed_by_the_text_of_another_and_by_nothing_else() {
    let events = two_choices();
    let log = ChunkLog::parse("two.sse", events.concat().as_bytes()).expect("a log");
    let config = Config::default().request(Request::new().choices(2));
    let gate = || each_call(|_, _| Verdict::Release);
    let replayed = Replay::new(&log).config(config).cut(Cut::Event).policy(gate).run();
    // An event of several choices has no single meaning, and is written as one event for each (rule 28).
    let apart = [
        r#"{"index":1,"delta":{"content":"d"},"finish_reason":null}"#,
        r#"{"index":0,"delta":{},"finish_reason":"tool_calls"}"#,
    ]
    .map(|choice| format!("data: {{\"id\":\"c\",\"choices\":[{choice}]}}\n\n"));
    let ahead = [0, 2, 4, 1, 3].map(|number| events[number].as_str());
    let expected = [&ahead.concat(), &apart.concat(), &events[6..].concat()].map(String::as_str).concat();
    assert_eq!(String::from_utf8_lossy(&replayed.bytes()), expected);
}
