//! The scenarios: what the upstream says. The policies it goes through are in `gateway.toml`.
//!
//! Whatever must not reach a client has the word `canary` in it.

use std::time::Duration;

use stream_testkit::{Fragments, Script};

/// A scenario, known by the first segment of a path.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) script: Script,
    pub(crate) how: How,
    /// Whether it can be asked for as a whole answer too: one that neither halts nor breaks.
    pub(crate) whole: bool,
}

/// How the script is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// As it is.
    Plainly,
    /// With a silence in the middle of the call that is under way; where calls are never split, before the next one.
    Haltingly(Duration),
    /// With the connection breaking there, after a while.
    Broken,
    /// An error with this status is all that comes.
    Status(u16),
    /// After so many calls of a tool that the gateway runs.
    Looped(usize),
}

impl Scenario {
    fn new(name: &'static str, script: Script) -> Self {
        Self { name, script, how: How::Plainly, whole: true }
    }

    fn sent(self, how: How) -> Self {
        Self { how, ..self }
    }

    fn only_streamed(self) -> Self {
        Self { whole: false, ..self }
    }
}

/// All scenarios.
pub(crate) fn all() -> Vec<Scenario> {
    let new = Scenario::new;
    vec![
        new("passthrough", read(saying("Let me look."))),
        new("one-dropped", read(wipe(thinking("Hm.").text("Let me look.")))),
        new("all-dropped", wipe(saying("On it.")).call("call_other_canary", "wipe_canary", "{}")),
        new("only-calls-dropped", wipe(script())),
        new("replaced", saying("Let me run it.").call("call_run", "run", r#"{"cmd":"ls -l"}"#)),
        new(
            "redacted",
            saying("The key sk-canary-1234 is in place.").call(
                "call_read",
                "read_file",
                r#"{"path":"sk-canary-1234.txt"}"#,
            ),
        ),
        new("blocked-start", saying("canary phrase, to begin with.")),
        new("blocked-status", saying("canary phrase, to begin with.")),
        new("blocked-middle", saying("First this, then the canary phrase, and more.")),
        new("blocked-error", saying("First this, then the canary phrase, and more.")),
        new("blocked-call", wipe(saying("On it."))),
        new("blocked-mid-call", read(saying("Let me look.")).call("call_more", "read_file", MORE))
            .sent(How::Haltingly(Duration::from_secs(4)))
            .only_streamed(),
        new("upstream-error", saying("Let me look.").error("overloaded")).only_streamed(),
        new("upstream-status", saying("Let me look.")).sent(How::Status(503)),
        new("upstream-cut", read(saying("Let me look."))).sent(How::Broken).only_streamed(),
        new("cut-short", saying("Let me look.").cut()).only_streamed(),
        // What comes after the first text comes after the client has gone.
        new("cancel", read(saying("Let me look.").pause(Duration::from_secs(60)))).only_streamed(),
        new("loop-0", script()).sent(How::Looped(0)),
        new("loop-1", script()).sent(How::Looped(1)),
        new("loop-3", script()).sent(How::Looped(3)),
        new("long-hold", read(saying("Let me look.")).pause(Duration::from_secs(3))).only_streamed(),
    ]
}

/// What is said in a loop: a call until the tool has answered so often.
pub(crate) fn looped(answered: usize, times: usize) -> Script {
    if answered < times {
        let call = format!("call_{answered}");
        saying("Count.").call(call, "count_letters", r#"{"word":"strawberry","letter":"r"}"#)
    } else {
        saying("It is 3.")
    }
}

/// The answer to every second turn.
pub(crate) fn second() -> Script {
    saying("Fine.")
}

/// The word in all that must not reach a client.
pub(crate) const CANARY: &[u8] = b"canary";

fn script() -> Script {
    let fragments = Fragments::Chars(10);
    Script::new().text_fragments(fragments).argument_fragments(fragments).usage(12, 7)
}

fn saying(text: &str) -> Script {
    script().text(text)
}

fn thinking(text: &str) -> Script {
    script().reasoning(text)
}

fn read(script: Script) -> Script {
    script.call("call_read", "read_file", r#"{"path":"notes.txt"}"#)
}

fn wipe(script: Script) -> Script {
    script.call("call_canary", "wipe_canary", r#"{"disk":"canary-7f3a"}"#)
}

const MORE: &str = r#"{"path":"more.txt"}"#;
