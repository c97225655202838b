//! The policies of a stream, in a guard that tells them when it is dropped.

use crate::policy::Policy;

/// Calls `on_abort` of every policy that has not come to its end.
#[derive(Default)]
pub(crate) struct Policies {
    list: Box<[Box<dyn Policy>]>,
    over: Box<[bool]>,
}

impl Policies {
    pub(crate) fn new(list: impl Iterator<Item = Box<dyn Policy>>) -> Self {
        let list: Box<[_]> = list.collect();
        let over = list.iter().map(|_| false).collect();
        Self { list, over }
    }

    pub(crate) fn get(&mut self, stage: usize) -> Option<&mut Box<dyn Policy>> {
        self.list.get_mut(stage)
    }

    /// Whether hooks of the policy may have to wait.
    pub(crate) fn may_wait(&self, stage: usize) -> bool {
        self.list.get(stage).is_some_and(Policy::waits)
    }

    /// The policy ended, failed or terminated: it is not told again.
    pub(crate) fn close(&mut self, stage: usize) {
        if let Some(over) = self.over.get_mut(stage) {
            *over = true;
        }
    }

    /// The stream is over: none of them is told again.
    pub(crate) fn close_all(&mut self) {
        self.over.fill(true);
    }

    pub(crate) fn abort(&mut self, stage: usize) {
        if let (Some(policy), Some(over)) = (self.list.get_mut(stage), self.over.get_mut(stage))
            && !std::mem::replace(over, true)
        {
            policy.on_abort();
        }
    }
}

impl Drop for Policies {
    fn drop(&mut self) {
        (0..self.list.len()).for_each(|stage| self.abort(stage));
    }
}
