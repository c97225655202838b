//! Lets only calls leave whose arguments are what their tool takes.
//!
//! Three checks for each call, in this order:
//!
//! 1. **parse**: the arguments are one whole JSON object in which each key stands once. No arguments at all are an empty
//!    object. The input of a custom tool is free text, and is not parsed unless parameters or a schema are listed for it.
//! 2. **required**: every required parameter is there, is not `null` and is no empty string. One that is not is taken from
//!    the one alias of it that has a value, and the call is rewritten: only the key changes (and a member without a value in
//!    its place goes), every other byte of the arguments stays. What the tool's schema names as a property is never taken for
//!    an alias. `null` is a value where the schema of the parameter allows it: strict schemas require what is optional.
//! 3. **schema**: the JSON Schema holds (feature `json-schema`). A schema that cannot be compiled lets no call pass.
//!
//! A tool is known by its name in any letters (`Shell`, `SHELL `), as to clients that are lenient: its calls are checked as
//! those of the tool that is listed or was offered, and counted with them. A call without a name, or whose opening was not
//! in the stream (it was resumed), fails.
//!
//! A call that fails is dropped with a notice in its place, or ends the stream. The host gets a [`ParameterFailure`] (as
//! JSON it is also the reason of the [`Decision`](stream_core::Decision)). What the arguments hold is never repeated.
//!
//! # What it holds back
//!
//! Calls, until they are complete (and until the store of attempts has answered, where there is a budget). It looks at
//! nothing else: text, reasoning, refusals and opaque blocks pass.
//!
//! # Settings
//!
//! | setting | default | what it does |
//! |---|---|---|
//! | `tools.NAME.required` | none | parameters that must have a value, beside those that the schema requires |
//! | `tools.NAME.aliases` | none | for a parameter, the other names it may come under |
//! | `tools.NAME.schema` | none | a JSON Schema; else that of the offered tool |
//! | `allow_empty`, `tools.NAME.allow_empty` | `false` | an empty string is a value of a required parameter |
//! | `aliases` | none | as `tools.NAME.aliases`, for all tools that list none for the parameter |
//! | `offered` | `true` | the schemas of the request's offered tools count |
//! | `unknown_tools` | `"parse"` | calls of tools neither listed nor offered: `"parse"` checks that they parse, `"refuse"` fails them |
//! | `on_invalid` | `"drop"` | `"drop"` the call, or `"terminate"` the stream |
//! | `notice` | `"sentence"` | in place of a dropped call: a `"sentence"`, the failure as `"json"`, or `"nothing"` |
//! | `budget` | none | so many invalid calls of a tool in a row, in one session; the last ends the stream |
//! | `attempts` | in memory | where they are counted: `{ redis = "redis://…" }` for several processes (feature `redis`), with `time_to_live` (`"60m"`) and `timeout` (`"500ms"`) |
//!
//! A budget breaks endless retries: the host names the session with a [`SessionKey`] in the request, and may bring its own
//! store ([`Attempts`]). A request that neither names its session nor says that it has
//! [none](stream_core::Request::without_session) is refused; one that has none has no budget.
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
