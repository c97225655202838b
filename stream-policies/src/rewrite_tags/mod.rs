//! RewriteTags: writes calls in the text with the tags that the client's parser knows.
//!
//! [`Config::text_calls`](stream_core::Config::text_calls) sets the dialects that are searched for; without it the stream is refused. Structured
//! calls of the API pass unchanged.
//!
//! ```
//! use stream_core::Config;
//! use stream_core::text_calls::{DialectSet, known};
//! use stream_policies::RewriteTagsSettings;
//! use stream_testkit::{Replay, Script, WireKind};
//!
//! let rewrite = RewriteTagsSettings::tags("ojlk,dfsd").build()?;
//! let text = r#"I will.<|tool_call|>{"name": "look", "arguments": {}}</|tool_call|>"#;
//! let log = Script::new().text(text).to_log(WireKind::OpenAiChat);
//! let config = Config::default().text_calls(DialectSet::new().with(known::qwen_prompted()));
//! let replayed = Replay::new(&log).config(config).policy(move || rewrite.clone()).run();
//! let content = &replayed.view().choices[0].content;
//! assert_eq!(content, r#"I will.ojlk{"name": "look", "arguments": {}}dfsd"#);
//! # Ok::<(), stream_policies::SettingsError>(())
//! ```
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `tags` | one of the three; with `allow` none is needed, and calls pass unchanged unless the request asks | `"open,close"`, or `{ open = "…", close = "…" }`: exactly these, nothing is added |
//! | `own` | one of the three | a [dialect of one's own](stream_core::text_calls), as in `[[text_calls.own]]` |
//! | `allow` | none | tags, as in `tags`, that a request may ask for with the extension [`CallTags`](stream_core::CallTags); other requested tags have no effect |
//! | `dialect` | one of the three | the dialect that calls are written in instead, by its name: [`known::named`](stream_core::text_calls::known::named) |
//!
//! With `tags`, the bytes between the call's own tags are kept. Where a tag holds the name of the call (`<invoke name="…">`), the call's own
//! tags are kept too, inside of the new ones. Tags around several calls are replaced by new tags around each. With `dialect`, name and
//! arguments are written anew; a call that the other dialect cannot express passes unchanged.
//!
//! # What is held, and for how long
//!
//! A call is held until it is whole, by the search itself. Text that only begins like a call passes unchanged.

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use self::policy::RewriteTags;
pub use self::settings::RewriteTagsSettings;
