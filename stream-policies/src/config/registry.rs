//! The kinds of policies that a file can name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Deserializer};
use stream_core::{Attention, Stage};

use super::blocked::BlockedSettings;
use super::common::{self, Common};
use super::error::ConfigError;
use super::node::{Key, Node, Value, take};
use super::set::{Entry, PolicySet};
use super::text_calls::TextCallsSettings;
use super::{bundled, de};
use crate::SettingsError;

/// Makes the policy of one stream.
pub(crate) type Maker = Arc<dyn Fn() -> Stage + Send + Sync>;

type Build = Arc<dyn Fn(&Node) -> Result<Maker, ConfigError> + Send + Sync>;

/// The kinds of policies that a file can name: the bundled ones, and yours.
///
/// ```
/// use serde::Deserialize;
/// use stream_core::Passthrough;
/// use stream_policies::config::Registry;
///
/// #[derive(Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Settings {
///     loud: bool,
/// }
///
/// let mut registry = Registry::new();
/// registry.register("shout", |settings: Settings| {
///     let _ = settings.loud;
///     Ok(|| Passthrough)
/// })?;
/// # #[cfg(feature = "toml")] {
/// let set = registry.read_toml("[[policy]]\nkind = \"shout\"\nloud = true")?;
/// assert_eq!(set.len(), 1);
/// let error = registry.read_toml("[[policy]]\nkind = \"shout\"\nlaud = true").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 3, column 1: policy[0]: expected a key out of loud, kind, monitor, on_failure, time_limit, when, \
///      found \"laud\"; did you mean \"loud\"?"
/// );
/// # }
/// # Ok::<(), stream_policies::config::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Registry {
    kinds: BTreeMap<String, Build>,
}

impl Registry {
    /// The bundled kinds.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Self::empty();
        bundled::register(&mut registry);
        registry
    }

    /// Creates a registry without kinds.
    #[must_use]
    pub fn empty() -> Self {
        Self { kinds: BTreeMap::new() }
    }

    /// Adds a kind. `build` is given the settings, once, when a file is read; what it returns makes the policy of each
    /// stream. A path in the error (`deny[0].tools[1]`) is turned into a place in the file.
    ///
    /// Settings should refuse keys they do not know (`#[serde(deny_unknown_fields)]`), so that a misspelt one is told.
    ///
    /// # Errors
    ///
    /// When there is a kind of this name, or the name is none.
    pub fn register<S, F, P>(
        &mut self,
        kind: &str,
        build: impl Fn(S) -> Result<F, SettingsError> + Send + Sync + 'static,
    ) -> Result<&mut Self, ConfigError>
    where
        S: DeserializeOwned,
        F: Fn() -> P + Send + Sync + 'static,
        P: Into<Stage>,
    {
        self.add(kind, move |node| {
            let make = build(de::read(node)?).map_err(|error| placed(&error, node))?;
            Ok(Arc::new(move || make().into()))
        })
    }

    pub(crate) fn add(
        &mut self,
        kind: &str,
        build: impl Fn(&Node) -> Result<Maker, ConfigError> + Send + Sync + 'static,
    ) -> Result<&mut Self, ConfigError> {
        if kind.is_empty() || self.kinds.contains_key(kind) {
            return Err(ConfigError::new(format!("expected the name of a new kind, found {kind:?}")));
        }
        self.kinds.insert(kind.to_owned(), Arc::new(build));
        Ok(self)
    }

    /// The names of all kinds.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.keys().map(String::as_str)
    }

    /// Reads a policy file in TOML.
    ///
    /// # Errors
    ///
    /// When anything of it is wrong. There is no set with a part of the policies.
    #[cfg(feature = "toml")]
    pub fn read_toml(&self, text: &str) -> Result<PolicySet, ConfigError> {
        self.read_node(super::toml::parse(text)?)
    }

    /// Reads the policies of a TOML file that also has keys of its host, which are ignored.
    ///
    /// ```
    /// use stream_policies::config::Registry;
    ///
    /// let file = "listen = \"127.0.0.1:0\"\n[[policy]]\nkind = \"passthrough\"";
    /// assert_eq!(Registry::new().read_toml_beside(file, &["listen"])?.len(), 1);
    /// # Ok::<(), stream_policies::config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When anything of it is wrong, but for what those keys say.
    #[cfg(feature = "toml")]
    pub fn read_toml_beside(&self, text: &str, others: &[&str]) -> Result<PolicySet, ConfigError> {
        let mut file = super::toml::parse(text)?;
        if let Value::Table(members) = &mut file.value {
            members.retain(|(key, _)| !others.contains(&key.name.as_str()));
        }
        self.read_node(file)
    }

    /// Reads policies from any serde format.
    ///
    /// ```
    /// use stream_policies::config::Registry;
    ///
    /// let file = serde_json::json!({ "policy": [{ "kind": "passthrough" }] });
    /// assert_eq!(Registry::new().read(file)?.len(), 1);
    /// # Ok::<(), stream_policies::config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When anything of it is wrong.
    pub fn read<'de, D: Deserializer<'de>>(&self, file: D) -> Result<PolicySet, ConfigError> {
        use serde::Deserialize as _;
        let node = Node::deserialize(file).map_err(|error| ConfigError::new(error.to_string()))?;
        self.read_node(node)
    }

    fn read_node(&self, node: Node) -> Result<PolicySet, ConfigError> {
        let place = node.place;
        let mut file = node.into_table("a table with the key policy")?;
        let none = || {
            let message = "expected [[policy]] tables, found none: to let everything pass, say so with the kind passthrough";
            ConfigError::new(message).at(place)
        };
        let (_, list) = take(&mut file, "policy").ok_or_else(none)?;
        let text_calls =
            take(&mut file, "text_calls").map(|(key, node)| text_calls(&key, &node)).transpose()?;
        let blocked = take(&mut file, "blocked").map(|(key, node)| blocked(&key, &node)).transpose()?;
        if let Some((key, _)) = file.first() {
            let known = ["blocked", "policy", "text_calls"];
            return Err(ConfigError::unknown("key", &key.name, &known).at(key.place));
        }
        let at = list.place;
        let Value::List(items) = list.value else {
            let message = format!("expected a list of tables, found {}", list.kind());
            return Err(ConfigError::new(message).within("policy", at));
        };
        let entries = items.into_iter().enumerate().map(|(number, item)| {
            let place = item.place;
            self.entry(item).map_err(|error| error.within(&format!("policy[{number}]"), place))
        });
        let entries: Vec<Entry> = entries.collect::<Result<_, _>>()?;
        if entries.is_empty() {
            return Err(none());
        }
        let needs = ["rewrite-tags", "promote-text-calls"];
        let needs = entries.iter().position(|entry| needs.contains(&entry.kind.as_str()));
        if let (Some(number), None) = (needs, &text_calls) {
            let message = format!(
                "expected [text_calls] beside the kind {}, found none: it would never see a call",
                entries[number].kind
            );
            return Err(ConfigError::new(message).within(&format!("policy[{number}]"), place));
        }
        PolicySet::new(entries, text_calls, blocked.unwrap_or_default())
    }

    fn entry(&self, node: Node) -> Result<Entry, ConfigError> {
        let place = node.place;
        let mut table = node.into_table("a table")?;
        let known: Vec<&str> = self.kinds().collect();
        let Some((_, kind)) = take(&mut table, "kind") else {
            return Err(ConfigError::new(format!(
                "expected the key kind, one of {}, found none",
                known.join(", ")
            )));
        };
        let Value::Text(name) = &kind.value else {
            let message = format!("expected a kind out of {}, found {}", known.join(", "), kind.kind());
            return Err(ConfigError::new(message).within("kind", kind.place));
        };
        let Some(build) = self.kinds.get(name) else {
            return Err(ConfigError::unknown("kind", name, &known).within("kind", kind.place));
        };
        let common = Common::take(&mut table, place)?;
        let settings = Node::new(place, Value::Table(table));
        let make = build(&settings).map_err(|error| common::with_common_keys(error, &settings))?;
        let entry = Entry { kind: name.clone(), make, common };
        if entry.common.is_for_tools() && entry.needs().of_calls() == Attention::Nothing {
            let message = format!(
                "expected a kind that looks at calls beside when.tools, found {name:?}: it would do nothing"
            );
            return Err(ConfigError::new(message));
        }
        Ok(entry)
    }
}

fn text_calls(key: &Key, node: &Node) -> Result<TextCallsSettings, ConfigError> {
    let settings = de::read::<TextCallsSettings>(node)
        .and_then(|settings| settings.check().map_err(|error| placed(&error, node)).map(|()| settings));
    settings.map_err(|error| error.within(&key.name, node.place.or(key.place)))
}

fn blocked(key: &Key, node: &Node) -> Result<BlockedSettings, ConfigError> {
    let check = |settings: BlockedSettings| match settings.check() {
        Ok(()) => Ok(settings),
        Err(error) => {
            let (at, place) = (error.at().to_owned(), node.place_of(error.at()));
            let error = ConfigError::new(error.moved("").to_string()).at(place);
            Err(if at.is_empty() { error } else { error.within(&at, None) })
        }
    };
    let settings = de::read::<BlockedSettings>(node).and_then(check);
    settings.map_err(|error| error.within(&key.name, node.place.or(key.place)))
}

/// An error of settings, at the place in the file that its path leads to.
pub(crate) fn placed(error: &SettingsError, node: &Node) -> ConfigError {
    ConfigError::new(error.to_string()).at(node.place_of(error.at()))
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.kinds()).finish()
    }
}
