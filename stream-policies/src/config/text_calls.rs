//! Which calls are looked for in the text.

use std::fmt;

use serde::Deserialize;
use stream_core::text_calls::{DialectSet, ScanOptions};

use crate::SettingsError;
use crate::dialects::{DialectSettings, named};

/// The table `text_calls` of a policy file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TextCallsSettings {
    /// Dialects by their names.
    dialects: Vec<String>,
    /// Dialects of one's own.
    own: Vec<DialectSettings>,
    /// Also those of the model's family.
    by_model: bool,
    /// Pairs of tags around reasoning.
    reasoning: Vec<[String; 2]>,
    count: Option<Counting>,
}

/// Which calls count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Counting {
    Everywhere,
    OutsideCode,
}

impl fmt::Display for TextCallsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut dialects = self.dialects.clone();
        dialects.extend(self.own.iter().map(|own| own.name().to_owned()));
        if self.by_model {
            dialects.push("those of the model's family".to_owned());
        }
        match dialects.is_empty() {
            true => f.write_str("calls written as text are not looked for"),
            false => write!(f, "calls written as text are looked for: {}", dialects.join(", ")),
        }
    }
}

impl TextCallsSettings {
    /// Checks the names.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        for (at, name) in self.dialects.iter().enumerate() {
            let _ = named(name).map_err(|error| error.moved(format!("dialects[{at}]")))?;
        }
        for (at, own) in self.own.iter().enumerate() {
            let _ = own.build().map_err(|error| error.within(&format!("own[{at}]")))?;
            if self.own[..at].iter().any(|other| other.name() == own.name()) {
                let at = format!("own[{at}].name");
                return Err(SettingsError::new(at, "each name once", format!("{:?} twice", own.name())));
            }
        }
        let is_empty = self.dialects.is_empty() && self.own.is_empty();
        if is_empty && !self.by_model && self.reasoning.is_empty() {
            return Err(SettingsError::new(
                "text_calls",
                "`dialects`, `own`, `by_model` or `reasoning`",
                "none",
            ));
        }
        Ok(())
    }

    /// What is looked for in the answer of this model.
    pub(crate) fn dialects(&self, model: Option<&str>) -> DialectSet {
        let of_model = model.filter(|_| self.by_model).map(DialectSet::for_model);
        let mut set = of_model.unwrap_or_default();
        for dialect in self.dialects.iter().filter_map(|name| named(name).ok()) {
            if set.dialects().all(|known| known.name() != dialect.name()) {
                set = set.with(dialect);
            }
        }
        set = self.own.iter().filter_map(|own| own.build().ok()).fold(set, DialectSet::with);
        self.reasoning.iter().fold(set, |set, [open, close]| set.reasoning(open, close))
    }

    pub(crate) fn options(&self) -> Option<ScanOptions> {
        self.count.map(|count| match count {
            Counting::Everywhere => ScanOptions::strict(),
            Counting::OutsideCode => ScanOptions::new(),
        })
    }
}
