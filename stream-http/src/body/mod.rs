//! The bodies of requests and answers.

mod request;
mod response;

pub use request::RequestBody;
pub use response::ResponseBody;
pub(crate) use response::{BoxError, Trailers};
