//! The policies of a stream.

use crate::policy::Policy;

/// The policies of a stream, each with a mark that its last hook was called. Dropping the list calls `on_abort` of every other policy.
#[derive(Default)]
pub(crate) struct Policies(Box<[(Box<dyn Policy>, bool)]>);

impl Policies {
    pub(crate) fn new(policies: impl Iterator<Item = Box<dyn Policy>>) -> Self {
        Self(policies.map(|policy| (policy, false)).collect())
    }

    pub(crate) fn get(&mut self, stage: usize) -> Option<&mut Box<dyn Policy>> {
        self.0.get_mut(stage).map(|(policy, _)| policy)
    }

    /// Returns whether hooks of the policy may have to wait.
    pub(crate) fn may_wait(&self, stage: usize) -> bool {
        self.0.get(stage).is_some_and(|(policy, _)| policy.waits())
    }

    /// Marks a policy that ended, failed or terminated: no hook of it is called again.
    pub(crate) fn close(&mut self, stage: usize) {
        if let Some((_, is_over)) = self.0.get_mut(stage) {
            *is_over = true;
        }
    }

    /// Marks all policies, at the end of the stream.
    pub(crate) fn close_all(&mut self) {
        self.0.iter_mut().for_each(|(_, is_over)| *is_over = true);
    }

    /// Calls `on_abort` of a policy, unless its last hook was called.
    pub(crate) fn abort(&mut self, stage: usize) {
        if let Some((policy, is_over)) = self.0.get_mut(stage)
            && !std::mem::replace(is_over, true)
        {
            policy.on_abort();
        }
    }
}

impl Drop for Policies {
    fn drop(&mut self) {
        (0..self.0.len()).for_each(|stage| self.abort(stage));
    }
}
