//! Rules: allow and deny by tool name and by conditions on arguments.
//!
//! ```
//! use futures::FutureExt as _;
//! use stream_core::Verdict;
//! use stream_policies::CompletedCall;
//! use stream_policies::judge::Judge as _;
//! use stream_policies::judge::rules::{Condition, Otherwise, Rule, RulesSettings};
//!
//! let rules = RulesSettings::otherwise(Otherwise::Deny)
//!     .allow(Rule::tools(["read_file", "list_*"]))
//!     .allow(Rule::tools(["shell"]).when(Condition::at("/command").regex("ls|pwd")))
//!     .deny(Rule::tools(["*"]).when(Condition::at("/path").glob("*..*")).because("no way up"))
//!     .build()?;
//!
//! let judge = |name: &str, arguments: &str| {
//!     rules.judge(CompletedCall::new(name, arguments)).now_or_never().unwrap().unwrap()
//! };
//! assert_eq!(judge("list_files", ""), Verdict::Release);
//! assert_eq!(judge("shell", r#"{"command":"ls"}"#), Verdict::Release);
//! // What allows must hold for all of a value, what denies for any part of it.
//! let only_a_part = "no rule allows it: a pattern matches only a part of the value at \"/command\"";
//! assert_eq!(judge("shell", r#"{"command":"ls; rm -rf /"}"#), Verdict::drop(only_a_part));
//! assert_eq!(judge("shell", r#"{"command":"rm"}"#), Verdict::drop("no rule allows it"));
//! assert_eq!(judge("read_file", r#"{"path":"../secret"}"#), Verdict::drop("no way up"));
//! # Ok::<(), stream_policies::SettingsError>(())
//! ```
//!
//! The same from a file:
//!
//! ```toml
//! default = "deny"
//!
//! [[allow]]
//! tools = ["read_file", "list_*"]
//!
//! [[allow]]
//! tools = ["shell"]
//! when = [{ at = "/command", regex = "ls|pwd" }]
//!
//! [[deny]]
//! tools = ["*"]
//! when = [{ at = "/path", glob = "*..*" }]
//! because = "no way up"
//! ```
//!
//! # How a call is judged
//!
//! 1. A key that stands twice in its arguments denies it: readers disagree on which one counts.
//! 2. A `deny` rule that matches denies it. Their order does not matter.
//! 3. An `allow` rule that matches allows it.
//! 4. Else the `default` decides, which has to be said.
//!
//! A call that the provider runs (`server_tool_use`, `mcp_tool_use`, `mcp_call`, `web_search_call`,
//! `code_interpreter_call`, `executableCode` …) is judged by the same rules: a denied name is denied whoever runs it, and
//! `runs = "server"` or `runs = "client"` makes a rule one for either. Where no rule is for it, `server` decides, which
//! allows unless it says `"deny"`: the request asked for the provider's tools. Without a rule that could deny one, such
//! calls do not wait. A `server_tool_use` that names none of the API's own tools is a call like the client's: some clients
//! hand it out as one.
//!
//! Something opaque is judged by its kind. Where the default allows and there are rules that deny, one whose kind speaks of
//! calls (`tool_call`, a `message` beside the deltas, bytes that are no event) is denied too: what it holds might be what
//! a rule denies.
//!
//! | | `allow` | `deny` |
//! |---|---|---|
//! | tool names | exactly as the provider sent them | also in other case, trimmed, with hyphens for underscores, in Unicode's compatibility form (NFKC) and without invisible characters |
//! | conditions of one rule | all hold | all hold |
//! | keys of a pointer | exactly, and the rule allows nothing if a key beside it could be taken for one of them | also in other letters, as tool names, and without what stands between words (`file_path` and `filePath`); JSON that is written into a string is read |
//! | `equals` | the same value; numbers are compared as numbers | also an item of a list, and the text of a number or boolean |
//! | `glob`, `regex` | match all of a string, number or boolean | match a part (`regex`) or all (`glob`) of any value inside |
//! | `present = false` | not there in any letters | not there exactly |
//! | arguments that cannot be read, where a rule for this tool has conditions | the rule allows nothing | denied |
//!
//! Arguments that cannot be read and would have decided deny the call whatever the default is; a text, number or list in
//! place of an object cannot. No arguments are an empty object; the free text of a custom tool is a string at the pointer
//! `""`. Letters of other alphabets that look alike (`а` of Cyrillic) and letters with marks make another name, to clients
//! as well. Globs know `*` and `?`, both of which also
//! match `/`, and compare text: `/work/*` matches `/work/../etc`.

mod compiled;
mod places;
mod settings;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use serde::Deserialize;
use stream_core::{PolicyError, Verdict};

pub use self::settings::{Condition, Otherwise, Rule, RulesSettings, RunBy};
use super::arguments::{self, Unreadable};
use super::{CompletedCall, Cost, Judge};
use crate::names;
use crate::settings_error::SettingsError;
use compiled::{Compiled, Matched};

/// A judge that allows and denies calls by rules. The page of the [module](self) has the format.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "RulesSettings")]
pub struct Rules {
    allow: Vec<Compiled>,
    deny: Vec<Compiled>,
    otherwise: Otherwise,
    server: Otherwise,
}

impl Rules {
    /// Makes rules from their settings.
    ///
    /// # Errors
    ///
    /// When a pattern or pointer cannot be read, a rule is for no tool, or a rule could never change anything.
    pub fn new(settings: &RulesSettings) -> Result<Self, SettingsError> {
        if settings.default == Otherwise::Allow
            && settings.server == Otherwise::Allow
            && !settings.allow.is_empty()
        {
            return Err(SettingsError::new(
                "allow",
                "no rules, since the default allows",
                format!("{}", settings.allow.len()),
            ));
        }
        for (n, rule) in settings.allow.iter().enumerate() {
            if rule.because.is_some() {
                let expected = "a reason beside a rule that denies";
                let found = "one beside a rule that allows";
                return Err(SettingsError::new(format!("allow[{n}].because"), expected, found));
            }
            let otherwise = match rule.runs {
                Some(RunBy::Server) => settings.server,
                Some(RunBy::Client) => settings.default,
                None => continue,
            };
            if otherwise == Otherwise::Allow {
                let expected = "a rule for calls that are not allowed anyway";
                let found = if rule.runs == Some(RunBy::Server) { "\"server\"" } else { "\"client\"" };
                return Err(SettingsError::new(format!("allow[{n}].runs"), expected, found));
            }
        }
        let compile = |rules: &[Rule], list: &str| -> Result<Vec<Compiled>, SettingsError> {
            let each = rules.iter().enumerate();
            each.map(|(n, rule)| Compiled::new(rule).map_err(|error| error.within(&format!("{list}[{n}]"))))
                .collect()
        };
        Ok(Self {
            allow: compile(&settings.allow, "allow")?,
            deny: compile(&settings.deny, "deny")?,
            otherwise: settings.default,
            server: settings.server,
        })
    }

    /// The verdict on a call.
    #[must_use]
    pub fn verdict(&self, call: &CompletedCall) -> Verdict {
        let arguments = arguments::read(call);
        if let Err(twice @ Unreadable::DuplicateKey) = arguments {
            return Verdict::drop(twice.to_string());
        }
        let arguments = arguments.as_ref().map_err(|why| *why);
        let folded = names::fold(call.name());
        let who = if call.is_server_run() { RunBy::Server } else { RunBy::Client };
        let alias = call.alias().filter(|_| !may_hold_a_call(call, &folded));
        for name in [Some(call.name()), alias].into_iter().flatten() {
            let folded = names::fold(name);
            for rule in self.deny.iter().filter(|rule| rule.is_for(who)) {
                match rule.denies(name, &folded, arguments) {
                    Matched::No => {}
                    Matched::Yes => return Verdict::drop(rule.reason()),
                    Matched::Unreadable(why) => return Verdict::drop(why.to_string()),
                }
            }
        }
        let mut unreadable = None;
        for rule in self.allow.iter().filter(|rule| rule.is_for(who)) {
            match rule.allows(call.name(), arguments) {
                Matched::No => {}
                Matched::Yes => return Verdict::Release,
                Matched::Unreadable(why) => unreadable = Some(why),
            }
        }
        let otherwise = if call.is_server_run() { self.server } else { self.otherwise };
        match (unreadable, otherwise) {
            (Some(why), _) => Verdict::drop(why.to_string()),
            (None, Otherwise::Allow) if !self.deny.is_empty() && may_hold_a_call(call, &folded) => {
                Verdict::drop("it cannot be read and may hold a call")
            }
            (None, Otherwise::Allow) => Verdict::Release,
            (None, Otherwise::Deny) => {
                let part = arguments.ok().and_then(|arguments| {
                    self.allow.iter().find_map(|rule| rule.allows_a_part(call.name(), arguments))
                });
                Verdict::drop(match part {
                    Some(at) => {
                        format!("no rule allows it: a pattern matches only a part of the value at {at:?}")
                    }
                    None => "no rule allows it".to_owned(),
                })
            }
        }
    }
}

/// Whether something opaque may hold a call that a rule would have denied: calls in places or letters that only some
/// clients read, or bytes that nobody understands.
fn may_hold_a_call(call: &CompletedCall, folded: &str) -> bool {
    call.is_opaque() && CARRIERS.iter().any(|word| folded.contains(word))
}

/// Words in the kinds of what may hold a call.
const CARRIERS: [&str; 9] =
    ["call", "tool", "function", "message", "content_block", "response", "generation", "stray", "unknown"];

impl TryFrom<RulesSettings> for Rules {
    type Error = SettingsError;

    fn try_from(settings: RulesSettings) -> Result<Self, SettingsError> {
        Self::new(&settings)
    }
}

#[async_trait]
impl Judge for Rules {
    async fn judge(&self, call: CompletedCall) -> Result<Verdict, PolicyError> {
        Ok(self.verdict(&call))
    }

    fn cost(&self) -> Cost {
        Cost::Instant
    }

    /// Where no rule could deny one, they need not wait.
    fn judges_server_calls(&self) -> bool {
        self.server == Otherwise::Deny || self.deny.iter().any(|rule| rule.is_for(RunBy::Server))
    }
}
