//! What stands for reasoning.

use serde::Deserialize;

use super::HideReasoning;

/// The settings of [`HideReasoning`]. See the [module](super) for a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use]
pub struct HideReasoningSettings {
    pub(super) placeholder: Option<String>,
}

impl HideReasoningSettings {
    /// Sets the text in place of each stretch of reasoning that is not signed.
    pub fn placeholder(mut self, text: impl Into<String>) -> Self {
        self.placeholder = Some(text.into());
        self
    }

    /// The policy; it is cloned for each stream.
    pub fn build(self) -> HideReasoning {
        HideReasoning::new(self)
    }
}
