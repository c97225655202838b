//! Policies of every kind keep every law, over scripted and recorded streams.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test, helpers included")]

#[path = "laws/policies.rs"]
mod policies;

use policies::{AllowAll, DropCalls, HoldAll, HoldCalls, Plain, Redact, Shout, Steps, StopAtSecret};
use stream_testkit::{ChunkLog, Finish, Fragments, Script, WireKind, laws};

/// Streams with one thing each that has gone wrong somewhere.
fn scripts() -> Vec<(&'static str, Script)> {
    let story = "It is a secret: se secsecret, secre t. Größe 👩\u{200d}👧 \"quoted\" and se";
    let arguments = r#"{"path":"/etc/passwd","deep":{"list":["kiwi","mango\n",{"x":true}],"n":1.5e3}}"#;
    let fine = Fragments::Chars(3);
    let calls = || {
        Script::new()
            .text("Let me look at the thing.")
            .call("call_1", "read_file", arguments)
            .call("call_2", "list_folder", r#"{"where":"somewhere"}"#)
            .usage(12, 34)
    };
    let choices = || {
        let script = Script::new().text(story).call("call_1", "read_file", arguments);
        script.choice(1).text("another secret answer").call("call_2", "list_folder", r#"{"where":"here"}"#)
    };
    vec![
        ("text", Script::new().text(story).usage(3, 4)),
        ("fine text", Script::new().text(story).text_fragments(fine)),
        ("thought", Script::new().reasoning("Thinking of a secret plan").text(story).text_fragments(fine)),
        ("refusal", Script::new().refusal("I will not tell a secret.").text_fragments(fine)),
        ("calls", calls()),
        ("fine calls", calls().argument_fragments(fine).text_fragments(fine).pings()),
        ("only a call", Script::new().call("call_1", "read_file", arguments).argument_fragments(fine)),
        ("a call without arguments", Script::new().call("call_1", "now", "")),
        ("calls in one chunk", calls().calls_in_one_chunk()),
        ("all in one chunk", calls().in_one_chunk()),
        ("choices", choices().argument_fragments(fine)),
        ("interleaved choices", choices().argument_fragments(fine).text_fragments(fine).interleaved()),
        ("out of tokens", calls().finish(Finish::Length)),
        ("broken off", calls().argument_fragments(fine).cut()),
        ("an error", calls().argument_fragments(fine).error("overloaded")),
        ("an error in a call", calls().argument_fragments(fine).cut().error("overloaded")),
    ]
}

fn keeps_every_law<P: Steps + 'static>(factory: fn() -> P) {
    let mut broken = String::new();
    for (name, script) in scripts() {
        for kind in WireKind::ALL {
            if let Err(found) = laws::check(move || Plain(factory()), &script.to_log(kind)) {
                println!("{name}: {found}");
                broken += &format!("{name}: {found}\n");
            }
        }
    }
    assert!(broken.is_empty(), "{broken}");
}

macro_rules! keeps_every_law {
    ($($test:ident: $factory:expr;)*) => {$(
        #[test]
        fn $test() {
            keeps_every_law($factory);
        }
    )*};
}

keeps_every_law! {
    a_policy_that_allows_all_keeps_every_law: || AllowAll;
    a_policy_that_holds_all_until_the_end_keeps_every_law: || HoldAll;
    a_policy_that_holds_each_call_until_it_is_complete_keeps_every_law: || HoldCalls;
    a_policy_that_drops_every_call_keeps_every_law: || DropCalls;
    a_policy_that_writes_capitals_keeps_every_law: || Shout;
    a_policy_that_hides_a_word_keeps_every_law: Redact::default;
    a_policy_that_stops_at_a_word_keeps_every_law: StopAtSecret::default;
}

#[allow(dead_code)]
fn unused(_: ChunkLog) {}
