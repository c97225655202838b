//! Inputs beside the upstream: verdicts, and commands of the host.

use std::task::{Context, Poll};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;

use super::handle::Handle;
use crate::engine::{Input, Judging};
use crate::wire::Ending;

/// Inputs beside the upstream: verdicts, and commands of the host.
#[derive(Default)]
pub(super) struct Aside {
    /// The judges that run, if any.
    judges: Option<Box<FuturesUnordered<Judging>>>,
    came: Vec<Input>,
}

impl Aside {
    pub(super) fn judge(&mut self, judging: Judging) {
        self.judges.get_or_insert_default().push(judging);
    }

    /// Returns whether no input waits and no judge runs.
    pub(super) fn is_idle(&self) -> bool {
        self.judges.is_none() && self.came.is_empty()
    }

    /// Polls judges and commands; returns whether an input waits.
    pub(super) fn poll(&mut self, handle: &Handle, cx: &mut Context<'_>) -> bool {
        if let Some(judges) = &mut self.judges {
            while let Poll::Ready(Some(judged)) = judges.poll_next_unpin(cx) {
                self.came.extend(judged.map(|(ticket, verdict)| Input::Verdict(ticket, verdict)));
            }
        }
        if self.judges.as_ref().is_some_and(|judges| judges.is_empty()) {
            self.judges = None;
        }
        self.came.append(&mut handle.commands(cx.waker()));
        !self.came.is_empty()
    }

    /// Takes the inputs.
    pub(super) fn take(&mut self) -> Vec<Input> {
        std::mem::take(&mut self.came)
    }

    /// Takes the host's command to stop the stream.
    pub(super) fn take_stop(&mut self) -> Option<Ending> {
        let at = self.came.iter().position(|input| matches!(input, Input::Stop(_)))?;
        match self.came.remove(at) {
            Input::Stop(ending) => Some(ending),
            _ => None,
        }
    }
}
