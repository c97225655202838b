//! A client without an SDK.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// The body of a request.
pub(crate) type RequestBody = UnsyncBoxBody<Bytes, std::io::Error>;

/// The version of HTTP that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 1.1.
    Http1,
    /// 2, without TLS.
    Http2,
}

/// A client of one server.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Legacy<HttpConnector, RequestBody>,
    server: SocketAddr,
}

/// What came back, to its end.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The pieces of the body, each with the time since the request at which it came.
    pub pieces: Vec<(Duration, Bytes)>,
    /// The trailers.
    pub trailers: Option<HeaderMap>,
    /// How the body broke off, if it did.
    pub broken: Option<String>,
}

impl Client {
    /// A client.
    #[must_use]
    pub fn new(server: SocketAddr, version: Version) -> Self {
        let mut builder = Legacy::builder(TokioExecutor::new());
        builder.http2_only(version == Version::Http2);
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self { inner: builder.build(connector), server }
    }

    /// Asks for a page.
    ///
    /// # Panics
    ///
    /// When there is no answer.
    pub async fn get(&self, path: &str) -> Answer {
        self.try_get(path).await.expect("an answer")
    }

    /// Asks for a page; nothing if there is no server.
    pub async fn try_get(&self, path: &str) -> Option<Answer> {
        let request = Request::get(self.url(path)).body(empty()).ok()?;
        let start = Instant::now();
        Some(Answer::read(self.inner.request(request).await.ok()?, start).await)
    }

    /// Asks a model.
    ///
    /// # Panics
    ///
    /// When there is no answer.
    pub async fn post(&self, path: &str, body: &str) -> Answer {
        let start = Instant::now();
        Answer::read(self.begin(path, body).await.expect("an answer"), start).await
    }

    /// Asks a model, with headers.
    ///
    /// # Panics
    ///
    /// When there is no answer.
    pub async fn post_with(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
        let start = Instant::now();
        Answer::read(self.begin_with(path, body, headers).await.expect("an answer"), start).await
    }

    /// Asks a model; the answer is read by the caller.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub async fn begin(&self, path: &str, body: &str) -> Result<Response<Incoming>, String> {
        self.begin_with(path, body, &[]).await
    }

    /// Asks a model, with headers; the answer is read by the caller.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub async fn begin_with(
        &self,
        path: &str,
        body: &str,
        headers: &[(&str, &str)],
    ) -> Result<Response<Incoming>, String> {
        let body = Full::new(Bytes::copy_from_slice(body.as_bytes())).map_err(|never| match never {});
        let request = Request::post(self.url(path)).header("content-type", "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        self.send(request.body(body.boxed_unsync()).map_err(|error| error.to_string())?).await
    }

    async fn send(&self, request: Request<RequestBody>) -> Result<Response<Incoming>, String> {
        self.inner.request(request).await.map_err(|error| format!("{error:?}"))
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server)
    }
}

impl Answer {
    /// Reads an answer to its end.
    pub async fn read(response: Response<Incoming>, start: Instant) -> Self {
        let (parts, mut body) = response.into_parts();
        let mut answer = Self {
            status: parts.status,
            headers: parts.headers,
            pieces: Vec::new(),
            trailers: None,
            broken: None,
        };
        while let Some(frame) = body.frame().await {
            match frame.map(hyper::body::Frame::into_data) {
                Ok(Ok(data)) => answer.pieces.push((start.elapsed(), data)),
                Ok(Err(frame)) => answer.trailers = frame.into_trailers().ok(),
                Err(error) => {
                    answer.broken = Some(error.to_string());
                    break;
                }
            }
        }
        answer
    }

    /// The body.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|(_, piece)| piece).copied().collect()
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// When a text was there.
    #[must_use]
    pub fn when(&self, text: &str) -> Option<Duration> {
        let mut all = String::new();
        self.pieces.iter().find_map(|(time, piece)| {
            all += &String::from_utf8_lossy(piece);
            all.contains(text).then_some(*time)
        })
    }

    /// A header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

fn empty() -> RequestBody {
    http_body_util::Empty::new().map_err(|never| match never {}).boxed_unsync()
}
