//! RewriteTags: calls that the model writes as text leave with the tags that the client's parser knows.
//!
//! Which dialects are looked for is a setting of the stream ([`Config::text_calls`](stream_core::Config::text_calls)):
//! without it there is nothing to rewrite. Calls that come through the API's own channel pass as they are.
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
//! | `tags` | one of the three; with `allow` none may be said, and calls then leave as they came unless the request asks | `"open,close"`, or `{ open = "…", close = "…" }`: exactly these, nothing is added |
//! | `own` | one of the three | a [dialect of one's own](stream_core::text_calls), as in `[[text_calls.own]]` |
//! | `allow` | none | tags, as in `tags`, that a request may ask for with the extension [`CallTags`](stream_core::CallTags); other tags that it asks for have no effect |
//! | `dialect` | one of the three | the dialect that calls are written in instead, by its name: [`known::named`](stream_core::text_calls::known::named) |
//!
//! With `tags`, what stands between the call's own tags is kept byte by byte. Where its name stands in a tag
//! (`<invoke name="…">`), the call's own tags are kept as well and the new ones stand around them. Tags around several calls
//! give way to the new ones around each. With `dialect`, name and arguments are written anew; a call that the other dialect
//! cannot say is left as it came.
//!
//! # What is held back
//!
//! Nothing more than detection does: a call until it is whole. What begins like a call and is none leaves as it came.

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use self::policy::RewriteTags;
pub use self::settings::RewriteTagsSettings;
