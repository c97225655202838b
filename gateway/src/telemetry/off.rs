//! A program without the feature `otel`. There is no value of these types: a file that asks for telemetry is refused.

use http::Request;
use stream_core::Policy;
use stream_http::Facts;
use stream_policies::observe::Observers;

use crate::doors::ClientName;
use crate::serve::Answered;

/// Where telemetry goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Collector {}

/// What sends it.
#[derive(Debug, Clone)]
pub(crate) enum Telemetry {}

/// An answer that is told of.
#[derive(Debug, Clone)]
pub(crate) enum Answer {}

impl Telemetry {
    pub(crate) fn start(to: &Collector) -> Result<Self, String> {
        match *to {}
    }

    pub(crate) fn answer<B>(&self, _: &Request<B>, _: u64) -> Answer {
        match *self {}
    }

    #[allow(clippy::unused_async)]
    pub(crate) async fn finish(self) {
        match self {}
    }
}

impl Answer {
    pub(crate) fn begins(&self, _: u16, _: Option<&ClientName>) {
        match *self {}
    }

    pub(crate) fn policed(&self, _: &Facts) {
        match *self {}
    }

    pub(crate) fn observer(&self) -> Observers {
        match *self {}
    }

    pub(crate) fn policy(&self) -> Box<dyn Policy> {
        match *self {}
    }

    pub(crate) fn over(&self, _: Answered) {
        match *self {}
    }
}
