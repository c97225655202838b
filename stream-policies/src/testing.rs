//! What the tests of all policies need.

use stream_core::{Policy, Stage};
use stream_testkit::conformance::{Allow, View};
use stream_testkit::laws::{self, Law, Tally};
use stream_testkit::{ChunkLog, Finish, Fragments, Replay, Replayed, Script, WireKind};

/// The script in every format, streamed and whole.
pub(crate) fn everywhere(script: &Script) -> Vec<(WireKind, ChunkLog)> {
    let logs =
        WireKind::ALL.into_iter().flat_map(|kind| [(kind, script.to_log(kind)), (kind, whole(script, kind))]);
    logs.collect()
}

/// The script as a whole response.
pub(crate) fn whole(script: &Script, kind: WireKind) -> ChunkLog {
    ChunkLog::from_whole(format!("whole.{kind}"), script.whole(kind))
}

/// Runs a log through a policy.
pub(crate) fn run<P: Policy + Clone + Sync + 'static>(policy: &P, log: &ChunkLog) -> Replayed {
    let policy = policy.clone();
    Replay::new(log).policy(move || policy.clone()).run()
}

/// What a strict client received; panics if any rule of the format was broken.
#[track_caller]
pub(crate) fn seen(what: &str, replayed: &Replayed) -> View {
    let report = replayed.check(&Allow::none());
    let shown = String::from_utf8_lossy(&replayed.bytes()).into_owned();
    assert!(report.is_clean(), "{what}:\n{report}\n{shown}");
    report.view().clone()
}

/// The policy makes of one script what the other says, in every format, streamed and whole.
#[track_caller]
pub(crate) fn assert_says<P: Policy + Clone + Sync + 'static>(policy: &P, input: &Script, expected: &Script) {
    for ((kind, log), (_, expected)) in everywhere(input).into_iter().zip(everywhere(expected)) {
        let replayed = run(policy, &log);
        let what = format!("{kind}, {:?}", log.name());
        let wanted = Replay::new(&expected).run();
        assert_eq!(seen(&what, &replayed), seen("expected", &wanted), "{what}");
    }
}

/// All laws hold over the script and a harmless one, in every format, streamed and whole, and each had something to look at
/// but for these.
#[track_caller]
pub(crate) fn assert_lawful<P: Policy + Clone + Sync + 'static>(
    policy: &P,
    script: &Script,
    vacuous: &[Law],
) {
    let policy = policy.clone();
    lawful(move || policy.clone(), script).assert_held_but(vacuous);
}

/// How the laws stand over the script and a harmless one, for a policy that is run in some way. None is broken.
#[track_caller]
pub(crate) fn lawful<P: Into<Stage>>(
    policy: impl Fn() -> P + Clone + Send + Sync + 'static,
    script: &Script,
) -> Tally {
    let mut tally = Tally::default();
    for (kind, log) in everywhere(script).into_iter().chain(everywhere(&Script::new().text("So."))) {
        match laws::check(policy.clone(), &log) {
            Ok(stood) => tally.add(&stood),
            Err(broken) => panic!("{kind}, {}:\n{broken}", log.name()),
        }
    }
    tally
}

/// A script in every format, streamed and whole.
pub(crate) fn logs(script: &Script) -> Vec<ChunkLog> {
    everywhere(script).into_iter().map(|(_, log)| log).collect()
}

/// What a strict client makes of the output, which has to be valid.
#[track_caller]
pub(crate) fn valid(replayed: &Replayed) -> View {
    seen(&replayed.name, replayed)
}

/// Streams with one thing each that has gone wrong somewhere.
pub(crate) fn troubles() -> Vec<(&'static str, Script)> {
    let arguments = r#"{"path":"/etc/passwd","deep":{"list":["kiwi","mango\n",{"x":true}],"n":1.5e3}}"#;
    let fine = Fragments::Chars(9);
    let calls = || {
        Script::new()
            .text("Let me look at the thing.")
            .call("call_1", "read_file", arguments)
            .call("call_2", "list_folder", r#"{"where":"somewhere"}"#)
            .usage(12, 34)
    };
    let choices = || {
        let script = Script::new().text("One.").call("call_1", "read_file", arguments);
        script.choice(1).text("another answer").call("call_2", "list_folder", r#"{"where":"here"}"#)
    };
    vec![
        ("text", Script::new().text("Only words here.").text_fragments(fine).usage(3, 4)),
        ("thought", Script::new().reasoning("Thinking of a plan").text("Well.").text_fragments(fine)),
        ("refusal", Script::new().refusal("I will not tell.").text_fragments(fine)),
        ("fine calls", calls().argument_fragments(fine).text_fragments(fine).pings()),
        ("a call without arguments", Script::new().call("call_1", "now", "")),
        ("all in one chunk", calls().in_one_chunk()),
        ("interleaved choices", choices().argument_fragments(fine).text_fragments(fine).interleaved()),
        ("out of tokens", calls().argument_fragments(fine).finish(Finish::Length)),
        ("broken off", calls().argument_fragments(fine).cut()),
        ("an error in a call", calls().argument_fragments(fine).cut().error("overloaded")),
    ]
}

/// Checks every law over scripted streams in every format: each has something to look at but for these.
#[track_caller]
pub(crate) fn keeps_every_law<P: Policy + 'static>(factory: fn() -> P, vacuous: &[Law]) {
    let (mut broken, mut tally) = (String::new(), Tally::default());
    for (name, script) in troubles() {
        for kind in WireKind::ALL {
            match laws::check(factory, &script.to_log(kind)) {
                Ok(stood) => tally.add(&stood),
                Err(found) => broken += &format!("{name}: {found}\n"),
            }
        }
    }
    assert_eq!(broken, "");
    tally.assert_held_but(vacuous);
}
