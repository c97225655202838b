//! The calls of a turn, run side by side.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::join_all;
use stream_core::{CallFlavor, StreamState, ToolCall};
use tokio::time::{Instant, timeout};

use super::executor::{Call, Executor, ToolResult};
use super::join::Answered;
use super::json::has_one_meaning;
use super::record::{Observe, Run, RunOutcome};
use super::tools::Chosen;
use crate::Facts;

/// The calls of a turn that is to be looped.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    id: Option<String>,
    name: String,
    arguments: String,
    flavor: CallFlavor,
    is_ready: bool,
    /// Who runs it; `None`: the client would.
    executor: Option<Owned>,
}

#[derive(Clone)]
struct Owned {
    label: String,
    executor: Arc<dyn Executor>,
}

impl std::fmt::Debug for Owned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.label)
    }
}

/// The calls of an answer, in the order they opened.
pub(super) fn planned(state: &StreamState, chosen: &Chosen) -> Vec<Planned> {
    state.tool_calls().map(|call| plan(call, chosen)).collect()
}

fn plan(call: &ToolCall, chosen: &Chosen) -> Planned {
    // The API's own tools are the client's, whatever their calls are called.
    let entry =
        chosen.entry(call.name()).filter(|_| call.flavor() != CallFlavor::Builtin && !call.is_unopened());
    let has_meaning = call.flavor() == CallFlavor::Custom
        || call.arguments().trim().is_empty()
        || has_one_meaning(call.arguments());
    Planned {
        id: call.id().map(str::to_owned),
        name: call.name().to_owned(),
        arguments: call.arguments().to_owned(),
        flavor: call.flavor(),
        is_ready: call.is_finished() && has_meaning,
        executor: entry
            .map(|entry| Owned { label: entry.label.clone(), executor: Arc::clone(&entry.executor) }),
    }
}

impl Planned {
    /// Whether the proxy runs it.
    pub(super) fn is_own(&self) -> bool {
        self.executor.is_some()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn answered(self, result: ToolResult) -> Answered {
        let Self { id, name, arguments, flavor, .. } = self;
        Answered { id, name, arguments, flavor, result }
    }
}

/// What all runs of a loop share.
pub(super) struct Runner {
    pub(super) facts: Facts,
    pub(super) deadline: Duration,
    pub(super) result_bytes: usize,
    pub(super) observe: Option<Arc<Observe>>,
}

impl Runner {
    /// Runs the proxy's calls of a turn, and answers those of the client.
    ///
    /// Dropping the future drops every call under way.
    pub(super) async fn run(&self, calls: Vec<Planned>, iteration: u32) -> Vec<Answered> {
        join_all(calls.into_iter().map(|call| self.one(call, iteration))).await
    }

    async fn one(&self, planned: Planned, iteration: u32) -> Answered {
        let Some(Owned { label, executor }) = planned.executor.clone() else {
            return planned.answered(ToolResult::error(CLIENTS));
        };
        let mut record = Record {
            run: Run {
                tool: label,
                api: self.facts.api(),
                iteration,
                took: Duration::ZERO,
                outcome: RunOutcome::Cancelled,
            },
            start: Instant::now(),
            runner: self,
        };
        if !planned.is_ready {
            record.run.outcome = RunOutcome::Refused;
            return planned.answered(ToolResult::error(NOT_WHOLE));
        }
        let call = Call {
            id: planned.id.clone(),
            name: planned.name.clone(),
            arguments: planned.arguments.clone(),
            iteration,
        };
        let running = AssertUnwindSafe(async { executor.run(&call, &self.facts).await }).catch_unwind();
        let (result, outcome) = match timeout(self.deadline, running).await {
            Err(_) => {
                let message = format!("the tool did not answer within {:?} and was stopped", self.deadline);
                (ToolResult::error(message), RunOutcome::TimedOut)
            }
            Ok(Err(_)) => (ToolResult::error("the tool failed"), RunOutcome::Failed),
            Ok(Ok(result)) => self.bounded(result),
        };
        record.run.outcome = outcome;
        drop(record);
        planned.answered(result)
    }

    fn bounded(&self, mut result: ToolResult) -> (ToolResult, RunOutcome) {
        let length = result.text.len();
        if length <= self.result_bytes {
            let outcome = if result.is_error { RunOutcome::Failed } else { RunOutcome::Ok };
            return (result, outcome);
        }
        let end = (0..=self.result_bytes).rev().find(|end| result.text.is_char_boundary(*end));
        result.text.truncate(end.unwrap_or_default());
        result.text.shrink_to_fit();
        result.text +=
            &format!("\n[cut: the result has {length} bytes, of which {} are shown]", result.text.len());
        (result, RunOutcome::Cut)
    }
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// Tells of a run when it is over, however it ends.
struct Record<'a> {
    run: Run,
    start: Instant,
    runner: &'a Runner,
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        self.run.took = self.start.elapsed();
        if let Some(observe) = &self.runner.observe {
            observe(&self.run, &self.runner.facts);
        }
    }
}

const CLIENTS: &str = "this call was not run: it is run by the client, which gets calls only in a turn that has no others; \
                       call it again, alone or with calls of its kind";
const NOT_WHOLE: &str =
    "this call was not run: its arguments are not one whole JSON value that says each thing once";
