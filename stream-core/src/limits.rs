//! Limits, each with a clear error and a valid ending (rule 26).

use std::time::Duration;

/// The memory and time that one stream may use. The defaults are far above any recorded stream.
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
    /// The longest frame, in bytes.
    pub frame: usize,
    /// The most text or arguments kept of one block, in bytes; only counted where a policy needs the text.
    pub block: usize,
    /// The most bytes held back at once, over all stages.
    pub held: usize,
    /// The most blocks in one stream. A block costs about 1.6 kB for each policy of the chain, however little it says: the
    /// default, 16,384, is about as much memory as [`held`](Self::held).
    pub blocks: usize,
    /// The most choices in one stream.
    pub choices: usize,
    /// The longest silence of the upstream.
    pub idle: Duration,
    /// The longest time a policy's hook or decision may take.
    pub policy: Duration,
    /// After how long a silence towards the client a keep-alive is sent; `None`: never.
    pub keep_alive: Option<Duration>,
}

impl Limits {
    /// Sets the longest frame, in bytes.
    #[must_use]
    pub const fn frame(mut self, bytes: usize) -> Self {
        self.frame = bytes;
        self
    }

    /// Sets the most text or arguments kept of one block, in bytes.
    #[must_use]
    pub const fn block(mut self, bytes: usize) -> Self {
        self.block = bytes;
        self
    }

    /// Sets the most bytes held back at once.
    #[must_use]
    pub const fn held(mut self, bytes: usize) -> Self {
        self.held = bytes;
        self
    }

    /// Sets the most blocks in one stream.
    #[must_use]
    pub const fn blocks(mut self, blocks: usize) -> Self {
        self.blocks = blocks;
        self
    }

    /// Sets the most choices in one stream.
    #[must_use]
    pub const fn choices(mut self, choices: usize) -> Self {
        self.choices = choices;
        self
    }

    /// Sets the longest silence of the upstream.
    #[must_use]
    pub const fn idle(mut self, time: Duration) -> Self {
        self.idle = time;
        self
    }

    /// Sets the longest time a policy's hook or decision may take.
    #[must_use]
    pub const fn policy(mut self, time: Duration) -> Self {
        self.policy = time;
        self
    }

    /// Sets after how long a silence towards the client a keep-alive is sent while something is held; `None`: never.
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
