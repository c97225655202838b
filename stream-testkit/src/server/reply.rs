//! What is answered to a request.

use hyper::StatusCode;
use hyper::header::HeaderValue;

use crate::faults::{Fault, Upstream};
use crate::{ChunkLog, Cut, WireKind};

/// An answer: a log, its cuts, its faults and the status before it.
#[derive(Debug, Clone)]
#[must_use]
pub struct Reply {
    log: ChunkLog,
    cut: Cut,
    faults: Vec<Fault>,
    status: StatusCode,
}

impl Reply {
    /// A log as it was recorded, with the status 200: a stream as `text/event-stream`, a whole response as JSON.
    pub fn new(log: ChunkLog) -> Self {
        Self { log, cut: Cut::Original, faults: Vec::new(), status: StatusCode::OK }
    }

    /// With other cuts.
    pub fn cut(mut self, cut: Cut) -> Self {
        self.cut = cut;
        self
    }

    /// With a fault, on top of those before.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// With another status.
    ///
    /// # Panics
    ///
    /// When it is no status: below 100 or above 999.
    #[track_caller]
    pub fn status(mut self, status: u16) -> Self {
        let code = StatusCode::from_u16(status);
        assert!(code.is_ok(), "expected a status from 100 to 999, found {status}");
        self.status = code.unwrap_or_default();
        self
    }

    pub(super) fn status_code(&self) -> StatusCode {
        self.status
    }

    /// What the API's own servers send.
    pub(super) fn content_type(&self) -> HeaderValue {
        HeaderValue::from_static(match (self.log.is_whole(), self.log.kind()) {
            (true, Some(WireKind::Gemini)) => "application/json; charset=UTF-8",
            (true, _) => "application/json",
            (false, Some(WireKind::Gemini)) => "text/event-stream",
            (false, _) => "text/event-stream; charset=utf-8",
        })
    }

    /// The length of a whole response: streams have none, and a fault changes what comes but not what was promised.
    pub(super) fn promised(&self) -> Option<usize> {
        self.log.is_whole().then(|| self.log.bytes().len())
    }

    pub(super) fn upstream(&self, speed: f64) -> Upstream {
        let upstream = Upstream::cut(&self.log, self.cut).scaled(speed);
        self.faults.iter().fold(upstream, Upstream::fault)
    }
}

impl From<ChunkLog> for Reply {
    fn from(log: ChunkLog) -> Self {
        Self::new(log)
    }
}
