//! Policies of every kind keep every law, over scripted and recorded streams.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

pub(crate) mod policies;

use policies::{AllowAll, DropCalls, HoldAll, HoldCalls, Redact, Shout, StopAtSecret};
use proptest::prelude::*;
use stream_core::SyncPolicy;
use stream_testkit::laws::{self, Law, Tally};
use stream_testkit::{ChunkLog, Finish, Fragments, Script, WireKind, strategies};

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

/// What breaks a law, as text, and how the laws stood.
fn broken<P: SyncPolicy + 'static>(
    factory: fn() -> P,
    logs: impl IntoIterator<Item = (String, ChunkLog)>,
) -> (String, Tally) {
    let (mut all, mut tally) = (String::new(), Tally::default());
    for (name, log) in logs {
        match laws::check(factory, &log) {
            Ok(stood) => tally.add(&stood),
            Err(broken) => all += &format!("{name}: {broken}\n"),
        }
    }
    (all, tally)
}

/// No law is broken, and each has held but for these.
fn is_lawful<P: SyncPolicy + 'static>(factory: fn() -> P, logs: Vec<(String, ChunkLog)>, vacuous: &[Law]) {
    let (broken, tally) = broken(factory, logs);
    assert_eq!(broken, "");
    tally.assert_held_but(vacuous);
}

fn scripted() -> Vec<(String, ChunkLog)> {
    let mut logs = Vec::new();
    for (name, script) in scripts() {
        logs.extend(WireKind::ALL.map(|kind| (name.to_owned(), script.to_log(kind))));
    }
    logs
}

/// One in eight of the kit's own logs: a law runs a stream some dozen times.
fn own() -> Vec<(String, ChunkLog)> {
    let own = stream_testkit::logs::own().unwrap().into_iter().step_by(8);
    own.map(|own| (own.name().to_owned(), own.log().clone())).collect()
}

/// One in every so many recordings that are not long.
fn recorded() -> Vec<(String, ChunkLog)> {
    let recorded = WireKind::ALL.into_iter().flat_map(stream_testkit::logs::recorded);
    let logs = recorded.map(|one| (one.file.clone(), one.load().unwrap()));
    logs.filter(|(_, log)| !log.is_whole() && log.bytes().len() < LONG).step_by(EVERY).collect()
}

/// Of the recordings, one in this many.
const EVERY: usize = 12;
/// Recordings of so many bytes are left out.
const LONG: usize = 16_000;

macro_rules! keeps_every_law {
    ($($name:ident: $factory:expr, vacuous: $vacuous:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn keeps_every_law_on_scripted_streams() {
                is_lawful($factory, scripted(), &$vacuous);
            }

            #[test]
            fn keeps_every_law_on_streams_in_the_shapes_of_providers() {
                is_lawful($factory, own(), &$vacuous);
            }

            #[test]
            #[ignore = "needs recorded streams: STREAM_CORPUS"]
            fn keeps_every_law_on_recorded_streams() {
                is_lawful($factory, recorded(), &$vacuous);
            }
        }
    )*};
}

keeps_every_law! {
    a_policy_that_allows_all: || AllowAll, vacuous: [Law::NoLeak];
    a_policy_that_holds_all_until_the_end: || HoldAll, vacuous: [Law::NoLeak];
    a_policy_that_holds_each_call_until_it_is_complete: || HoldCalls, vacuous: [];
    a_policy_that_drops_every_call: || DropCalls, vacuous: [];
    a_policy_that_writes_capitals: || Shout, vacuous: [Law::NoLeak];
    a_policy_that_hides_a_word: Redact::default, vacuous: [Law::NoLeak];
    a_policy_that_stops_at_a_word: StopAtSecret::default, vacuous: [Law::NoLeak];
}

proptest! {
    // A case runs its stream some hundred times.
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_policy_that_hides_a_word_keeps_every_law_on_drawn_streams(log in strategies::logs()) {
        prop_assert_eq!(broken(Redact::default, [("drawn".to_owned(), log)]).0, "");
    }

    #[test]
    fn a_policy_that_drops_every_call_keeps_every_law_on_streams_that_break_off(
        log in strategies::broken_off_logs(),
    ) {
        prop_assert_eq!(broken(|| DropCalls, [("drawn".to_owned(), log)]).0, "");
    }
}
