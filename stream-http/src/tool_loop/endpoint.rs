//! Tools behind an HTTP endpoint.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use stream_core::async_trait;

use super::executor::{Call, Executor, ToolResult};
use super::json::{Object, quote};
use crate::Facts;

/// Sends calls to an HTTP endpoint.
///
/// The endpoint gets a POST with `{"tool", "arguments", "id", "model"}`; the arguments are the model's own JSON. A success
/// answers with `{"result": …}` or `{"error": "…"}`; any other body is the result as it stands. A status that is no
/// success is a failure. Redirects are not followed.
#[derive(Debug, Clone)]
#[must_use]
pub struct HttpExecutor {
    client: Client,
    url: String,
    headers: HeaderMap,
    limit: usize,
}

impl HttpExecutor {
    /// An executor for an endpoint.
    ///
    /// # Errors
    ///
    /// When the address cannot be read, or the client cannot be made.
    pub fn new(url: &str) -> Result<Self, String> {
        let parsed = reqwest::Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        if parsed.is_none() {
            return Err(format!("expected an address such as https://tools.example.com/run, found {url:?}"));
        }
        let client =
            Client::builder().redirect(Policy::none()).connect_timeout(Duration::from_secs(10)).build();
        let client = client.map_err(|error| format!("an HTTP client cannot be made: {error}"))?;
        Ok(Self { client, url: url.to_owned(), headers: HeaderMap::new(), limit: 16 << 20 })
    }

    /// Adds a header to every request.
    ///
    /// # Errors
    ///
    /// When name or value is not allowed in a header.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, String> {
        let name: HeaderName = name.parse().map_err(|_| format!("expected a header name, found {name:?}"))?;
        let mut value =
            HeaderValue::from_str(value).map_err(|_| format!("expected a value for the header {name}"))?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Sets how many bytes of an answer are read at most: 16 MiB unless set.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    async fn ask(&self, call: &Call, facts: &Facts) -> Result<ToolResult, &'static str> {
        let body = body(call, facts);
        let request = self.client.post(&self.url).headers(self.headers.clone());
        let request = request.header("content-type", "application/json").body(body);
        let response = request.send().await.map_err(|_| "the tool cannot be reached")?;
        let status = response.status();
        if !status.is_success() {
            return Ok(ToolResult::error(format!("the tool answered with status {}", status.as_u16())));
        }
        let text = self.text(response).await?;
        Ok(read(&text))
    }

    async fn text(&self, mut response: Response) -> Result<String, &'static str> {
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|_| "the tool's answer broke off")? {
            if body.len() + piece.len() > self.limit {
                return Err("the tool's answer is too long");
            }
            body.extend_from_slice(&piece);
        }
        String::from_utf8(body).map_err(|_| "the tool's answer is no text")
    }
}

#[async_trait]
impl Executor for HttpExecutor {
    async fn run(&self, call: &Call, facts: &Facts) -> ToolResult {
        self.ask(call, facts).await.unwrap_or_else(ToolResult::error)
    }
}

fn body(call: &Call, facts: &Facts) -> String {
    let mut body = Object::default();
    body.set("tool", quote(call.name()));
    let arguments = call.arguments().trim();
    // The input of a custom tool is free text.
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok();
    body.set(
        "arguments",
        match arguments {
            "" => "{}".to_owned(),
            json if is_json => json.to_owned(),
            text => quote(text),
        },
    );
    if let Some(id) = call.id() {
        body.set("id", quote(id));
    }
    if let Some(model) = facts.model() {
        body.set("model", quote(model));
    }
    body.to_string()
}

fn read(text: &str) -> ToolResult {
    let Ok(object) = Object::parse(text) else { return ToolResult::text(text) };
    if let Some(error) = object.text("error") {
        return ToolResult::error(error);
    }
    match object.get("result") {
        Some(result) => ToolResult::text(object.text("result").unwrap_or_else(|| result.to_owned())),
        None => ToolResult::text(text),
    }
}
