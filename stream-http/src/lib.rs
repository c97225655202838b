//! A tower layer that runs policies over the answers of model APIs, in any `http` service.
//!
//! [`PolicyLayer`] recognises Chat Completions, Responses, Messages and Gemini by path and by content, reads the model and the tools of the
//! request, and runs the policies that your function returns (a [`Plan`]) over every answer with model output, streamed or whole. Routes and
//! answers that the layer cannot read are refused, unless [`Settings`] let them pass. The [guide] lists routes, outcomes and limits.
//!
//! | item | what it is |
//! |---|---|
//! | [`PolicyLayer`], [`PolicyService`] | the layer and its service |
//! | [`Facts`] | the facts of a request: API, model, tools, session, headers |
//! | [`Plan`] | the policies for one answer, with settings and an observer |
//! | [`Settings`] | routes, limits, sessions, statuses |
//! | `tool_loop` (feature `tool-loop`) | tools that the proxy runs itself |
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt as _, Full};
//! use stream_core::{SyncPolicy, Verdict, each_call};
//! use stream_http::{Facts, Plan, PolicyLayer, RequestBody};
//! use tower::{ServiceBuilder, ServiceExt as _, service_fn};
//!
//! /// Holds every call until it is complete, and drops `rm`.
//! fn no_rm() -> impl SyncPolicy {
//!     each_call(|call, _| match call.name() {
//!         "rm" => Verdict::drop("rm is not allowed"),
//!         _ => Verdict::Release,
//!     })
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! // Any http service: a client of the real upstream, in a gateway.
//! let upstream = service_fn(async |_: Request<RequestBody<Full<Bytes>>>| {
//!     let body = r#"{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",
//!         "content":"Gladly.","tool_calls":[{"id":"1","type":"function","function":{"name":"rm",
//!         "arguments":"{\"path\":\"/\"}"}}]},"finish_reason":"tool_calls"}]}"#;
//!     Ok::<_, std::convert::Infallible>(Response::new(Full::<Bytes>::from(body)))
//! });
//! let service = ServiceBuilder::new()
//!     .layer(PolicyLayer::new(|_: &Facts| Plan::new().policy(no_rm())))
//!     .service(upstream);
//!
//! let request = Request::post("/v1/chat/completions").body(Full::from(r#"{"model":"some-model"}"#))?;
//! let answer = service.oneshot(request).await?.into_body().collect().await?.to_bytes();
//! assert_eq!(
//!     answer,
//!     r#"{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Gladly."},"finish_reason":"stop"}]}"#
//! );
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod api;
mod body;
mod coding;
mod facts;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzz;
#[cfg(any(doc, doctest))]
#[doc = include_str!("../docs/http.md")]
pub mod guide {}
mod intake;
mod layer;
mod offered;
mod path;
mod plan;
mod refusal;
mod route;
mod service;
mod session;
mod settings;
mod source;
#[cfg(feature = "tool-loop")]
pub mod tool_loop;
mod watch;

pub use api::Api;
pub use body::{RequestBody, ResponseBody};
pub use facts::Facts;
pub use layer::PolicyLayer;
pub use plan::Plan;
pub use route::Route;
pub use service::PolicyService;
pub use session::{Session, SessionError};
pub use settings::{Settings, UnknownRoute, Unreadable};
