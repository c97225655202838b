//! A judge that asks a service of yours.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use stream_core::{CallFlavor, PolicyError, Replacement, Verdict};

use super::super::{CompletedCall, Cost, Judge};
use super::endpoint::Endpoint;
use super::object;
use super::settings::EndpointSettings;
use crate::settings_error::SettingsError;

/// Asks a service by POST. The question:
///
/// ```json
/// {"name":"shell","arguments":"{\"command\":\"ls\"}","id":"call_1","index":0,"choice":0,
///  "flavor":"function","opaque":false,"model":"some-model"}
/// ```
///
/// `arguments` is the raw text as the model wrote it. The answer, with status 200:
///
/// | answer | becomes |
/// |---|---|
/// | `{"verdict":"allow"}` | the call leaves |
/// | `{"verdict":"deny","reason":"…","notice":"…"}` | it does not; `reason` is recorded, `notice` is for the client. Both may be left out |
/// | `{"verdict":"replace","arguments":"…","name":"…"}` | it leaves with these raw arguments, and this name if there is one |
/// | anything else | it does not |
///
/// The reason may be recorded and sent to the client: it must not hold text of the call.
#[derive(Clone)]
pub struct Webhook(Endpoint);

impl Webhook {
    /// A judge that asks at this endpoint.
    ///
    /// # Errors
    ///
    /// When the settings cannot be used.
    pub fn new(settings: &EndpointSettings) -> Result<Self, SettingsError> {
        Endpoint::new(settings).map(Self)
    }
}

#[async_trait]
impl Judge for Webhook {
    async fn judge(&self, call: CompletedCall) -> Result<Verdict, PolicyError> {
        let question = serde_json::to_string(&Question::of(&call))?;
        let answer = self.0.ask(question).await?;
        Ok(match object(&answer) {
            Some(Answer::Allow {}) => Verdict::Release,
            Some(Answer::Deny { reason, notice }) => {
                let reason = reason.unwrap_or_else(|| "the webhook denies it".to_owned());
                Verdict::Drop { reason, notice }
            }
            Some(Answer::Replace { arguments, name }) => {
                let with = Replacement::arguments(arguments);
                Verdict::Replace(match name {
                    Some(name) => with.named(name),
                    None => with,
                })
            }
            None => Verdict::drop("the webhook's answer cannot be read"),
        })
    }

    fn cost(&self) -> Cost {
        Cost::Network
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Question<'a> {
    name: &'a str,
    arguments: &'a str,
    id: Option<&'a str>,
    index: Option<u64>,
    choice: u32,
    flavor: &'static str,
    opaque: bool,
    model: Option<&'a str>,
}

impl<'a> Question<'a> {
    fn of(call: &'a CompletedCall) -> Self {
        let flavor = match call.flavor() {
            CallFlavor::Function => "function",
            CallFlavor::LegacyFunction => "legacy_function",
            CallFlavor::Custom => "custom",
            CallFlavor::Builtin => "builtin",
            _ => "unknown",
        };
        Self {
            name: call.name(),
            arguments: call.arguments(),
            id: call.id(),
            index: call.index(),
            choice: call.choice(),
            flavor,
            opaque: call.is_opaque(),
            model: call.model(),
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case", deny_unknown_fields)]
enum Answer {
    Allow {},
    Deny {
        #[serde(default)]
        reason: Option<String>,
        #[serde(default)]
        notice: Option<String>,
    },
    Replace {
        arguments: String,
        #[serde(default)]
        name: Option<String>,
    },
}
