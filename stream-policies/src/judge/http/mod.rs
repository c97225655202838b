//! Judges over HTTP (feature `http`; `https` for TLS).
//!
//! Both ask under one deadline for all attempts. An attempt that finds no answer (the connection, a status of 429 or 5xx)
//! is repeated; when none is left, the judge fails, and the gate that asked is closed. An answer that cannot be read is a
//! denial, never repeated and never a failure: a gate that fails open does not open for it. Redirects are not followed,
//! and answers of more than 64 KiB are not read.

mod endpoint;
mod model;
mod settings;
#[cfg(test)]
mod tests;
mod webhook;

pub use model::ModelJudge;
pub use settings::{EndpointSettings, ModelSettings};
pub use webhook::Webhook;

/// Reads an answer. serde would also take a list for an object, its items for the fields in their order.
fn object<T: serde::de::DeserializeOwned>(text: &[u8]) -> Option<T> {
    let text = text.trim_ascii();
    text.starts_with(b"{").then(|| serde_json::from_slice(text).ok()).flatten()
}
