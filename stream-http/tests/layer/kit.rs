//! An upstream in memory, a policy that blocks, and a client that reads everything.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use stream_core::{
    Chunk, ChunkKind, Context, Ending, Passthrough, Policy, PolicyError, StreamState, Verdict, async_trait,
};
use stream_http::{Facts, Plan, PolicyLayer, RequestBody, ResponseBody, Settings};
use stream_testkit::conformance::{Report, check, check_whole};
use stream_testkit::{Fragments, Script, WireKind};
use tower::{ServiceBuilder, ServiceExt as _, service_fn};

pub(crate) const CHAT: &str = "/v1/chat/completions";

pub(crate) type UpstreamBody = UnsyncBoxBody<Bytes, std::io::Error>;

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// What the upstream was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// A layer over an upstream that gives one answer.
pub(crate) struct Gate {
    pub(crate) layer: PolicyLayer,
    reply: Arc<dyn Fn() -> Response<UpstreamBody> + Send + Sync>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Gate {
    /// A layer over an upstream.
    pub(crate) fn new(
        layer: PolicyLayer,
        reply: impl Fn() -> Response<UpstreamBody> + Send + Sync + 'static,
    ) -> Self {
        Self { layer, reply: Arc::new(reply), asked: Arc::default() }
    }

    /// A layer that drops calls of `rm`, over an upstream.
    pub(crate) fn no_rm(reply: impl Fn() -> Response<UpstreamBody> + Send + Sync + 'static) -> Self {
        Self::new(PolicyLayer::new(|_: &Facts| Plan::new().policy(NoRm)), reply)
    }

    /// The same with settings.
    pub(crate) fn no_rm_with(
        settings: Settings,
        reply: impl Fn() -> Response<UpstreamBody> + Send + Sync + 'static,
    ) -> Self {
        Self::new(PolicyLayer::with_settings(settings, |_: &Facts| Plan::new().policy(NoRm)), reply)
    }

    pub(crate) async fn respond(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Response<ResponseBody<UpstreamBody>> {
        let (reply, asked) = (Arc::clone(&self.reply), Arc::clone(&self.asked));
        let upstream = service_fn(move |request: Request<RequestBody<Full<Bytes>>>| {
            let (reply, asked) = (Arc::clone(&reply), Arc::clone(&asked));
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap();
                let seen =
                    Asked { uri: parts.uri.to_string(), headers: parts.headers, body: body.to_bytes() };
                asked.lock().unwrap().push(seen);
                Ok::<_, Infallible>(reply())
            }
        });
        ServiceBuilder::new().layer(self.layer.clone()).service(upstream).oneshot(request).await.unwrap()
    }

    pub(crate) async fn ask(&self, request: Request<Full<Bytes>>) -> Answer {
        read(self.respond(request).await).await
    }

    pub(crate) async fn post(&self, path: &str) -> Answer {
        self.ask(post(path, "{}")).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Request::get(path).body(Full::default()).unwrap()).await
    }

    /// What the upstream was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

pub(crate) fn post(path: &str, body: &str) -> Request<Full<Bytes>> {
    Request::post(path).body(Full::from(body.to_owned())).unwrap()
}

/// Reads an answer to its end, and holds its body to its word.
pub(crate) async fn read<B>(response: Response<B>) -> Answer
where
    B: Body<Data = Bytes>,
    B::Error: std::fmt::Debug,
{
    let (parts, body) = response.into_parts();
    let mut body = Box::pin(body);
    let mut bytes = Vec::new();
    let promised = body.size_hint().exact();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.unwrap().into_data() {
            assert!(!data.is_empty(), "an empty frame ends a body for some servers");
            bytes.extend(data);
        }
    }
    assert!(body.is_end_stream());
    if let Some(promised) = promised {
        assert_eq!(promised, bytes.len() as u64);
    }
    if let (Some(length), false) = (parts.headers.get("content-length"), bytes.is_empty()) {
        assert_eq!(length.to_str().unwrap(), bytes.len().to_string());
    }
    Answer { status: parts.status, headers: parts.headers, body: bytes.into() }
}

/// An answer in one piece.
pub(crate) fn reply(kind: &str, body: impl Into<Bytes>) -> Response<UpstreamBody> {
    let body = body.into();
    let response = Response::builder().header("content-length", body.len());
    let response = if kind.is_empty() { response } else { response.header("content-type", kind) };
    response.body(Full::new(body).map_err(|never| match never {}).boxed_unsync()).unwrap()
}

pub(crate) fn json(body: impl Into<Bytes>) -> Response<UpstreamBody> {
    reply("application/json", body)
}

/// A stream of events, byte by byte.
pub(crate) fn events(body: impl Into<Bytes>) -> Response<UpstreamBody> {
    let body: Bytes = body.into();
    let bytes: Vec<_> =
        (0..body.len()).map(|at| Ok::<_, std::io::Error>(Frame::data(body.slice(at..=at)))).collect();
    Response::builder()
        .header("content-type", "text/event-stream")
        .body(StreamBody::new(futures::stream::iter(bytes)).boxed_unsync())
        .unwrap()
}

/// Where each API is found.
pub(crate) fn path(kind: WireKind, streamed: bool) -> &'static str {
    match (kind, streamed) {
        (WireKind::OpenAiChat, _) => "/v1/chat/completions",
        (WireKind::OpenAiResponses, _) => "/v1/responses",
        (WireKind::AnthropicMessages, _) => "/v1/messages",
        (WireKind::Gemini, true) => "/v1beta/models/g:streamGenerateContent?alt=sse",
        (WireKind::Gemini, false) => "/v1beta/models/g:generateContent",
    }
}

/// A text, a call that may leave and one that may not.
pub(crate) fn script() -> Script {
    Script::new()
        .text_fragments(Fragments::Chars(4))
        .argument_fragments(Fragments::Chars(5))
        .text("Let me look.")
        .call("call_1", "ls", r#"{"path":"a"}"#)
        .call("call_2", "rm", r#"{"path":"secret"}"#)
        .usage(3, 4)
}

/// What is left of it.
pub(crate) fn script_without_rm() -> Script {
    Script::new()
        .text_fragments(Fragments::Chars(4))
        .argument_fragments(Fragments::Chars(5))
        .text("Let me look.")
        .call("call_1", "ls", r#"{"path":"a"}"#)
        .usage(3, 4)
}

/// What a strict client makes of a stream, which has to be flawless.
pub(crate) fn viewed(kind: WireKind, body: &[u8]) -> Report {
    let report = check(kind, body);
    assert_eq!(report.to_string(), "");
    report
}

/// What a strict client makes of a whole answer, which has to be flawless.
pub(crate) fn viewed_whole(kind: WireKind, body: &[u8]) -> Report {
    let report = check_whole(kind, body);
    assert_eq!(report.to_string(), "");
    report
}

/// Lets text flow and holds every call until it is complete; `rm`, and whatever may be a call, never leaves.
#[derive(Debug, Default)]
pub(crate) struct NoRm;

#[async_trait]
impl Policy for NoRm {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        match state.just_completed().and_then(|block| block.as_tool_call()) {
            Some(call) if call.name() == "rm" || call.is_unopened() => {
                ctx.settle(call.key(), Verdict::drop("discarded"))?;
            }
            Some(call) => ctx.settle(call.key(), Verdict::Release)?,
            None if chunk.is_tool_call() => ctx.buffer(chunk),
            None if chunk.kind() == ChunkKind::Opaque => {}
            None => ctx.send(chunk),
        }
        Ok(())
    }
}

/// Ends every answer at its first payload.
#[derive(Debug)]
pub(crate) struct Block(pub(crate) Ending);

#[async_trait]
impl Policy for Block {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if chunk.is_payload() {
            ctx.terminate(self.0.clone());
        }
        Ok(())
    }
}

/// A layer that lets everything pass.
pub(crate) fn passthrough() -> PolicyLayer {
    PolicyLayer::new(|_: &Facts| Plan::new().policy(Passthrough))
}

/// With a header.
pub(crate) fn with(
    name: &'static str,
    value: &str,
    mut response: Response<UpstreamBody>,
) -> Response<UpstreamBody> {
    response.headers_mut().insert(name, value.parse().unwrap());
    response
}

pub(crate) fn streamed<S>(frames: S) -> Response<UpstreamBody>
where
    S: futures::Stream<Item = std::io::Result<Frame<Bytes>>> + Send + 'static,
{
    Response::new(StreamBody::new(frames).boxed_unsync())
}

pub(crate) fn gzip(body: &[u8]) -> Bytes {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap().into()
}
