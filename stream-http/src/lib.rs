//! Police the answers of model APIs in any http service: a tower layer over stream-core.

mod answer;
mod api;
mod body;
mod coding;
mod facts;
mod intake;
mod layer;
mod offered;
mod path;
mod plan;
mod refusal;
mod route;
mod service;
mod settings;
mod source;
mod watch;

pub use api::Api;
pub use body::{RequestBody, ResponseBody};
pub use facts::Facts;
pub use layer::PolicyLayer;
pub use plan::Plan;
pub use route::Route;
pub use service::PolicyService;
pub use settings::{Settings, UnknownRoute, Unreadable};
