//! What passes between the engine and its host.

use std::fmt;

use crate::context::VerdictFuture;
use crate::ledger::Ticket;
use crate::policy::PolicyError;

/// What the host has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Call `on_chunk` of this stage's policy with what [`Engine::chunk`](super::Engine::chunk) gives, then [`Engine::commit`](super::Engine::commit) or
    /// [`Engine::fail`](super::Engine::fail).
    Chunk(usize),
    /// Call `on_end` of this stage's policy with what [`Engine::ending`](super::Engine::ending) gives, then commit or fail.
    End(usize),
    /// Call `on_abort` of this stage's policy.
    Abort(usize),
    /// Nothing: wait for bytes (if [`Engine::wants_input`](super::Engine::wants_input)), a verdict or the [deadline](super::Engine::deadline).
    Wait,
    /// The stream is over, all output is there.
    Done,
}

/// A decision that a policy asked for: the host polls the future and answers with [`Engine::verdict`](super::Engine::verdict).
pub struct Judging {
    /// Names the decision.
    pub ticket: Ticket,
    /// The judge at work.
    pub future: VerdictFuture,
}

impl fmt::Debug for Judging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judging").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

/// Why a hook did not return `Ok`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// It returned an error.
    Failed(PolicyError),
    /// It panicked.
    Panicked,
    /// It took longer than its [time limit](super::Engine::time_limit).
    TimedOut,
}
