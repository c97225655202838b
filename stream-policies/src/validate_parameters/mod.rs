//! ValidateParameters: drops calls whose arguments are not what their tool takes, and recovers parameters from aliases.
//!
//! Each call passes three checks, in this order:
//!
//! 1. **parse**: the arguments are one whole JSON object in which each key stands once. No arguments at all are an empty
//!    object. The input of a custom tool is free text, and is not parsed unless parameters or a schema are listed for it.
//! 2. **required**: every required parameter is present, not `null` and no empty string. A missing parameter is taken from its alias, if exactly one
//!    alias has a value, and the call is rewritten: the key changes (and a member without a value in its place is cut), every other
//!    byte of the arguments stays. A property of the tool's schema is never taken for an alias. `null` is a value where the schema of
//!    the parameter allows it, since strict schemas require optional parameters.
//! 3. **schema**: the JSON Schema holds (feature `json-schema`). A schema that cannot be compiled lets no call pass.
//!
//! Names of tools are compared without regard to case and outer spaces (`Shell`, `SHELL `), as lenient clients compare them. A call without a
//! name, or whose opening was not in the stream (a resumed stream), fails.
//!
//! A call that fails is dropped with a notice in its place, or ends the stream. The host gets a [`ParameterFailure`], whose JSON is also the
//! reason of the [`Decision`](stream_core::Decision). No value of the arguments is repeated there.
//!
//! # What is held, and for how long
//!
//! Calls are held until they are complete, and, with a budget, until the store of attempts has answered. Text, reasoning, refusals and
//! opaque blocks pass, but for calls in the text that are not whole ([`Config::text_calls`](stream_core::Config::text_calls)).
//!
//! # Settings
//!
//! | setting | default | what it does |
//! |---|---|---|
//! | `tools.NAME.required` | none | parameters that must have a value, beside those that the schema requires |
//! | `tools.NAME.aliases` | none | for a parameter, its other names |
//! | `tools.NAME.schema` | the schema of the offered tool | a JSON Schema |
//! | `allow_empty`, `tools.NAME.allow_empty` | `false` | an empty string is a value of a required parameter |
//! | `aliases` | none | as `tools.NAME.aliases`, for all tools that list none for the parameter |
//! | `offered` | `true` | the schemas of the request's offered tools count |
//! | `unknown_tools` | `"parse"` | calls of tools neither listed nor offered: `"parse"` checks that they parse, `"refuse"` fails them |
//! | `on_invalid` | `"drop"` | `"drop"` the call, or `"terminate"` the stream |
//! | `notice` | `"sentence"` | in place of a dropped call: a `"sentence"`, the failure as `"json"`, or `"nothing"` |
//! | `budget` | none | so many invalid calls of a tool in a row, in one session; the last ends the stream |
//! | `attempts` | in memory | where they are counted: `{ redis = "redis://…" }` for several processes (feature `redis`), with `time_to_live` (`"60m"`) and `timeout` (`"500ms"`) |
//!
//! A budget breaks endless retries. The host names the session with a [`SessionKey`] in the request, and may bring its own
//! store ([`Attempts`]). A request that neither names a session nor declares that it has
//! [none](stream_core::Request::without_session) is refused; a request without a session has no budget.
//!
//! # Example
//!
//! ```
//! use stream_policies::validate_parameters::{ToolSettings, ValidateParametersSettings};
//! use stream_testkit::{Replay, Script, WireKind};
//!
//! let shell = ToolSettings::new().required(["command"]).alias("command", ["cmd", "bash", "terminal", "shell"]);
//! let policy = ValidateParametersSettings::new().tool("shell", shell).build()?;
//!
//! let script = Script::new()
//!     .call("call_1", "shell", r#"{"cmd": "ls", "timeout": 5}"#)
//!     .call("call_2", "shell", r#"{"timeout": 5}"#);
//! let replayed = Replay::new(script.to_log(WireKind::OpenAiChat)).policy(move || policy.clone()).run();
//! let choice = &replayed.view().choices[0];
//! assert_eq!(choice.calls.len(), 1);
//! assert_eq!(choice.calls[0].arguments, r#"{"command": "ls", "timeout": 5}"#);
//! assert_eq!(
//!     choice.content,
//!     "A tool call was not made: shell: expected parameter command or one of cmd, bash, terminal, shell, \
//!      found none of them."
//! );
//! # Ok::<(), stream_policies::SettingsError>(())
//! ```

mod arguments;
mod attempts;
mod failure;
mod policy;
#[cfg(feature = "redis")]
mod redis;
mod rule;
mod schema;
mod settings;
#[cfg(test)]
mod tests;

pub use attempts::{Attempts, MemoryAttempts};
pub use failure::{Check, ParameterFailure};
pub use policy::ValidateParameters;
#[cfg(feature = "redis")]
pub use redis::RedisAttempts;
pub use settings::{
    AttemptsSettings, Notice, OnInvalid, ToolSettings, UnknownTools, ValidateParametersSettings,
};
pub use stream_core::SessionKey;
