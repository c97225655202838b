//! The policy.

use std::fmt;
use std::sync::Arc;

use stream_core::text_calls::UNPARSED;
use stream_core::{
    Attention, Chunk, Context, Ending, Needs, PolicyError, Replacement, Request, SessionKey, StreamBlock,
    StreamState, SyncPolicy, Verdict,
};

use super::attempts::{Attempts, MemoryAttempts};
use super::failure::ParameterFailure;
use super::rule::ParameterRules;
use super::settings::{Notice, OnInvalid, ValidateParametersSettings};

/// A policy that releases only calls whose arguments fit their tool. The page of the [module](super) has the checks.
///
/// Clones share compiled schemas and the count of attempts: make one value at start, and a clone for each stream.
#[derive(Clone)]
#[must_use]
pub struct ValidateParameters {
    settings: Arc<ValidateParametersSettings>,
    rules: Arc<ParameterRules>,
    attempts: Arc<dyn Attempts>,
    report: Option<Arc<Report>>,
}

type Report = dyn Fn(&ParameterFailure) + Send + Sync;

impl ValidateParameters {
    /// A policy with settings that were checked.
    pub(super) fn new(settings: ValidateParametersSettings) -> Self {
        Self {
            rules: Arc::new(ParameterRules::new(&settings)),
            attempts: Arc::new(MemoryAttempts::default()),
            report: None,
            settings: Arc::new(settings),
        }
    }

    /// Counts attempts in the host's own store.
    pub fn attempts(mut self, attempts: impl Attempts + 'static) -> Self {
        self.attempts = Arc::new(attempts);
        self
    }

    /// Reports every failure to the host.
    pub fn report(mut self, report: impl Fn(&ParameterFailure) + Send + Sync + 'static) -> Self {
        self.report = Some(Arc::new(report));
        self
    }

    /// The session of the request, where attempts are counted.
    fn session(&self, ctx: &Context<'_>) -> Option<SessionKey> {
        self.settings.budget.and_then(|_| ctx.request().session().cloned())
    }

    /// Something opaque: a call in the text that is not whole has no arguments that could hold.
    fn opaque(&self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        match state.current_block() {
            Some(StreamBlock::Opaque(block)) if block.kind() == UNPARSED => {
                let (key, verdict) =
                    (block.key(), self.verdict(&ParameterFailure::unparsed(block.problem())));
                ctx.settle(key, verdict)?;
            }
            _ => ctx.send(chunk),
        }
        Ok(())
    }

    fn verdict(&self, failure: &ParameterFailure) -> Verdict {
        if let Some(report) = &self.report {
            report(failure);
        }
        // The client never got the call: its id would mean nothing to it.
        let told = ParameterFailure { call_id: None, ..failure.clone() };
        if failure.is_exhausted() || self.settings.on_invalid == OnInvalid::Terminate {
            return Verdict::Terminate(Ending::refuse(format!(
                "an invalid tool call ended the answer: {told}"
            )));
        }
        let notice = match self.settings.notice {
            Notice::Sentence => Some(format!("A tool call was not made: {told}.")),
            Notice::Json => Some(told.to_json()),
            Notice::Nothing => None,
        };
        Verdict::Drop { reason: failure.to_json(), notice }
    }
}

impl SyncPolicy for ValidateParameters {
    fn name(&self) -> &str {
        "validate_parameters"
    }

    fn needs(&self, _: &Request) -> Needs {
        // Opaque blocks for one kind of them: calls in the text that are not whole.
        let needs = Needs::nothing().calls(Attention::Completed).opaque(Attention::Chunks);
        if self.settings.budget.is_some() { needs.session() } else { needs }
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if chunk.is_payload() {
            return self.opaque(chunk, state, ctx);
        }
        let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) else {
            return Ok(());
        };
        let (key, session) = (call.key(), self.session(ctx));
        let attempts = Arc::clone(&self.attempts);
        match (self.rules.examine(call, ctx.request()), session) {
            (Ok(None), None) => ctx.settle(key, Verdict::Release)?,
            (Ok(Some(arguments)), None) => {
                ctx.settle(key, Verdict::Replace(Replacement::arguments(arguments)))?;
            }
            (Ok(arguments), Some(session)) => {
                let known = self.rules.tool(call.name(), ctx.request());
                let tool = known.unwrap_or(call.name()).to_owned();
                ctx.decide(key, async move {
                    attempts.succeeded(&session, &tool).await?;
                    Ok(match arguments {
                        Some(arguments) => Verdict::Replace(Replacement::arguments(arguments)),
                        None => Verdict::Release,
                    })
                })?;
            }
            (Err(failure), None) => {
                let verdict = self.verdict(&failure);
                ctx.settle(key, verdict)?;
            }
            (Err(mut failure), Some(session)) => {
                let policy = self.clone();
                ctx.decide(key, async move {
                    failure.attempt = Some(attempts.failed(&session, &failure.tool).await?);
                    failure.budget = policy.settings.budget;
                    Ok(policy.verdict(&failure))
                })?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ValidateParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValidateParameters").field("settings", &self.settings).finish_non_exhaustive()
    }
}
