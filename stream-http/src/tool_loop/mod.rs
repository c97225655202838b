//! The tool loop: the proxy runs tools itself, and the client gets one answer.
//!
//! [`ToolLoop`] is a tower layer that stands *outside* of the [`PolicyLayer`](crate::PolicyLayer): what it reads was
//! judged already. When an answer finishes with calls of the proxy's [`Tools`], their [`Executor`]s run, the
//! assistant's turn and the results are added to the request as the API demands them, the inner service is called
//! again, and the client's answer goes on: one opening, numbers that go on, one finish, one terminal marker, usage
//! added up. The [guide] tells the rest.
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt as _, Full};
//! use stream_core::Passthrough;
//! use stream_http::tool_loop::{ToolLoop, ToolResult, ToolSpec, Tools, function};
//! use stream_http::{Facts, Plan, PolicyLayer};
//! use tower::{ServiceBuilder, ServiceExt as _, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! // A model that asks for the clock, and tells what the clock said.
//! let upstream = service_fn(async |request: Request<_>| {
//!     let asked = http_body_util::BodyExt::collect(request.into_body()).await.map_err(|_| "broken")?.to_bytes();
//!     let asked: serde_json::Value = serde_json::from_slice(&asked).map_err(|_| "no JSON")?;
//!     let message = match asked["messages"][2]["content"].as_str() {
//!         None => r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"clock","arguments":"{}"}}]}"#.into(),
//!         Some(time) => format!(r#"{{"role":"assistant","content":"It is {time}."}}"#),
//!     };
//!     let finish = if message.contains("tool_calls") { "tool_calls" } else { "stop" };
//!     let body = format!(r#"{{"object":"chat.completion","choices":[{{"index":0,"message":{message},"finish_reason":"{finish}"}}]}}"#);
//!     Ok::<_, &'static str>(Response::new(Full::<Bytes>::from(body)))
//! });
//!
//! let clock = function(|_call, _facts| async { ToolResult::text("12:00") });
//! let tools = Tools::new().offer(ToolSpec::new("clock", "Tells the time."), clock)?;
//! let service = ServiceBuilder::new()
//!     .layer(ToolLoop::new(tools))
//!     .layer(PolicyLayer::new(|_: &Facts| Plan::new().policy(Passthrough)))
//!     .service(upstream);
//!
//! let request = Request::post("/v1/chat/completions")
//!     .body(Full::<Bytes>::from(r#"{"messages":[{"role":"user","content":"What time is it?"}]}"#))?;
//! let answer = service.oneshot(request).await?.into_body().collect().await?.to_bytes();
//! assert_eq!(
//!     answer,
//!     r#"{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"It is 12:00."},"finish_reason":"stop"}]}"#
//! );
//! # Ok(())
//! # }
//! ```

mod admit;
mod anthropic;
mod asked;
mod chat;
#[cfg(feature = "http-executor")]
mod endpoint;
mod executor;
mod gemini;
#[cfg(any(doc, doctest))]
#[doc = include_str!("../../docs/tool-loop.md")]
pub mod guide {}
mod join;
mod json;
mod layer;
#[cfg(feature = "mcp")]
pub mod mcp;
mod outlet;
mod record;
mod responses;
mod run;
mod service;
mod settings;
mod streamed;
mod tools;
mod turns;
mod whole;

#[cfg(feature = "http-executor")]
pub use self::endpoint::HttpExecutor;
pub use self::executor::{Call, Executor, ToolResult, function};
pub use self::layer::ToolLoop;
pub use self::record::{Run, RunOutcome};
pub use self::service::ToolLoopService;
pub use self::settings::{AtLimit, Clash, LoopSettings};
pub use self::tools::{ToolSpec, Tools, ToolsError};
