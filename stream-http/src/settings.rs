//! Settings of the layer.

use std::fmt;

use http::{Method, StatusCode};
use stream_core::Limits;

use crate::route::{OwnRoutes, PLAIN, POLICED, classify};
use crate::{Api, Route, Session};

/// What the layer does with routes and answers that it does not understand, and what an answer may use.
///
/// ```
/// use http::{Method, StatusCode};
/// use stream_http::{Api, Route, Settings, UnknownRoute};
///
/// let settings = Settings::new().pass("/healthz").police("/ask", Api::OpenAiChat);
/// assert_eq!(settings.route(&Method::GET, "/healthz"), Route::Plain);
/// assert_eq!(settings.route(&Method::POST, "/ask"), Route::Policed(Api::OpenAiChat));
/// assert_eq!(settings.route(&Method::POST, "/v1/batches"), Route::Unknown);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Settings {
    pub(crate) limits: Limits,
    pub(crate) request_limit: usize,
    pub(crate) response_limit: usize,
    pub(crate) unknown_route: UnknownRoute,
    pub(crate) unreadable: Unreadable,
    pub(crate) block_status: Option<StatusCode>,
    pub(crate) interleaved_calls: bool,
    pub(crate) empty_notice: Option<String>,
    pub(crate) session: Option<Session>,
    pub(crate) call_tags: Option<Session>,
    own: OwnRoutes,
}

impl Settings {
    /// The longest answer that is not streamed, in bytes, unless [set](Self::response_limit): 32 MiB.
    pub const RESPONSE_LIMIT: usize = 32 << 20;

    /// The defaults: everything that is not understood is refused.
    pub fn new() -> Self {
        Self {
            limits: Limits::default(),
            request_limit: 64 << 20,
            response_limit: Self::RESPONSE_LIMIT,
            unknown_route: UnknownRoute::default(),
            unreadable: Unreadable::default(),
            block_status: None,
            interleaved_calls: false,
            empty_notice: stream_core::wire::WriterOptions::default()
                .empty_notice
                .map(|text| text.to_string()),
            session: None,
            call_tags: None,
            own: OwnRoutes::default(),
        }
    }

    /// What one answer may use; keep-alives are set here too.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The longest request body, in bytes: 64 MiB unless set. A longer one is answered with status 413.
    pub fn request_limit(mut self, bytes: usize) -> Self {
        self.request_limit = bytes;
        self
    }

    /// The longest answer that is not streamed, in bytes: 32 MiB unless set. A longer one cannot be read.
    pub fn response_limit(mut self, bytes: usize) -> Self {
        self.response_limit = bytes;
        self
    }

    /// What becomes of routes that are not known.
    pub fn unknown_route(mut self, unknown: UnknownRoute) -> Self {
        self.unknown_route = unknown;
        self
    }

    /// What becomes of answers that should be policed and cannot be read.
    pub fn unreadable(mut self, unreadable: Unreadable) -> Self {
        self.unreadable = unreadable;
        self
    }

    /// The status of an answer that a policy ended before anything of it was sent, with an error body in the API's
    /// shape. `None`, the default: such an answer is the API's own refusal with the upstream's status.
    ///
    /// With a status, the head of a streamed answer waits for the model's first word that leaves, but no longer than for a
    /// keep-alive.
    pub fn block_status(mut self, status: impl Into<Option<StatusCode>>) -> Self {
        self.block_status = status.into();
        self
    }

    /// Completes calls at the finish of their choice and not before; see [`Config`](stream_core::Config::interleaved_calls).
    pub fn interleaved_calls(mut self, allowed: bool) -> Self {
        self.interleaved_calls = allowed;
        self
    }

    /// The text that stands in for an answer of which everything was dropped; see
    /// [`Config`](stream_core::Config::empty_notice).
    pub fn empty_notice(mut self, notice: Option<&str>) -> Self {
        self.empty_notice = notice.map(str::to_owned);
        self
    }

    /// Where requests tell the session they belong to. `None`, the default: nobody looks, and a plan with a policy that
    /// counts by session is refused unless the plan [names](crate::Plan::extension) a
    /// [`SessionKey`](stream_core::SessionKey) itself.
    pub fn session(mut self, session: impl Into<Option<Session>>) -> Self {
        self.session = session.into();
        self
    }

    /// Where requests say which [tags](stream_core::CallTags) they want around calls that are written as text, as
    /// `open,close`. `None`, the default: nobody looks. A place is told in the same way as that of a session; what it holds
    /// has an effect only with a policy whose settings allow these tags.
    pub fn call_tags(mut self, place: impl Into<Option<Session>>) -> Self {
        self.call_tags = place.into().map(|place| place.of("the tags around calls"));
        self
    }

    /// A path whose answers are policed as this API's. A `*` as its last segment stands for anything.
    pub fn police(mut self, path: &str, api: Api) -> Self {
        self.own.add(path, Route::Policed(api));
        self
    }

    /// A path that carries no model output: it passes, whatever its answer is. A `*` as its last segment stands for
    /// anything.
    pub fn pass(mut self, path: &str) -> Self {
        self.own.add(path, Route::Plain);
        self
    }

    /// What a route is known for. Paths are compared in every way in which a server may read them.
    #[must_use]
    pub fn route(&self, method: &Method, path: &str) -> Route {
        classify(method, path, &self.own)
    }

    /// What is policed, what passes and what is refused, a line for each: to be said when a program starts.
    #[must_use]
    pub fn describe(&self) -> String {
        self.to_string()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, api) in POLICED {
            writeln!(f, "policed  {path} as {api}")?;
        }
        for (path, route) in self.own.iter() {
            match route {
                Route::Policed(api) => writeln!(f, "policed  {path} as {api}")?,
                _ => writeln!(f, "passes   {path}")?,
            }
        }
        for path in PLAIN {
            writeln!(f, "passes   {path}")?;
        }
        writeln!(
            f,
            "{}",
            match self.unknown_route {
                UnknownRoute::Refuse => "refused  every other route, with status 403",
                UnknownRoute::Pass =>
                    "passes   every other route; policed there only what is recognised as model output",
            }
        )?;
        writeln!(
            f,
            "{}",
            match self.unreadable {
                Unreadable::Refuse =>
                    "refused  answers of policed routes that cannot be read, with status 502",
                Unreadable::Pass => "passes   answers of policed routes that cannot be read",
            }
        )?;
        match self.block_status {
            Some(status) => writeln!(f, "blocked  before anything was sent: status {}", status.as_u16()),
            None => writeln!(f, "blocked  before anything was sent: the API's own refusal"),
        }
    }
}

/// What becomes of routes that are neither policed nor known to carry no model output: batches, legacy completions,
/// whatever an upstream adds next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnknownRoute {
    /// Status 403.
    #[default]
    Refuse,
    /// They pass. An answer that is recognised as model output is policed all the same.
    Pass,
}

/// What becomes of answers that should be policed and cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unreadable {
    /// Status 502 with an error in the API's shape: fail closed.
    #[default]
    Refuse,
    /// They pass as they came: fail open.
    Pass,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_said() {
        let text = Settings::new().pass("/healthz").police("/ask", Api::Gemini).describe();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), POLICED.len() + PLAIN.len() + 5);
        assert_eq!(lines[0], "policed  …/chat/completions as openai-chat");
        assert_eq!(lines[8..10], ["passes   /healthz", "policed  /ask as gemini"]);
        assert_eq!(
            lines[20..],
            [
                "refused  every other route, with status 403",
                "refused  answers of policed routes that cannot be read, with status 502",
                "blocked  before anything was sent: the API's own refusal",
            ]
        );
    }

    #[test]
    fn what_is_left_open_is_said() {
        let open = Settings::new()
            .unknown_route(UnknownRoute::Pass)
            .unreadable(Unreadable::Pass)
            .block_status(StatusCode::FORBIDDEN);
        let text = open.describe();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[18..],
            [
                "passes   every other route; policed there only what is recognised as model output",
                "passes   answers of policed routes that cannot be read",
                "blocked  before anything was sent: status 403",
            ]
        );
    }
}
