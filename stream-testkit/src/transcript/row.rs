//! One row of a transcript: a step, and all that came of it.

use std::time::Duration;

use stream_core::record::Staged;
use stream_core::{ChunkKind, Decision, Structure};

use super::text::{bytes, line};
use crate::replay::Shown;

/// A row.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) at: Duration,
    /// When the last thing happened that belongs to it.
    pub(super) until: Duration,
    /// The frame that came, and its length.
    pub(super) frame: Option<(usize, usize)>,
    pub(super) step: String,
    pub(super) block: String,
    /// What left: frames as they came, or texts written anew.
    pub(super) out: Vec<Left>,
    pub(super) held: Option<usize>,
    pub(super) policy: String,
    pub(super) staged: Option<String>,
    pub(super) decisions: Vec<Decision>,
    pub(super) error: Option<String>,
}

/// What left: a frame as it came, or something written anew, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Frame(usize),
    Written(usize),
}

impl Row {
    pub(super) fn new(at: Duration, step: &str) -> Self {
        Self { at, until: at, step: step.to_owned(), ..Self::default() }
    }

    /// Whether a frame came and nothing more is known yet.
    pub(super) fn is_untold(&self) -> bool {
        self.frame.is_some() && self.step.is_empty()
    }

    /// Whether a hook was called and has not returned.
    pub(super) fn is_pending(&self) -> bool {
        !self.policy.is_empty() && self.staged.is_none()
    }

    pub(super) fn show(&mut self, shown: &Shown) {
        self.step = describe(shown);
        self.policy.clone_from(&shown.policy);
        if let Some(block) = shown.block {
            let (kind, done) =
                (shown.block_kind.unwrap_or_default(), if shown.completes { " ✓" } else { "" });
            let choice = shown.choice.filter(|choice| *choice > 0);
            let choice = choice.map(|choice| format!(" of {choice}")).unwrap_or_default();
            self.block = format!("{block} {kind}{choice}{done}");
        }
    }

    /// What left, in short: `f3-f5 w1`.
    pub(super) fn left(&self) -> String {
        let mut runs: Vec<(Left, Left)> = Vec::new();
        for left in &self.out {
            match (runs.last_mut(), left) {
                (Some((_, end @ Left::Frame(_))), Left::Frame(next)) if *end == Left::Frame(next - 1) => {
                    *end = *left;
                }
                _ => runs.push((*left, *left)),
            }
        }
        let name = |left| match left {
            Left::Frame(number) => format!("f{number}"),
            Left::Written(number) => format!("w{number}"),
        };
        let run = |(start, end): &(Left, Left)| {
            if start == end { name(*start) } else { format!("{}-{}", name(*start), name(*end)) }
        };
        runs.iter().map(run).collect::<Vec<_>>().join(" ")
    }

    /// What was decided, and why.
    pub(super) fn decided(&self, names_policy: bool, with_times: bool) -> String {
        let mut parts: Vec<String> =
            self.staged.iter().filter(|staged| !staged.is_empty()).cloned().collect();
        let took = self.until.saturating_sub(self.at);
        if with_times && !took.is_zero() && self.staged.is_some() {
            parts.push(format!("took {} ms", took.as_millis()));
        }
        parts.extend(self.decisions.iter().map(|decision| tell(decision, with_times)));
        let failed = |error: &&String| self.decisions.iter().any(|it| it.reason.as_ref() == Some(*error));
        parts.extend(self.error.iter().filter(|error| !failed(error)).cloned());
        let text = parts.join("; ");
        if names_policy && !text.is_empty() && !self.policy.is_empty() {
            format!("{}: {text}", self.policy)
        } else {
            text
        }
    }
}

/// What a hook staged. Structure leaves by itself, and sending it says nothing.
pub(super) fn staged(effects: &[Staged], payload: bool) -> String {
    let tell = |effect: &Staged| match effect {
        Staged::Send { edited: false } => "send".to_owned(),
        Staged::Send { edited: true } => "send edited".to_owned(),
        Staged::Buffer { edited: false } => "buffer".to_owned(),
        Staged::Buffer { edited: true } => "buffer edited".to_owned(),
        Staged::Flush(None) => "flush".to_owned(),
        Staged::Flush(Some(key)) => format!("flush {key}"),
        Staged::Release { block, chunks: 0, .. } => format!("cut behind {block}"),
        Staged::Release { block, chunks, edited: 0, .. } => format!("flush {chunks} of {block}"),
        Staged::Release { block, chunks, edited, .. } => {
            format!("flush {chunks} of {block}, {edited} edited")
        }
        Staged::SettleAfter(key) => format!("settle {key} later"),
        Staged::Discard(key) => format!("discard {key}"),
        Staged::Replace(key) => format!("replace {key}"),
        Staged::Promote(key) => format!("promote {key}"),
        Staged::Insert => "insert".to_owned(),
        Staged::Terminate => "terminate".to_owned(),
        Staged::Decide(key) => format!("decide {key}"),
        other => format!("{other:?}"),
    };
    let told = effects
        .iter()
        .filter(|effect| payload || !matches!(effect, Staged::Send { .. } | Staged::Buffer { .. }))
        .map(tell);
    told.collect::<Vec<_>>().join(", ")
}

/// Whether the policy decides over it.
pub(super) fn is_payload(kind: ChunkKind) -> bool {
    matches!(kind, ChunkKind::Text(_) | ChunkKind::ToolCall | ChunkKind::Opaque)
}

fn tell(decision: &Decision, with_times: bool) -> String {
    let action = decision.action.word();
    let mut text = if decision.enforced { action.to_owned() } else { format!("would have {action}") };
    if let Some(block) = decision.block {
        text += &format!(" {block}");
    }
    if decision.bytes > 0 {
        text += &format!(" {}", bytes(decision.bytes));
    }
    if with_times && !decision.held.is_zero() {
        text += &format!(" held {} ms", decision.held.as_millis());
    }
    if let Some(reason) = &decision.reason {
        text += &format!(": {}", line(reason, usize::MAX));
    }
    text
}

fn describe(shown: &Shown) -> String {
    let named = |word: &str| match &shown.name {
        Some(name) => format!("{word} {}", line(name, STEP / 2)),
        None => word.to_owned(),
    };
    match shown.kind {
        ChunkKind::Text(_) => quote(shown.text.as_deref().unwrap_or_default()),
        ChunkKind::ToolCall => match (&shown.name, &shown.text) {
            (Some(_), None) => named("call"),
            (Some(_), Some(text)) => {
                let call = named("call");
                let width = STEP.saturating_sub(call.chars().count() + 1);
                format!("{call} {}", line(text, width))
            }
            (None, text) => line(text.as_deref().unwrap_or_default(), STEP),
        },
        ChunkKind::Opaque => named("opaque"),
        ChunkKind::Completed => "complete".to_owned(),
        ChunkKind::Structure(structure) => named(match structure {
            Structure::Opening => "opening",
            Structure::Finish => "finish",
            Structure::Usage => "usage",
            Structure::Error => "error",
            Structure::Terminal => "terminal marker",
            Structure::Attached => "attached",
            _ => "filler",
        }),
        _ => "something".to_owned(),
    }
}

fn quote(text: &str) -> String {
    format!("\"{}\"", line(text, STEP - 2))
}

/// The width of the column that tells the step.
pub(super) const STEP: usize = 44;
