//! Which dialects are looked for.

use std::sync::Arc;

use crate::dialect::Dialect;
use crate::known;
use crate::plan::Plan;
use crate::template::Template;

/// The dialects and reasoning tags that are looked for in one stream. Only what was switched on is looked for: a preset
/// per model family, or dialects one by one, never all of them.
///
/// ```
/// use stream_text_calls::{DialectSet, known};
///
/// let set = DialectSet::for_model("Qwen/Qwen3-Coder-480B-A35B-Instruct");
/// let names: Vec<&str> = set.dialects().map(|dialect| dialect.name()).collect();
/// assert_eq!(names, ["qwen3-coder", "hermes"]);
///
/// let mine = DialectSet::new().with(known::llama_function_call()).reasoning("<think>", "</think>");
/// assert!(!mine.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct DialectSet {
    /// Shared by the scanners of all texts.
    pub(crate) plans: Arc<Plans>,
    pub(crate) starts_in_reasoning: bool,
}

/// What the scanner looks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plans {
    pub(crate) dialects: Vec<Arc<Plan>>,
    pub(crate) reasoning: Vec<(Template, Template)>,
    /// Some dialect has no tags at all: a JSON object is a call.
    pub(crate) has_bare: bool,
    /// The marker of some dialect makes calls of what stands before it.
    pub(crate) marks_all: bool,
}

impl DialectSet {
    /// Nothing is looked for.
    pub fn new() -> Self {
        Self::default()
    }

    /// The dialects and reasoning tags of a model's family, found by its name; nothing for a model whose family is not
    /// known.
    pub fn for_model(model: &str) -> Self {
        known::for_model(model)
    }

    /// Looks for one more dialect.
    pub fn with(mut self, dialect: Dialect) -> Self {
        let plans = Arc::make_mut(&mut self.plans);
        let mut dialect = dialect;
        for dialect in std::iter::once(dialect.clone()).chain(std::mem::take(&mut dialect.beside)) {
            plans.has_bare |= dialect.is_bare();
            plans.marks_all |= dialect.marks_all;
            plans.dialects.push(Arc::new(Plan::new(dialect)));
        }
        self
    }

    /// Takes text between these tags as reasoning. Both are [patterns](crate::Template) without holes.
    pub fn reasoning(mut self, open: &str, close: &str) -> Self {
        Arc::make_mut(&mut self.plans).reasoning.push((Template::new(open), Template::new(close)));
        self
    }

    /// The text begins inside the first reasoning tags: their opener stood in the prompt.
    pub fn starts_in_reasoning(mut self) -> Self {
        self.starts_in_reasoning = !self.plans.reasoning.is_empty();
        self
    }

    /// The dialects, in the order in which they were added.
    pub fn dialects(&self) -> impl Iterator<Item = &Dialect> {
        self.plans.dialects.iter().map(|plan| &*plan.dialect).filter(|dialect| !dialect.guarded)
    }

    /// Whether nothing is looked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.plans.dialects.is_empty() && self.plans.reasoning.is_empty()
    }
}
