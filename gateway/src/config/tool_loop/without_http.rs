//! HTTP endpoints, which this program cannot ask.

use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;
use stream_http::tool_loop::Tools;

use super::Fault;
use crate::missing;

/// An endpoint.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct HttpFile(IgnoredAny);

impl HttpFile {
    pub(super) fn add(&self, _: Tools, text: &str, here: &Range<usize>) -> Result<Tools, Fault> {
        let Self(IgnoredAny) = self;
        Err(Fault::at(text, here, missing::feature("http", "tool_loop.http")))
    }
}
