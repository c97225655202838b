//! Limits, each with a clear error and a valid ending (rule 26).

use std::time::Duration;

/// What one stream may use. The defaults are far above any recorded stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest frame, in bytes.
    pub frame: usize,
    /// The most text or arguments kept of one block, in bytes; only counted where a policy needs the text.
    pub block: usize,
    /// The most bytes held back at once, over all stages.
    pub held: usize,
    /// The most blocks in one stream.
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

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame: 16 << 20,
            block: 16 << 20,
            held: 32 << 20,
            blocks: 200_000,
            choices: 128,
            idle: Duration::from_secs(300),
            policy: Duration::from_secs(30),
            keep_alive: Some(Duration::from_secs(15)),
        }
    }
}
