//! Several judges, one after the other.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use stream_core::{PolicyError, Verdict};

use super::{CompletedCall, Cost, Judge, asks};

/// Asks several judges one after the other, the cheapest first: all must allow. After a denial nobody else is asked.
///
/// - Judges of one [`Cost`] are asked in the order they were added.
/// - After a replacement the others are asked about the call as it would leave.
/// - Where a judge fails, the others are still heard: one of them may deny. If none does, the failure is the answer.
/// - Without any judge every call is denied.
#[derive(Clone, Default)]
#[must_use]
pub struct CheapestFirst {
    judges: Vec<Arc<dyn Judge>>,
}

impl CheapestFirst {
    /// Creates a list without judges.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a judge that must allow.
    pub fn and(mut self, judge: impl Judge + 'static) -> Self {
        self.judges.push(Arc::new(judge));
        self.judges.sort_by_key(Judge::cost);
        self
    }
}

#[async_trait]
impl Judge for CheapestFirst {
    async fn judge(&self, mut call: CompletedCall) -> Result<Verdict, PolicyError> {
        if self.judges.is_empty() {
            return Ok(Verdict::drop("there is no judge"));
        }
        let asked = call.clone();
        let mut replacement = None;
        let mut failure = None;
        for judge in self.judges.iter().filter(|judge| asks(judge, &asked)) {
            match judge.judge(call.clone()).await {
                Ok(Verdict::Release) => {}
                Ok(Verdict::Replace(with)) => {
                    let Some(arguments) = with.new_arguments() else {
                        // No call is left that another judge could be asked about.
                        replacement = Some(with);
                        break;
                    };
                    call = call.replaced(with.name(), arguments);
                    // The name of an earlier replacement stands, unless this one has its own.
                    replacement = Some(with.named(call.name()));
                }
                Ok(denial) => return Ok(denial),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(replacement.map_or(Verdict::Release, Verdict::Replace)),
        }
    }

    fn cost(&self) -> Cost {
        self.judges.iter().map(Judge::cost).max().unwrap_or(Cost::Instant)
    }

    fn judges_server_calls(&self) -> bool {
        self.judges.iter().any(Judge::judges_server_calls)
    }
}

impl fmt::Debug for CheapestFirst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheapestFirst").field("judges", &self.judges.len()).finish()
    }
}
