//! The bundled kinds.

use serde::Deserialize;
use stream_core::Passthrough;

use super::error::ConfigError;
use super::judges;
use super::registry::Registry;
use crate::{
    BufferedJudge, BufferedJudgeSettings, DemoteCallsSettings, FinishGate, FinishGateSettings,
    HideReasoningSettings, InjectSettings, PromoteTextCalls, QuotaSettings, RewriteTagsSettings, ToolGate,
    ToolGateSettings, ValidateParametersSettings,
};
#[cfg(feature = "patterns")]
use crate::{RedactSettings, StopOnSettings};

/// Adds every bundled kind.
pub(super) fn register(registry: &mut Registry) {
    let added = add(registry);
    debug_assert_eq!(added.err(), None, "each kind has a name of its own");
}

fn add(registry: &mut Registry) -> Result<(), ConfigError> {
    judges::register(registry, "buffered-judge", |settings: BufferedJudgeSettings, judge| {
        BufferedJudge::new(judge).settings(settings)
    })?;
    registry.register("demote-calls", |settings: DemoteCallsSettings| {
        let policy = settings.build()?;
        Ok(move || policy.clone())
    })?;
    registry.register("finish-gate", |settings: FinishGateSettings| {
        Ok(move || FinishGate::new().settings(settings.clone()))
    })?;
    registry.register("hide-reasoning", |settings: HideReasoningSettings| {
        let policy = settings.build();
        Ok(move || policy.clone())
    })?;
    registry.register("inject", |settings: InjectSettings| {
        let policy = settings.build()?;
        Ok(move || policy.clone())
    })?;
    registry.register("passthrough", |_: NoSettings| Ok(|| Passthrough))?;
    registry.register("promote-text-calls", |_: NoSettings| Ok(PromoteTextCalls::new))?;
    registry.register("quota", |settings: QuotaSettings| {
        let policy = settings.build()?;
        Ok(move || policy.clone())
    })?;
    registry.register("rewrite-tags", |settings: RewriteTagsSettings| {
        let policy = settings.build()?;
        Ok(move || policy.clone())
    })?;
    judges::register(registry, "tool-gate", |settings: ToolGateSettings, judge| {
        ToolGate::new(judge).settings(settings)
    })?;
    registry.register("validate-parameters", |settings: ValidateParametersSettings| {
        let policy = settings.build()?;
        Ok(move || policy.clone())
    })?;
    #[cfg(feature = "patterns")]
    {
        registry.register("redact", |settings: RedactSettings| {
            let policy = settings.build()?;
            Ok(move || policy.clone())
        })?;
        registry.register("stop-on", |settings: StopOnSettings| {
            let policy = settings.build()?;
            Ok(move || policy.clone())
        })?;
    }
    #[cfg(not(feature = "patterns"))]
    for kind in ["redact", "stop-on"] {
        registry.add(kind, |_| {
            Err(ConfigError::new("expected the feature patterns, found a build without it"))
        })?;
    }
    Ok(())
}

/// A kind without settings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoSettings {}
