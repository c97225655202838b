//! Snapshots of transcripts.

/// Replays a log through a policy, and compares the transcript with the accepted snapshot.
///
/// - `assert_replay!(factory, log)`: the log as it was recorded, through the policy that the factory makes.
/// - `assert_replay!(factory, log, cut = Cut::Byte, config = config)`: with settings, each a method of
///   [`Replay`](crate::Replay) with one argument.
/// - `assert_replay!(replay)`: a [`Replay`](crate::Replay) of your own.
///
/// The snapshot is named after the test and lies in `snapshots/` beside it. When the transcript changes, the test fails
/// with the difference; `cargo insta review` accepts or rejects it, as does a run with `INSTA_UPDATE=always` and a look
/// at `git diff`.
///
/// ```no_run
/// use stream_core::Passthrough;
/// use stream_testkit::{ChunkLog, Cut, Redact, assert_replay};
///
/// # fn main() -> Result<(), stream_testkit::LogError> {
/// let log = ChunkLog::load("tests/logs/two_calls.sse")?;
/// assert_replay!(|| Passthrough, &log);
/// assert_replay!(|| Passthrough, &log, cut = Cut::Byte, redact = Redact::all());
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! assert_replay {
    ($replay:expr $(,)?) => {{
        let replayed = $crate::Replay::run(&$replay);
        let hint = $crate::__private::Hint::new(&replayed);
        let transcript = ::std::string::ToString::to_string(&replayed.transcript());
        $crate::__private::insta::assert_snapshot!(transcript);
        ::std::mem::drop(hint);
    }};
    ($policy:expr, $log:expr $(, $setting:ident = $value:expr)* $(,)?) => {
        $crate::assert_replay!($crate::Replay::new($log).policy($policy)$(.$setting($value))*)
    };
}

/// Says what to do next when a snapshot does not match.
#[derive(Debug)]
pub struct Hint {
    log: String,
}

impl Hint {
    /// A hint for this replay.
    #[must_use]
    pub fn new(replayed: &crate::Replayed) -> Self {
        Self { log: replayed.name.clone() }
    }
}

impl Drop for Hint {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        // Each test has a thread of its name.
        let thread = std::thread::current();
        let test = thread.name().unwrap_or_default();
        #[expect(clippy::print_stderr, reason = "beside the message of the failed assertion")]
        {
            eprintln!(
                "\nthe replay of {} is not what was accepted; if the new transcript is right,",
                self.log
            );
            eprintln!("accept it with: INSTA_UPDATE=always cargo test {test}");
        }
    }
}
