//! The settings of a stage.

use std::sync::Arc;
use std::time::Duration;

use crate::passthrough::Passthrough;
use crate::policy::{Needs, OnFailure, Stage};
use crate::request::Request;
use crate::scrub::Scrubber;

/// The settings of a stage, which is made when the format is known.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) name: Arc<str>,
    pub(super) needs: Needs,
    pub(super) on_failure: OnFailure,
    pub(super) time_limit: Option<Duration>,
    pub(super) watching: bool,
    pub(super) scrubber: Option<Box<Scrubber>>,
    /// A comment before the first event was dropped.
    pub(super) dropped_early: bool,
}

impl Spec {
    pub(super) fn of(stage: &Stage, request: &Request) -> Self {
        let needs = stage.policy.needs(request);
        Self {
            name: stage.name().into(),
            on_failure: stage.on_failure,
            time_limit: stage.time_limit,
            watching: stage.monitored,
            scrubber: needs.scrubs_frames().map(|scrub| Box::new(Scrubber::new(Arc::clone(scrub)))),
            dropped_early: false,
            needs,
        }
    }

    /// A stage that folds and needs nothing, for a stream without policies, or with dry runs alone.
    pub(super) fn none() -> Self {
        Self::of(&Stage::new(Passthrough).named("none"), &Request::new())
    }
}
