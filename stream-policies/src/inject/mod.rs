//! Inject: inserts a notice before or after an answer.
//!
//! ```
//! use stream_policies::InjectSettings;
//! use stream_testkit::{Replay, Script, WireKind};
//!
//! let inject = InjectSettings::default().before("Made by a model. ").after(" Check it.").build()?;
//! let log = Script::new().text("Hello.").to_log(WireKind::Gemini);
//! let replayed = Replay::new(&log).policy(move || inject.clone()).run();
//! assert_eq!(replayed.view().choices[0].content, "Made by a model. Hello. Check it.");
//! # Ok::<(), stream_policies::SettingsError>(())
//! ```
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `before` | none | text before the first content or call of a choice; reasoning stays in front of it |
//! | `after` | none | text before a choice's finish |
//! | `required` | `false` | whether a notice for which there is no place ends the stream with an error |
//!
//! # Where there is no place
//!
//! Anthropic allows no text after a tool call: the next request would be refused. `after` is left out there, and where a cut stream has no
//! finish. `before` is left out where a choice is empty. Neither is an error unless the notice is `required`, and then only where the
//! stream goes on.
//!
//! # What is held
//!
//! Nothing.

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use self::policy::Inject;
pub use self::settings::InjectSettings;
