//! Limits of a stream.

use std::time::Duration;

/// The memory and time that one stream may use. A stream that exceeds a limit of memory, or [`idle`](Self::idle), ends with the format's error
/// event; [`ErrorKind`](crate::ErrorKind) names the limit. The defaults are far above any recorded stream.
///
/// ```
/// use std::time::Duration;
/// use stream_core::Limits;
///
/// let limits = Limits::default().held(1 << 20).policy(Duration::from_secs(5));
/// assert_eq!((limits.frame, limits.blocks), (16 << 20, 16_384));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The length of the longest frame, in bytes.
    pub frame: usize,
    /// The text or arguments of one block, in bytes. Counted only where a policy needs them.
    pub block: usize,
    /// The bytes held at once, over all stages.
    pub held: usize,
    /// The number of blocks. A block costs about 1.6 kB per stage, however short it is: the default, 16,384, is about as much memory as
    /// [`held`](Self::held).
    pub blocks: usize,
    /// The number of choices.
    pub choices: usize,
    /// The time without a byte from the upstream.
    pub idle: Duration,
    /// The time of one hook, and of one decision. A late hook closes the stream, and a late judge drops its block, unless the stage
    /// [fails open](crate::policy::Stage::fail_open).
    pub policy: Duration,
    /// The time without a byte to the client after which a keep-alive is written while something is held; `None` for no keep-alives.
    pub keep_alive: Option<Duration>,
}

impl Limits {
    /// Sets [`frame`](Self::frame).
    #[must_use]
    pub const fn frame(mut self, bytes: usize) -> Self {
        self.frame = bytes;
        self
    }

    /// Sets [`block`](Self::block).
    #[must_use]
    pub const fn block(mut self, bytes: usize) -> Self {
        self.block = bytes;
        self
    }

    /// Sets [`held`](Self::held).
    #[must_use]
    pub const fn held(mut self, bytes: usize) -> Self {
        self.held = bytes;
        self
    }

    /// Sets [`blocks`](Self::blocks).
    #[must_use]
    pub const fn blocks(mut self, blocks: usize) -> Self {
        self.blocks = blocks;
        self
    }

    /// Sets [`choices`](Self::choices).
    #[must_use]
    pub const fn choices(mut self, choices: usize) -> Self {
        self.choices = choices;
        self
    }

    /// Sets [`idle`](Self::idle).
    #[must_use]
    pub const fn idle(mut self, time: Duration) -> Self {
        self.idle = time;
        self
    }

    /// Sets [`policy`](Self::policy).
    #[must_use]
    pub const fn policy(mut self, time: Duration) -> Self {
        self.policy = time;
        self
    }

    /// Sets [`keep_alive`](Self::keep_alive).
    #[must_use]
    pub const fn keep_alive(mut self, every: Option<Duration>) -> Self {
        self.keep_alive = every;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame: 16 << 20,
            block: 16 << 20,
            held: 32 << 20,
            blocks: 1 << 14,
            choices: 128,
            idle: Duration::from_secs(300),
            policy: Duration::from_secs(30),
            keep_alive: Some(Duration::from_secs(15)),
        }
    }
}
