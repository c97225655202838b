//! What happens to a stream.

/// What happens to a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The stream arrives, with a secret redacted and a call released.
    Complete,
    /// The answer is not streamed.
    Whole,
    /// A rule denies the call.
    Denied,
    /// The judge of the call never answers: the deadline of the gate passes.
    JudgeHangs,
    /// The longest frame is exactly as long as a frame may be.
    AtTheLimit,
    /// The longest frame is one byte longer than that.
    OverTheLimit,
    /// The transport of the upstream breaks within a frame.
    UpstreamBreaks,
    /// The upstream closes its response within a frame, as if that were all.
    UpstreamEnds,
    /// The upstream says nothing any more, and keeps its connection open.
    UpstreamHangs,
    /// The client closes its connection in the middle of the answer.
    ClientLeaves,
}

impl Fate {
    pub(super) const ALL: [Self; 10] = [
        Self::Complete,
        Self::Whole,
        Self::Denied,
        Self::JudgeHangs,
        Self::AtTheLimit,
        Self::OverTheLimit,
        Self::UpstreamBreaks,
        Self::UpstreamEnds,
        Self::UpstreamHangs,
        Self::ClientLeaves,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Whole => "not streamed",
            Self::Denied => "call denied",
            Self::JudgeHangs => "judge hangs",
            Self::AtTheLimit => "frame at the limit",
            Self::OverTheLimit => "frame over the limit",
            Self::UpstreamBreaks => "upstream breaks",
            Self::UpstreamEnds => "upstream ends early",
            Self::UpstreamHangs => "upstream hangs",
            Self::ClientLeaves => "client leaves",
        }
    }
}
