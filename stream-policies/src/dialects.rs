//! Dialects of one's own, as a file describes them.

use serde::Deserialize;
use stream_core::text_calls::{Dialect, known};

use crate::SettingsError;

/// The description of a dialect: the tags around a call, what stands inside, and the tags around several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DialectSettings {
    name: String,
    body: BodyKind,
    call: Option<[String; 2]>,
    #[serde(default)]
    also_call: Vec<String>,
    wrapper: Option<[String; 2]>,
    #[serde(default)]
    wrapper_optional: bool,
    separator: Option<String>,
    list: Option<Lists>,
    parameter: Option<[String; 2]>,
    #[serde(default)]
    framed_values: bool,
    fields: Option<FieldNames>,
    #[serde(default)]
    name_is_key: bool,
    quote: Option<String>,
    #[serde(default)]
    only_whole: bool,
}

/// What stands inside a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BodyKind {
    Json,
    JsonArguments,
    Tagged,
    Xml,
    Python,
    Loose,
}

/// Whether calls stand in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Lists {
    Always,
    Maybe,
}

/// The keys of a JSON call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldNames {
    name: String,
    arguments: String,
}

impl DialectSettings {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The dialect, to be looked for.
    pub(crate) fn build(&self) -> Result<Dialect, SettingsError> {
        self.check()?;
        if !self.has_marker() && !self.only_whole {
            let expected = "a tag before the call or a wrapper, or `only_whole`";
            return Err(SettingsError::new("call", expected, "neither"));
        }
        Ok(self.made())
    }

    /// The dialect, in which calls are only written: one at a time, in the first of its forms.
    pub(crate) fn build_to_write(&self) -> Result<Dialect, SettingsError> {
        self.check()?;
        for (key, is_set) in [
            ("also_call", !self.also_call.is_empty()),
            ("wrapper_optional", self.wrapper_optional),
            ("separator", self.separator.is_some()),
            ("list", self.list == Some(Lists::Maybe)),
            ("only_whole", self.only_whole),
        ] {
            if is_set {
                let found = "a dialect in which calls are only written, so that it would do nothing";
                return Err(SettingsError::new(key, "[[text_calls.own]] around it", found));
            }
        }
        Ok(self.made())
    }

    fn has_marker(&self) -> bool {
        let opens = self.call.iter().map(|[open, _]| open).chain(&self.also_call);
        let wrapper = self.wrapper.iter().map(|[open, _]| open);
        opens.chain(wrapper).any(|open| !open.is_empty())
    }

    fn made(&self) -> Dialect {
        let name = self.name.clone();
        let mut dialect = match (self.body, &self.quote) {
            (BodyKind::Json, _) => Dialect::json(name),
            (BodyKind::JsonArguments, _) => Dialect::json_arguments(name),
            (BodyKind::Tagged, _) => Dialect::tagged(name),
            (BodyKind::Xml, _) => Dialect::xml(name),
            (BodyKind::Python, _) => Dialect::python(name),
            (BodyKind::Loose, quote) => Dialect::loose(name, quote.as_deref().unwrap_or("\"")),
        };
        if let Some([open, close]) = &self.call {
            dialect = dialect.call(open, close);
        }
        dialect = self.also_call.iter().fold(dialect, |dialect, open| dialect.also_call(open));
        if let Some([open, close]) = &self.wrapper {
            dialect = dialect.wrapper(open, close);
        }
        if let Some([open, close]) = &self.parameter {
            dialect = dialect.parameter(open, close);
        }
        if let Some(FieldNames { name, arguments }) = &self.fields {
            dialect = dialect.fields(name, arguments);
        }
        if let Some(separator) = &self.separator {
            dialect = dialect.separator(separator);
        }
        let with = |dialect: Dialect, is_set: bool, set: fn(Dialect) -> Dialect| {
            if is_set { set(dialect) } else { dialect }
        };
        dialect = with(dialect, self.wrapper_optional, Dialect::wrapper_optional);
        dialect = with(dialect, self.framed_values, Dialect::framed_values);
        dialect = with(dialect, self.name_is_key, Dialect::name_is_key);
        dialect = with(dialect, self.list == Some(Lists::Always), Dialect::array);
        dialect = with(dialect, self.list == Some(Lists::Maybe), Dialect::maybe_array);
        with(dialect, self.only_whole, Dialect::only_whole)
    }

    /// Refuses what could never match, and what would have no effect.
    fn check(&self) -> Result<(), SettingsError> {
        let wrong = |at: &str, expected: &str, found: &str| Err(SettingsError::new(at, expected, found));
        if self.name.is_empty() || known::named(&self.name).is_some() {
            let found = if self.name.is_empty() { "an empty one" } else { "the name of a known dialect" };
            return wrong("name", "a name of its own", found);
        }
        let is_json = self.body == BodyKind::Json;
        let is_tagged = matches!(self.body, BodyKind::Tagged | BodyKind::Xml);
        let opens = self.call.iter().map(|[open, _]| open).chain(&self.also_call);
        for open in opens {
            let has_name = open.contains("{name}") || open.contains("{id:name}");
            if !is_json && !has_name {
                return wrong(
                    "call",
                    "a pattern with {name}, since the name stands in the tag",
                    "none in it",
                );
            }
            if is_json && has_name {
                return wrong(
                    "call",
                    "a pattern without {name}, since the name stands in the JSON",
                    "one in it",
                );
            }
        }
        if !is_json && self.call.is_none() {
            return wrong("call", "the tags around a call, since the name stands in them", "none");
        }
        if is_tagged
            && !self
                .parameter
                .as_ref()
                .is_some_and(|[open, close]| open.contains("{key}") && !close.is_empty())
        {
            return wrong("parameter", "the tags around a parameter, the first with {key}", "none such");
        }
        let call_closes = self.call.as_ref().is_some_and(|[_, close]| !close.is_empty());
        if is_tagged && !call_closes {
            return wrong(
                "call",
                "a tag behind the call, since its parameters do not say where it ends",
                "none",
            );
        }
        let loose = self.body == BodyKind::Loose;
        for (key, is_set, takes, only) in [
            ("parameter", self.parameter.is_some(), is_tagged, "the body `tagged` or `xml`"),
            ("framed_values", self.framed_values, is_tagged, "the body `tagged` or `xml`"),
            (
                "fields",
                self.fields.is_some(),
                is_json && !self.name_is_key,
                "the body `json` without `name_is_key`",
            ),
            ("name_is_key", self.name_is_key, is_json, "the body `json`"),
            ("quote", self.quote.is_some(), loose, "the body `loose`"),
            ("also_call", !self.also_call.is_empty(), self.call.is_some(), "`call`"),
            ("wrapper_optional", self.wrapper_optional, self.wrapper.is_some(), "`wrapper`"),
            ("separator", self.separator.is_some(), self.wrapper.is_some(), "`wrapper`"),
        ] {
            if is_set && !takes {
                return wrong(key, &format!("{only} beside it"), "none, so that it would do nothing");
            }
        }
        if self.quote.as_ref().is_some_and(String::is_empty) || (loose && self.quote.is_none()) {
            return wrong("quote", "what stands around strings", "nothing");
        }
        Ok(())
    }
}

/// The dialect of this name.
pub(crate) fn named(name: &str) -> Result<Dialect, SettingsError> {
    known::named(name).ok_or_else(|| {
        let names: Vec<String> = known::all().iter().map(|dialect| dialect.name().to_owned()).collect();
        SettingsError::new("dialect", format!("a dialect out of {}", names.join(", ")), format!("{name:?}"))
    })
}
