//! HTTP endpoints that run tools.

use std::ops::Range;

use serde::Deserialize;
use stream_http::tool_loop::{HttpExecutor, ToolSpec, Tools};
use toml::Spanned;

use super::Fault;
use super::secret::secret;

/// An endpoint, and what it runs: a tool that is offered, or calls that are taken over.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpFile {
    url: Spanned<String>,
    key_env: Option<Spanned<String>>,
    name: Option<Spanned<String>>,
    description: Option<Spanned<String>>,
    parameters: Option<Spanned<toml::Table>>,
    take_over: Option<Spanned<Vec<Spanned<String>>>>,
}

impl HttpFile {
    pub(super) fn add(&self, tools: Tools, text: &str, here: &Range<usize>) -> Result<Tools, Fault> {
        let mut executor = HttpExecutor::new(self.url.get_ref())
            .map_err(|message| Fault::at(text, &self.url.span(), message))?;
        if let Some(key) = &self.key_env {
            let value = format!("Bearer {}", secret(key, text)?);
            executor = executor.header("authorization", &value).map_err(|_| {
                let message = format!(
                    "expected a key that a header can hold in the environment variable {:?}",
                    key.get_ref()
                );
                Fault::at(text, &key.span(), message)
            })?;
        }
        match (&self.name, &self.take_over) {
            (Some(name), None) => self.offer(tools, executor, name, text),
            (None, Some(globs)) => self.take_over(tools, &executor, globs, text),
            (Some(_), Some(_)) => Err(Fault::at(
                text,
                here,
                "expected the name of a tool to offer, or globs to take_over, found both",
            )),
            (None, None) => Err(Fault::at(
                text,
                here,
                "expected the name of a tool to offer, or globs to take_over, found neither",
            )),
        }
    }

    fn offer(
        &self,
        tools: Tools,
        executor: HttpExecutor,
        name: &Spanned<String>,
        text: &str,
    ) -> Result<Tools, Fault> {
        let description = self.description.as_ref().map(|text| text.get_ref().as_str());
        let mut spec = ToolSpec::new(name.get_ref(), description.unwrap_or_default());
        if let Some(parameters) = &self.parameters {
            let kind = parameters.get_ref().get("type").and_then(toml::Value::as_str);
            if kind != Some("object") {
                let found = kind.map_or("none".to_owned(), |kind| format!("{kind:?}"));
                let message = format!("expected a JSON Schema whose type is \"object\", found {found}");
                return Err(Fault::at(text, &parameters.span(), message));
            }
            let schema = serde_json::to_string(parameters.get_ref())
                .map_err(|error| Fault::at(text, &parameters.span(), error))?;
            spec = spec.parameters(schema);
        }
        tools.offer(spec, executor).map_err(|error| Fault::at(text, &name.span(), error))
    }

    fn take_over(
        &self,
        mut tools: Tools,
        executor: &HttpExecutor,
        globs: &Spanned<Vec<Spanned<String>>>,
        text: &str,
    ) -> Result<Tools, Fault> {
        // The client offers these tools: nothing else would be read.
        let description = self.description.as_ref().map(|said| ("description", said.span()));
        let parameters = self.parameters.as_ref().map(|said| ("parameters", said.span()));
        if let Some((key, span)) = description.or(parameters) {
            let message = format!("expected {key} beside a name, found take_over");
            return Err(Fault::at(text, &span, message));
        }
        if globs.get_ref().is_empty() {
            return Err(Fault::at(text, &globs.span(), "expected names of tools such as calc_*, found none"));
        }
        for glob in globs.get_ref() {
            let fault = |message: String| Fault::at(text, &glob.span(), message);
            if glob.get_ref().is_empty() {
                return Err(fault("expected the name of a tool such as calc_*, found none".to_owned()));
            }
            tools = tools
                .take_over(glob.get_ref(), executor.clone())
                .map_err(|error| fault(error.to_string()))?;
        }
        Ok(tools)
    }
}
