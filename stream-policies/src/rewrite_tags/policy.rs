//! The policy.

use std::sync::Arc;

use stream_core::text_calls::{Dialect, TextCall};
use stream_core::{
    Attention, CallTags, Chunk, Context, Needs, PolicyError, Replacement, Request, StreamState, SyncPolicy,
    ToolCall, Verdict,
};

/// Writes calls that stand in the text in other tags. See the [module](super).
#[derive(Debug, Clone)]
#[must_use]
pub struct RewriteTags(Arc<Rewrite>);

#[derive(Debug)]
struct Rewrite {
    to: To,
    /// What a request may ask for.
    allowed: Vec<To>,
}

/// How calls leave.
#[derive(Debug)]
pub(super) enum To {
    Tags { open: String, close: String },
    Dialect(Box<Dialect>),
    AsItCame,
}

impl To {
    /// Whether these are the tags that a request asks for, as `open,close`.
    fn is(&self, asked: &str) -> bool {
        match self {
            Self::Tags { open, close } => {
                asked.strip_prefix(open.as_str()).and_then(|rest| rest.strip_prefix(',')) == Some(close)
            }
            _ => false,
        }
    }
}

impl RewriteTags {
    /// Creates a policy that writes calls in this dialect, which may be one of the host's own.
    pub fn to(dialect: Dialect) -> Self {
        Self::new(To::Dialect(Box::new(dialect)), Vec::new())
    }

    pub(super) fn new(to: To, allowed: Vec<To>) -> Self {
        Self(Arc::new(Rewrite { to, allowed }))
    }

    /// How the calls of a request's answer leave: as the request asks for, if it may.
    fn to_of(&self, request: &Request) -> &To {
        let asked = request.get::<CallTags>();
        let allowed = asked.and_then(|tags| self.0.allowed.iter().find(|to| to.is(tags.as_str())));
        allowed.unwrap_or(&self.0.to)
    }

    /// The call's new text; `None` where it cannot be said.
    fn rewrite(&self, call: &ToolCall, written: &TextCall, request: &Request) -> Option<String> {
        match self.to_of(request) {
            To::Tags { open, close } => Some(format!("{open}{}{close}", written.told())),
            To::Dialect(dialect) => dialect.write(call.name(), call.arguments()),
            To::AsItCame => None,
        }
    }
}

impl SyncPolicy for RewriteTags {
    fn name(&self) -> &str {
        "rewrite_tags"
    }

    fn needs(&self, _: &Request) -> Needs {
        let needs = Needs::nothing().calls(Attention::Completed).guards(false).text_calls();
        if self.0.allowed.is_empty() { needs } else { needs.call_tags() }
    }

    fn on_chunk(&mut self, _: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) else {
            return Ok(());
        };
        match call.written().and_then(|written| self.rewrite(call, written, ctx.request())) {
            Some(text) => {
                let reason = match self.to_of(ctx.request()) {
                    To::Dialect(dialect) => format!("the dialect {}", dialect.name()),
                    _ => "other tags".to_owned(),
                };
                ctx.settle(call.key(), Verdict::Replace(Replacement::written(text).because(reason)))?;
            }
            None => ctx.settle(call.key(), Verdict::Release)?,
        }
        Ok(())
    }
}
