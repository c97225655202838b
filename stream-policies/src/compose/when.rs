//! A policy for some requests or tools.

use std::collections::HashMap;
use std::fmt;

use stream_core::policy::{Ran, Step};
use stream_core::{
    BlockKey, Chunk, Context, End, Needs, Policy, PolicyError, Request, Runs, StreamBlock, StreamState,
    Verdict, async_trait,
};

use super::Condition;
use crate::SettingsError;
use crate::glob::Glob;
use crate::names::fold;

/// Runs a policy where a condition holds; elsewhere everything passes.
///
/// - Where the condition does not hold for the request, the stream leaves as if the policy were not there.
/// - With [`tools`](Self::tools), the policy sees calls of these tools, the provider's own included, what may hold such a call
///   (nobody knows who runs it), and the structure of the stream; text and other calls pass. Where the policy needs completed calls, other calls too are held until they are complete.
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
        let is_one = |name: &str| name.is_empty() || tools.iter().any(|glob| glob.matches(&fold(name)));
        let is_meant = || match block {
            StreamBlock::ToolCall(call) => is_one(call.name()),
            // It may hold a call of any tool: one in the text that cannot be read, an item that nobody knows.
            StreamBlock::Opaque(opaque) if opaque.runs() == Runs::Unknown => true,
            StreamBlock::Opaque(opaque) => opaque.name().is_some_and(is_one),
            _ => false,
        };
        *self.calls.entry(block.key()).or_insert_with(is_meant)
    }
}

/// What is left of a policy's needs where it is run for calls of some tools: calls, what may hold one, and structure.
pub(crate) fn needs_of_calls(needs: Needs) -> Needs {
    let opaque = needs.of_opaque();
    needs.only_calls().opaque(opaque)
}

#[async_trait]
impl<P: Policy> Policy for When<P> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn needs(&self, request: &Request) -> Needs {
        if self.condition.holds(request) == Some(false) {
            return Needs::nothing();
        }
        let needs = self.policy.needs(request);
        if self.tools.is_some() { needs_of_calls(needs) } else { needs }
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        match self.run(Step::Chunk(chunk), state, ctx) {
            Ran::Now(returned) => returned,
            Ran::Waits(hook) => hook.await,
        }
    }

    async fn on_end(
        &mut self,
        end: End,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        match self.run(Step::End(end), state, ctx) {
            Ran::Now(returned) => returned,
            Ran::Waits(hook) => hook.await,
        }
    }

    fn on_abort(&mut self) {
        if self.holds != Some(false) {
            self.policy.on_abort();
        }
    }

    // No future is made here for a policy that never waits.
    fn run<'a>(&'a mut self, step: Step, state: &'a StreamState, ctx: &'a mut Context<'_>) -> Ran<'a> {
        let holds = self.holds(ctx.request());
        let chunk = match step {
            Step::Chunk(chunk) if !holds || !self.shows(&chunk, state) => chunk,
            Step::End(_) if !holds => return Ran::Now(Ok(())),
            step => return self.policy.run(step, state, ctx),
        };
        ctx.send(chunk);
        Ran::Now(match state.just_completed() {
            Some(block) => ctx.settle(block.key(), Verdict::Release).map_err(Into::into),
            None => Ok(()),
        })
    }

    fn waits(&self) -> bool {
        self.policy.waits()
    }
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
