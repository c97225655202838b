//! A model in memory that calls tools, the loop around policies around it, and a client that reads everything.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use serde_json::{Value, json};
use stream_core::Passthrough;
use stream_http::tool_loop::{LoopSettings, Run, ToolLoop, ToolResult, ToolSpec, Tools, function};
use stream_http::{Facts, Plan, PolicyLayer, RequestBody, ResponseBody, Settings};
use stream_testkit::conformance::{Report, check, check_whole};
use stream_testkit::{Fragments, Script, WireKind};
use tower::{ServiceBuilder, ServiceExt as _, service_fn};

pub(crate) type UpstreamBody = UnsyncBoxBody<Bytes, std::io::Error>;
type Client = Response<ResponseBody<ResponseBody<UpstreamBody>>>;
type Replies = Arc<dyn Fn(usize) -> Response<UpstreamBody> + Send + Sync>;
type Planner = Arc<dyn Fn(&Facts) -> Plan + Send + Sync>;

/// The loop over a model.
#[derive(Clone)]
pub(crate) struct Looped {
    pub(crate) tools: Tools,
    pub(crate) settings: LoopSettings,
    pub(crate) routes: Settings,
    /// Only requests for this model are looped.
    pub(crate) when: Option<&'static str>,
    plan: Planner,
    replies: Replies,
    asked: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
    runs: Arc<Mutex<Vec<Run>>>,
}

impl Looped {
    /// A model that gives these answers, one after the other, the last one again and again.
    pub(crate) fn new(replies: impl Fn(usize) -> Response<UpstreamBody> + Send + Sync + 'static) -> Self {
        Self {
            tools: tools(),
            settings: LoopSettings::new(),
            routes: Settings::new(),
            when: None,
            plan: Arc::new(|_| Plan::new().policy(Passthrough)),
            replies: Arc::new(replies),
            asked: Arc::default(),
            runs: Arc::default(),
        }
    }

    /// A model that says these scripts.
    pub(crate) fn scripts(kind: WireKind, streamed: bool, scripts: Vec<Script>) -> Self {
        Self::new(move |number| said(kind, streamed, &scripts[number.min(scripts.len() - 1)]))
    }

    pub(crate) fn plan(mut self, plan: impl Fn(&Facts) -> Plan + Send + Sync + 'static) -> Self {
        self.plan = Arc::new(plan);
        self
    }

    pub(crate) fn settings(mut self, change: impl FnOnce(LoopSettings) -> LoopSettings) -> Self {
        self.settings = change(self.settings);
        self
    }

    pub(crate) async fn respond(&self, request: Request<Full<Bytes>>) -> Client {
        let (replies, asked) = (Arc::clone(&self.replies), Arc::clone(&self.asked));
        let upstream = service_fn(move |request: Request<RequestBody<RequestBody<Full<Bytes>>>>| {
            let (replies, asked) = (Arc::clone(&replies), Arc::clone(&asked));
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                let number = {
                    let mut asked = asked.lock().unwrap();
                    asked.push((parts.headers, body));
                    asked.len() - 1
                };
                Ok::<_, Infallible>(replies(number))
            }
        });
        let (runs, plan) = (Arc::clone(&self.runs), Arc::clone(&self.plan));
        let layer = ToolLoop::new(self.tools.clone())
            .settings(self.settings.clone())
            .routes(self.routes.clone())
            .observe(move |run, _| runs.lock().unwrap().push(run.clone()));
        let layer = match self.when {
            Some(model) => layer.when(move |facts| facts.model() == Some(model)),
            None => layer,
        };
        let policies = PolicyLayer::with_settings(self.routes.clone(), move |facts: &Facts| plan(facts));
        ServiceBuilder::new().layer(layer).layer(policies).service(upstream).oneshot(request).await.unwrap()
    }

    /// Asks what a client of this API asks.
    pub(crate) async fn ask(&self, kind: WireKind, streamed: bool) -> Answer {
        self.send(request(kind, streamed, &json!({}))).await
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        read(self.respond(request).await).await
    }

    /// What the model was asked.
    pub(crate) fn asked(&self) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(_, body)| serde_json::from_slice(body).unwrap()).collect()
    }

    pub(crate) fn headers(&self) -> Vec<HeaderMap> {
        self.asked.lock().unwrap().iter().map(|(headers, _)| headers.clone()).collect()
    }

    /// Tool, iteration and outcome of every run, in the order they ended.
    pub(crate) fn runs(&self) -> Vec<(String, u32, String)> {
        let runs = self.runs.lock().unwrap();
        runs.iter().map(|run| (run.tool.clone(), run.iteration, run.outcome.to_string())).collect()
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// What a strict client reads; without any violation.
    pub(crate) fn report(&self, kind: WireKind, streamed: bool) -> Report {
        let report = if streamed { check(kind, &self.body) } else { check_whole(kind, &self.body) };
        assert_eq!(report.to_string(), "", "{kind} {}", self.text());
        report
    }
}

/// `add` adds two numbers; `echo` says its text; `slow` never answers; `fail` fails; `panic` panics.
pub(crate) fn tools() -> Tools {
    let add = function(|call, _| async move {
        let numbers: Value = call.parse().unwrap();
        ToolResult::text((numbers["a"].as_i64().unwrap() + numbers["b"].as_i64().unwrap()).to_string())
    });
    let echo = function(|call, _| async move {
        let said: Value = call.parse().unwrap();
        ToolResult::text(said["text"].as_str().unwrap_or_default())
    });
    let slow = function(|_, _| async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        ToolResult::text("late")
    });
    let fail = function(|_, _| async { ToolResult::error("no such file") });
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}"#;
    let panics = function(|_, _| async { std::panic::resume_unwind(Box::new("gone")) });
    let tools = Tools::new().offer(ToolSpec::new("add", "Adds.").parameters(schema), add);
    let tools = tools.and_then(|tools| tools.offer(ToolSpec::new("slow", "Sleeps."), slow));
    let tools = tools.and_then(|tools| tools.offer(ToolSpec::new("fail", "Fails."), fail));
    let tools = tools.and_then(|tools| tools.offer(ToolSpec::new("panic", "Panics."), panics));
    tools.and_then(|tools| tools.take_over("echo*", echo)).unwrap()
}

/// A request of an API, with more members.
pub(crate) fn request(kind: WireKind, streamed: bool, more: &Value) -> Request<Full<Bytes>> {
    let user = "What is two and three?";
    let (path, mut body) = match kind {
        WireKind::OpenAiChat => (
            "/v1/chat/completions".to_owned(),
            json!({"model": "m", "stream": streamed, "messages": [{"role": "user", "content": user}]}),
        ),
        WireKind::OpenAiResponses => {
            ("/v1/responses".to_owned(), json!({"model": "m", "stream": streamed, "input": user}))
        }
        WireKind::AnthropicMessages => (
            "/v1/messages".to_owned(),
            json!({"model": "m", "max_tokens": 100, "stream": streamed, "messages": [{"role": "user", "content": user}]}),
        ),
        WireKind::Gemini => {
            let verb = if streamed { "streamGenerateContent?alt=sse" } else { "generateContent" };
            (
                format!("/v1beta/models/m:{verb}"),
                json!({"contents": [{"role": "user", "parts": [{"text": user}]}]}),
            )
        }
    };
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    Request::post(path).header("authorization", "Bearer key").body(Full::from(body.to_string())).unwrap()
}

pub(crate) async fn read(response: Client) -> Answer {
    let (parts, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        bytes.extend(frame.unwrap().into_data().unwrap_or_default());
    }
    if let Some(length) = parts.headers.get("content-length") {
        assert_eq!(length.to_str().unwrap(), bytes.len().to_string());
    }
    Answer { status: parts.status, body: bytes.into() }
}

/// A script as an answer.
pub(crate) fn said(kind: WireKind, streamed: bool, script: &Script) -> Response<UpstreamBody> {
    if streamed {
        reply("text/event-stream", script.bytes(kind))
    } else {
        reply("application/json", script.whole(kind))
    }
}

pub(crate) fn reply(kind: &str, body: impl Into<Bytes>) -> Response<UpstreamBody> {
    pieces(kind, vec![body.into()])
}

/// An answer in pieces.
pub(crate) fn pieces(kind: &str, pieces: Vec<Bytes>) -> Response<UpstreamBody> {
    let frames = pieces.into_iter().map(|piece| Ok(Frame::data(piece)));
    let body = StreamBody::new(futures::stream::iter(frames.collect::<Vec<Result<_, std::io::Error>>>()));
    let mut response = Response::new(body.boxed_unsync());
    response.headers_mut().insert("content-type", kind.parse().unwrap());
    response
}

/// What stands between the texts of two turns in a client's view: where an API has one text, the separator of the loop.
pub(crate) fn separator(kind: WireKind) -> &'static str {
    match kind {
        WireKind::OpenAiChat | WireKind::Gemini => "\n\n",
        WireKind::OpenAiResponses | WireKind::AnthropicMessages => "",
    }
}

/// A script whose texts and arguments come in small pieces.
pub(crate) fn script() -> Script {
    Script::new().text_fragments(Fragments::Chars(4)).argument_fragments(Fragments::Chars(3))
}

/// A script with text, a call of `add` and counts.
pub(crate) fn adds(number: u64) -> Script {
    let arguments = format!(r#"{{"a":{number},"b":3}}"#);
    script()
        .text(format!("Step {number}."))
        .call(format!("call_{number}"), "add", arguments)
        .usage(10, number)
}

/// The last word.
pub(crate) fn done() -> Script {
    script().text("It is 5.").usage(100, 7)
}
