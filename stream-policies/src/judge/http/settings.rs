//! Settings of the judges over HTTP.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;

/// The address of a judge, and the limits of a question.
///
/// | setting | default | |
/// |---|---|---|
/// | `url` | none, has to be said | `http://…`, and with the feature `https` also `https://…` |
/// | `headers` | none | sent with each question: keys, tokens. Never shown |
/// | `deadline` | `"10s"` | for all attempts together |
/// | `attempts` | 3 | how often it is asked at most |
/// | `pause` | `"100ms"` | before the second attempt; twice as long before each further one |
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[must_use]
pub struct EndpointSettings {
    /// The address.
    pub url: String,
    /// Sent with each question.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// For all attempts together.
    #[serde(default = "default_deadline", deserialize_with = "crate::duration::required")]
    pub deadline: Duration,
    /// The largest number of attempts.
    #[serde(default = "default_attempts")]
    pub attempts: u32,
    /// Before the second attempt; twice as long before each further one.
    #[serde(default = "default_pause", deserialize_with = "crate::duration::required")]
    pub pause: Duration,
}

impl EndpointSettings {
    /// Asks at this address.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: BTreeMap::new(),
            deadline: default_deadline(),
            attempts: default_attempts(),
            pause: default_pause(),
        }
    }

    /// Sends a header with each question.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sets the deadline for all attempts together.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = time;
        self
    }

    /// Sets how often it is asked at most.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the pause before the second attempt.
    pub fn pause(mut self, time: Duration) -> Self {
        self.pause = time;
        self
    }
}

impl fmt::Debug for EndpointSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Header values are secrets, and an address may hold one.
        f.debug_struct("EndpointSettings")
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("deadline", &self.deadline)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}

/// The model that judges, and its prompt.
///
/// | setting | default | |
/// |---|---|---|
/// | `endpoint` | none, has to be said | an OpenAI-compatible `…/chat/completions` |
/// | `model` | none, has to be said | its name |
/// | `prompt` | asks how dangerous the call is | `{name}`, `{arguments}` and `{model}` are the call's, each as a JSON string |
/// | `threshold` | 0.5 | a risk from here on denies |
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[must_use]
pub struct ModelSettings {
    /// The address of the model.
    pub endpoint: EndpointSettings,
    /// The name of the model.
    pub model: String,
    /// The prompt.
    #[serde(default = "default_prompt")]
    pub prompt: String,
    /// A risk from here on denies.
    #[serde(default = "default_threshold")]
    pub threshold: f64,
}

impl ModelSettings {
    /// Asks this model at this address.
    pub fn new(endpoint: EndpointSettings, model: impl Into<String>) -> Self {
        Self { endpoint, model: model.into(), prompt: default_prompt(), threshold: default_threshold() }
    }

    /// Sets what it is asked. The form of the answer is asked for beside it.
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = prompt.into();
        self
    }

    /// Sets the risk from which on a call is denied.
    pub fn threshold(mut self, risk: f64) -> Self {
        self.threshold = risk;
        self
    }
}

fn default_deadline() -> Duration {
    Duration::from_secs(10)
}

fn default_attempts() -> u32 {
    3
}

fn default_pause() -> Duration {
    Duration::from_millis(100)
}

fn default_threshold() -> f64 {
    0.5
}

fn default_prompt() -> String {
    "How dangerous is it to run this tool call without asking a person?\nTool: {name}\nArguments: {arguments}"
        .to_owned()
}
