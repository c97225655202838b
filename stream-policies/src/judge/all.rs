//! Several judges side by side.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use stream_core::{PolicyError, Verdict};

use super::{CompletedCall, Cost, Judge, asks};

/// Asks several judges at once: all must allow. The first denial is the answer, and cancels the other questions.
///
/// - Where a judge fails, the others are still heard: one of them may deny. If none does, the failure is the answer.
/// - A replacement is a denial here: nobody would have judged what it puts in place. Put a judge that replaces into
///   [`CheapestFirst`](super::CheapestFirst).
/// - Without any judge every call is denied.
///
/// ```
/// use futures::FutureExt as _;
/// use stream_core::Verdict;
/// use stream_policies::judge::{All, CompletedCall, Judge as _};
///
/// let both = All::new()
///     .and(async |_: CompletedCall| Ok(Verdict::Release))
///     .and(async |_: CompletedCall| Ok(Verdict::drop("not today")));
/// let verdict = both.judge(CompletedCall::new("rm", "{}")).now_or_never().unwrap();
/// assert_eq!(verdict.unwrap(), Verdict::drop("not today"));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct All {
    judges: Vec<Arc<dyn Judge>>,
}

impl All {
    /// Creates a list without judges.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a judge that must allow.
    pub fn and(mut self, judge: impl Judge + 'static) -> Self {
        self.judges.push(Arc::new(judge));
        self
    }
}

#[async_trait]
impl Judge for All {
    async fn judge(&self, call: CompletedCall) -> Result<Verdict, PolicyError> {
        if self.judges.is_empty() {
            return Ok(Verdict::drop("there is no judge"));
        }
        let mut questions: FuturesUnordered<_> = self
            .judges
            .iter()
            .filter(|judge| asks(judge, &call))
            .map(|judge| judge.judge(call.clone()))
            .collect();
        let mut failure = None;
        while let Some(answer) = questions.next().await {
            match answer {
                Ok(Verdict::Release) => {}
                Ok(Verdict::Replace(_)) => {
                    return Ok(Verdict::drop("a replacement beside other judges is judged by none of them"));
                }
                Ok(denial) => return Ok(denial),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(Verdict::Release), Err)
    }

    fn cost(&self) -> Cost {
        self.judges.iter().map(Judge::cost).max().unwrap_or(Cost::Instant)
    }

    fn judges_server_calls(&self) -> bool {
        self.judges.iter().any(Judge::judges_server_calls)
    }
}

impl fmt::Debug for All {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("All").field("judges", &self.judges.len()).finish()
    }
}
