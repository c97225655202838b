//! The policy.

use serde_json::Value;
use stream_core::{
    Attention, Chunk, Context, EffectError, Needs, PolicyError, Replacement, Request, StreamState,
    SyncPolicy, ToolCall, Verdict,
};

/// Turns calls that stand in the text into structured ones. See the [module](super).
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct PromoteTextCalls {
    /// Calls that left, or will, and that have no twin in the other channel yet.
    promoted: Vec<Said>,
    native: Vec<Said>,
    made: u32,
}

/// What a call says, however it is written.
#[derive(Debug, Clone, PartialEq)]
struct Said {
    choice: u32,
    name: String,
    arguments: Value,
}

impl Said {
    fn of(call: &ToolCall) -> Option<Self> {
        let arguments = match call.arguments().trim() {
            "" => Value::Object(serde_json::Map::new()),
            text => serde_json::from_str(text).ok()?,
        };
        Some(Self { choice: call.choice(), name: call.name().to_owned(), arguments })
    }
}

impl PromoteTextCalls {
    /// A policy for one stream.
    pub fn new() -> Self {
        Self::default()
    }

    fn promote(
        &mut self,
        call: &ToolCall,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let said = Said::of(call);
        if let Some(said) = &said
            && take(&mut self.native, said)
        {
            ctx.settle(call.key(), Verdict::drop(TWICE))?;
            return Ok(());
        }
        let id = call.id().map_or_else(|| self.id(call, state), str::to_owned);
        match ctx.settle(call.key(), Verdict::Replace(Replacement::structured(id))) {
            Ok(()) => self.promoted.extend(said),
            Err(EffectError::NotAnObject) => ctx.settle(call.key(), Verdict::Release)?,
            Err(other) => return Err(other.into()),
        }
        Ok(())
    }

    fn pass(&mut self, call: &ToolCall, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let verdict = match Said::of(call) {
            Some(said) if take(&mut self.promoted, &said) => Verdict::drop(TWICE),
            said => {
                self.native.extend(said);
                Verdict::Release
            }
        };
        Ok(ctx.settle(call.key(), verdict)?)
    }

    /// An id that neither this answer nor one before it has used.
    fn id(&mut self, call: &ToolCall, state: &StreamState) -> String {
        self.made += 1;
        let texts = [state.id().unwrap_or_default(), call.name(), call.arguments()];
        let hash = texts
            .iter()
            .flat_map(|text| text.bytes().chain([0]))
            .fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
        format!("call_{hash:016x}_{}", self.made)
    }
}

impl SyncPolicy for PromoteTextCalls {
    fn name(&self) -> &str {
        "promote_text_calls"
    }

    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().calls(Attention::Completed).guards(false).text_calls()
    }

    fn on_chunk(&mut self, _: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        match state.just_completed().and_then(|block| block.as_tool_call()) {
            Some(call) if call.written().is_some() => self.promote(call, state, ctx),
            Some(call) => self.pass(call, ctx),
            None => Ok(()),
        }
    }
}

/// Takes one that says the same.
fn take(list: &mut Vec<Said>, said: &Said) -> bool {
    let found = list.iter().position(|known| known == said);
    found.map(|at| list.swap_remove(at)).is_some()
}

const TWICE: &str = "the same call came as text and as a call";
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;
