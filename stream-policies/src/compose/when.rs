//! A policy for some requests or tools.

use std::collections::HashMap;
use std::fmt;

use stream_core::{
    Attention, BlockKey, Chunk, Context, End, Needs, Policy, PolicyError, Request, Scrub, StreamState,
    async_trait,
};

use super::{Condition, delegate};
use crate::SettingsError;
use crate::glob::Glob;
use crate::names::fold;

/// Runs a policy where a condition holds; elsewhere everything passes.
///
/// - Where the condition does not hold for the request, the stream leaves as if the policy were not there.
/// - With [`tools`](Self::tools), the policy sees calls of these tools and the structure of the stream; text, opaque blocks
///   and other calls pass. Where the policy needs completed calls, other calls too are held until they are complete.
/// - What cannot be answered (no model named, a call whose name never came) counts as a condition that holds.
#[derive(Clone)]
pub struct When<P> {
    condition: Condition,
    tools: Option<Vec<Glob>>,
    policy: P,
    /// Whether the condition holds for the request, once it was asked.
    holds: Option<bool>,
    /// Whether the policy is shown a call, once its first chunk came: a later name changes nothing.
    calls: HashMap<BlockKey, bool>,
}

impl<P: Policy> When<P> {
    /// Runs the policy for requests for which the condition holds.
    pub fn new(condition: Condition, policy: P) -> Self {
        Self { condition, tools: None, policy, holds: None, calls: HashMap::new() }
    }

    /// Runs the policy for calls of tools with such names: `*` stands for any text, `?` for one character. Case, width and
    /// invisible characters make no difference: a client may run `Bash` as `bash`.
    ///
    /// # Errors
    ///
    /// When one of them is no glob.
    pub fn tools<S: AsRef<str>>(mut self, globs: impl IntoIterator<Item = S>) -> Result<Self, SettingsError> {
        let read = |(at, glob): (usize, S)| Glob::new(&fold(glob.as_ref()), &format!("tools[{at}]"));
        self.tools = Some(globs.into_iter().enumerate().map(read).collect::<Result<_, _>>()?);
        Ok(self)
    }

    /// As [`tools`](Self::tools), with globs that were read before; `None` for all that the policy looks at.
    pub(crate) fn with_tools(mut self, globs: Option<Vec<Glob>>) -> Self {
        self.tools = globs;
        self
    }

    fn holds(&mut self, request: &Request) -> bool {
        *self.holds.get_or_insert_with(|| self.condition.holds(request) != Some(false))
    }

    /// Whether the policy is to see this step.
    fn shows(&mut self, chunk: &Chunk, state: &StreamState) -> bool {
        let Some(tools) = &self.tools else { return true };
        let block = chunk.block().and_then(|key| state.block(key)).or(state.just_completed());
        let Some(block) = block else { return true };
        let Some(call) = block.as_tool_call() else { return false };
        let name = call.name();
        *self
            .calls
            .entry(call.key())
            .or_insert_with(|| name.is_empty() || tools.iter().any(|glob| glob.matches(&fold(name))))
    }
}

#[async_trait]
impl<P: Policy> Policy for When<P> {
    delegate!(policy: name on_failure time_limit enforces awaits);

    fn needs(&self) -> Needs {
        let needs = self.policy.needs();
        if self.tools.is_some() { only_calls(needs) } else { needs }
    }

    fn needs_for(&self, request: &Request) -> Needs {
        if self.condition.holds(request) == Some(false) {
            return Needs::nothing();
        }
        let needs = self.policy.needs_for(request);
        if self.tools.is_some() { only_calls(needs) } else { needs }
    }

    fn scrub(&self, request: &Request) -> Option<Box<dyn Scrub>> {
        // Where it sees calls alone, no other string is its to change.
        let looks = self.tools.is_none() && self.condition.holds(request) != Some(false);
        looks.then(|| self.policy.scrub(request)).flatten()
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if self.holds(ctx.request()) && self.shows(&chunk, state) {
            return self.policy.on_chunk(chunk, state, ctx).await;
        }
        if let Some(block) = state.just_completed() {
            ctx.flush_block(block.key());
        }
        ctx.send(chunk);
        Ok(())
    }

    async fn on_end(
        &mut self,
        end: End,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if self.holds(ctx.request()) {
            return self.policy.on_end(end, state, ctx).await;
        }
        Ok(())
    }

    fn on_abort(&mut self) {
        if self.holds != Some(false) {
            self.policy.on_abort();
        }
    }
}

/// What is left of a policy's needs where it sees nothing but calls and structure.
fn only_calls(needs: Needs) -> Needs {
    let none = Attention::Nothing;
    needs.content(none).reasoning(none).refusal(none).opaque(none)
}

impl<P: fmt::Debug> fmt::Debug for When<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("When")
            .field("condition", &self.condition)
            .field("tools", &self.tools)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
