//! The program's own answers: hand-written logs of all four APIs, so that nothing else is needed to try it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Collected};
use serde::Deserialize;
use stream_http::{Api, RequestBody};
use stream_testkit::{ChunkLog, Cut, Fragments, Script, WireKind};

use super::error;

/// Answers with logs, at the pace of a model.
#[derive(Debug, Clone)]
pub(super) struct Embedded {
    logs: Arc<Vec<(Api, Logs)>>,
    /// What a model says that writes its calls into the text.
    tags: Arc<Vec<(Api, Logs)>>,
    /// The time before each chunk.
    pace: Duration,
}

#[derive(Debug)]
struct Logs {
    stream: ChunkLog,
    whole: Bytes,
}

/// What a request says of the form of its answer.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    model: String,
}

impl Embedded {
    pub(super) fn new(pace: Duration) -> Result<Self, String> {
        let logs = LOGS.iter().map(|(api, name, stream, whole)| {
            let stream = ChunkLog::parse(name, stream).map_err(|error| error.to_string())?;
            Ok((*api, Logs { stream, whole: Bytes::from_static(whole) }))
        });
        let logs = Arc::new(logs.collect::<Result<_, String>>()?);
        Ok(Self { logs, tags: Arc::new(Api::ALL.into_iter().filter_map(with_tags).collect()), pace })
    }

    pub(super) async fn answer(&self, api: Api, request: Request<RequestBody<Body>>) -> Response<Body> {
        if request.method() != Method::POST {
            return error(api, StatusCode::NOT_FOUND, "the demonstration only answers what asks a model");
        }
        let uri = request.uri().clone();
        let body = request.into_body().collect().await.map(Collected::to_bytes).unwrap_or_default();
        let asked: Asked = serde_json::from_slice(&body).unwrap_or_default();
        let counts = asked.model == LOOP || uri.path().contains(LOOP);
        let counting = counts.then(|| scripted(api, &super::counting::script(api, &body))).flatten();
        let writes_calls = asked.model == TAGS || uri.path().contains(TAGS);
        let logs = if writes_calls { &self.tags } else { &self.logs };
        let Some((_, logs)) = logs.iter().find(|(known, _)| *known == api) else {
            return error(api, StatusCode::NOT_FOUND, "the demonstration has no answer for this");
        };
        let streams = asked.stream == Some(true) || uri.path().ends_with(":streamGenerateContent");
        // Without `alt=sse` Google streams one JSON array.
        let as_array = api == Api::Gemini && !uri.query().is_some_and(|query| query.contains("alt=sse"));
        let logs = counting.as_ref().map_or(logs, |(_, logs)| logs);
        match (streams, as_array) {
            (false, _) => answer("application/json", Body::from(logs.whole.clone())),
            (true, true) => answer("application/json", paced(array(&logs.stream), self.pace)),
            (true, false) => {
                let pieces = Cut::Event.apply(&logs.stream).into_iter().map(|(_, piece)| piece);
                answer("text/event-stream", paced(pieces.collect(), self.pace))
            }
        }
    }
}

fn with_tags(api: Api) -> Option<(Api, Logs)> {
    scripted(api, &Script::new().text(WITH_TAGS).text_fragments(Fragments::Chars(6)))
}

fn scripted(api: Api, script: &Script) -> Option<(Api, Logs)> {
    let kind = WireKind::ALL.into_iter().find(|kind| kind.name() == api.name())?;
    Some((api, Logs { stream: script.to_log(kind), whole: script.whole(kind) }))
}

fn answer(content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let value = http::HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, value);
    response
}

/// Pieces, one after the other.
fn paced(pieces: Vec<Bytes>, pace: Duration) -> Body {
    Body::from_stream(stream::iter(pieces).then(move |piece| async move {
        tokio::time::sleep(pace).await;
        Ok::<_, std::convert::Infallible>(piece)
    }))
}

/// The chunks of a log as one array.
fn array(log: &ChunkLog) -> Vec<Bytes> {
    let events = Cut::Event.apply(log).into_iter();
    let chunks = events.map(|(_, event)| {
        let text = String::from_utf8_lossy(&event);
        text.trim().trim_start_matches("data: ").to_owned()
    });
    let mut pieces: Vec<Bytes> = Vec::new();
    for chunk in chunks {
        let before = if pieces.is_empty() { "[" } else { ",\r\n" };
        pieces.push(format!("{before}{chunk}").into());
    }
    pieces.push("]".into());
    pieces
}

/// The model that writes its calls into the text, and what it says.
const TAGS: &str = "demo-tags";
const WITH_TAGS: &str = r#"I will list the files for you.<|tool_call|>{"name": "list_files", "arguments": {"directory_path": "abstractcore"}}</|tool_call|>"#;

/// The model that counts with a tool.
const LOOP: &str = "demo-loop";

type Log = (Api, &'static str, &'static [u8], &'static [u8]);

macro_rules! log {
    ($api:expr, $name:literal) => {
        (
            $api,
            concat!($name, ".sse"),
            include_bytes!(concat!("../../logs/", $name, ".sse")),
            include_bytes!(concat!("../../logs/", $name, "-whole.json")),
        )
    };
}

const LOGS: [Log; 4] = [
    log!(Api::OpenAiChat, "chat"),
    log!(Api::OpenAiResponses, "responses"),
    log!(Api::AnthropicMessages, "messages"),
    log!(Api::Gemini, "gemini"),
];
