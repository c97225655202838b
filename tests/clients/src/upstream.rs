//! The scripted upstream: answers as the four APIs do, and judges second turns as they would.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures::Stream;
use serde_json::Value;
use stream_http::Api;
use stream_testkit::faults::{Fault, FaultError, Upstream};
use stream_testkit::{ChunkLog, Script, WireKind};

use crate::fates::{Fate, Fates, Receipt};
use crate::scenario::{How, Scenario, looped, second};
use crate::turn::{self, Turn};

/// What the upstream knows.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    scenarios: Arc<HashMap<&'static str, Scenario>>,
    pub(crate) fates: Fates,
}

impl Known {
    pub(crate) fn new(scenarios: Vec<Scenario>) -> Self {
        let by_name = scenarios.into_iter().map(|scenario| (scenario.name, scenario));
        Self { scenarios: Arc::new(by_name.collect()), fates: Fates::default() }
    }
}

/// Answers a request for `/{scenario}/…`.
pub(crate) async fn answer(State(known): State<Known>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let name = path.split('/').nth(1).unwrap_or_default();
    let (Some(scenario), Some(asked)) = (known.scenarios.get(name), Asked::of(path)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return error(asked.kind, StatusCode::BAD_REQUEST, "expected JSON");
    };
    let stream = asked.stream.unwrap_or_else(|| request["stream"] == true);
    match turn::read(asked.kind, &request, &body) {
        Turn::First => {}
        Turn::Second if matches!(scenario.how, How::Looped(_)) && turn::results(asked.kind, &request) > 0 => {
        }
        Turn::Second => return sent(asked.kind, stream, &second(), How::Plainly, None),
        Turn::Refused(why) => return error(asked.kind, StatusCode::BAD_REQUEST, &why),
    }
    let client = head.headers.get("x-client").and_then(|name| name.to_str().ok()).unwrap_or_default();
    let receipt = known.fates.receipt(&format!("{name}/{client}"));
    if let How::Looped(times) = scenario.how {
        let script = looped(turn::results(asked.kind, &request), times);
        return sent(asked.kind, stream, &script, How::Plainly, Some(receipt));
    }
    sent(asked.kind, stream, &scenario.script, scenario.how, Some(receipt))
}

/// What a path asks for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    kind: WireKind,
    /// Whether a stream, where the path says it.
    stream: Option<bool>,
}

impl Asked {
    fn of(path: &str) -> Option<Self> {
        let ends = |with| path.ends_with(with);
        let (kind, stream) = match () {
            () if ends("/chat/completions") => (WireKind::OpenAiChat, None),
            () if ends("/responses") => (WireKind::OpenAiResponses, None),
            () if ends("/messages") => (WireKind::AnthropicMessages, None),
            () if ends(":streamGenerateContent") => (WireKind::Gemini, Some(true)),
            () if ends(":generateContent") => (WireKind::Gemini, Some(false)),
            () => return None,
        };
        Some(Self { kind, stream })
    }
}

fn sent(kind: WireKind, stream: bool, script: &Script, how: How, receipt: Option<Receipt>) -> Response {
    if let How::Status(status) = how {
        return error(kind, StatusCode::from_u16(status).unwrap_or_default(), "overloaded");
    }
    if !stream {
        return ([(header::CONTENT_TYPE, "application/json")], script.whole(kind)).into_response();
    }
    let log = script.to_log(kind);
    let upstream = match how {
        How::Plainly | How::Status(_) | How::Looped(_) => Upstream::new(&log),
        How::Haltingly(lasts) => Upstream::new(&log).fault(&Fault::Stall { at: halt(&log), lasts }),
        How::Broken => {
            let at = halt(&log);
            // What has been written is sent before the connection goes.
            let lasts = Duration::from_millis(300);
            Upstream::new(&log).fault(&Fault::Break { at }).fault(&Fault::Stall { at, lasts })
        }
    };
    let body = Body::from_stream(Watched { upstream, receipt });
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// How many bytes come before the rest of the call; where it comes in one piece, before what follows it.
fn halt(log: &ChunkLog) -> usize {
    let has = |bytes: &[u8], word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    let mut before = 0;
    for (_, bytes) in log.chunks() {
        if has(&bytes, CALLED) {
            return before + bytes.len();
        }
        if has(&bytes, REST) {
            return before;
        }
        before += bytes.len();
    }
    before
}

fn error(kind: WireKind, status: StatusCode, message: &str) -> Response {
    let api = Api::ALL.into_iter().find(|api| api.name() == kind.name()).unwrap_or(Api::OpenAiChat);
    let body = api.error_body(status, message);
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// An answer under way, with the receipt that tells what became of it.
struct Watched {
    upstream: Upstream,
    receipt: Option<Receipt>,
}

impl Stream for Watched {
    type Item = Result<Bytes, FaultError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.upstream).poll_next(cx);
        if let (Poll::Ready(None), Some(receipt)) = (&next, &mut self.receipt) {
            receipt.settle(Fate::Completed);
        }
        next
    }
}

/// What the halted call reads, and what comes of it last.
const CALLED: &str = "notes.txt";
const REST: &str = "otes.txt";
