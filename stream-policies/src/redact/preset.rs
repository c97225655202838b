//! Patterns for common secrets.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use super::checks;
use crate::SettingsError;
use crate::matcher::{Lead, Pattern, Patterns};

/// A kind of secret that is known by its shape. What is found is recorded under the preset's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Preset {
    /// Keys of cloud providers: access keys of AWS and secret ones that are named so, keys and access tokens of Google
    /// Cloud, account keys of Azure storage.
    CloudKey,
    /// Keys of APIs, by their prefixes: OpenAI, Anthropic, Hugging Face, GitHub, GitLab, Slack, Stripe, SendGrid, npm,
    /// PyPI.
    ApiKey,
    /// Private keys in PEM form. One that does not end reaches to the end of the text.
    PrivateKey,
    /// Signed JSON web tokens.
    Jwt,
    /// E-mail addresses.
    Email,
    /// Card numbers whose checksum (Luhn) holds, in groups or not.
    CardNumber,
    /// International bank account numbers whose checksum holds, in groups or not.
    Iban,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::CloudKey,
        Self::ApiKey,
        Self::PrivateKey,
        Self::Jwt,
        Self::Email,
        Self::CardNumber,
        Self::Iban,
    ];

    /// The name under which hits are recorded, and by which files know it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CloudKey => "cloud_key",
            Self::ApiKey => "api_key",
            Self::PrivateKey => "private_key",
            Self::Jwt => "jwt",
            Self::Email => "email",
            Self::CardNumber => "card_number",
            Self::Iban => "iban",
        }
    }

    /// The patterns of presets, compiled once for all policies that look for just these.
    pub(super) fn compiled(presets: &[Self]) -> Result<Patterns, SettingsError> {
        static COMPILED: Mutex<BTreeMap<Vec<Preset>, Patterns>> = Mutex::new(BTreeMap::new());
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(patterns) = compiled.get(presets) {
            return Ok(patterns.clone());
        }
        let all: Vec<Pattern> = presets.iter().flat_map(|preset| preset.patterns()).collect();
        let patterns = Patterns::new(&all)?;
        if compiled.len() < MOST_COMPILED {
            compiled.insert(presets.to_vec(), patterns.clone());
        }
        Ok(patterns)
    }

    pub(super) fn patterns(self) -> Vec<Pattern> {
        let name = self.name();
        let regexes = |all: &[(Lead, &str)]| {
            all.iter().map(|(lead, regex)| Pattern::preset(name, regex, *lead)).collect()
        };
        match self {
            Self::CloudKey => regexes(CLOUD_KEYS),
            Self::ApiKey => regexes(API_KEYS),
            Self::PrivateKey => regexes(&[(Lead::Any, PRIVATE_KEY)]),
            Self::Jwt => regexes(&[(Lead::Any, JWT)]),
            Self::Email => regexes(&[(Lead::Any, EMAIL)]),
            Self::CardNumber => {
                vec![Pattern::preset(name, CARD_NUMBER, Lead::Number).checked(checks::card)]
            }
            Self::Iban => vec![Pattern::preset(name, IBAN, Lead::Number).checked(checks::iban)],
        }
    }
}

/// How many lists of presets stay compiled.
const MOST_COMPILED: usize = 32;

// Keys are glued to names (`key_AKIA…`), and to escapes that somebody wrote out (`\nAIza…`, `%3DAIza…`): a prefix that
// cannot begin anew inside of its own key needs no lead, and the others take these too.
const CLOUD_KEYS: &[(Lead, &str)] = &[
    (Lead::Capitals, r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    (Lead::Any, r#"(?i:aws_?secret_?(?:access_?)?key)["']?[ ]?[=:][ ]?["']?[A-Za-z0-9/+]{40}"#),
    (Lead::Key, r"AIza[A-Za-z0-9_-]{35}"),
    (Lead::Any, r"ya29\.[A-Za-z0-9_-]{20,}"),
    (Lead::Any, r"AccountKey=[A-Za-z0-9+/]{86}=="),
];

const API_KEYS: &[(Lead, &str)] = &[
    // `task-…` is no key.
    (Lead::Key, r"sk-[A-Za-z0-9_-]{20,}"),
    (Lead::Any, r"hf_[A-Za-z0-9]{30,}"),
    (Lead::Any, r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    (Lead::Any, r"glpat-[A-Za-z0-9_-]{20,}"),
    (Lead::Any, r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    (Lead::Any, r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}"),
    (Lead::Key, r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    (Lead::Any, r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    (Lead::Any, r"npm_[A-Za-z0-9]{36}"),
    (Lead::Any, r"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}"),
];

// A key that was cut off is still one.
const PRIVATE_KEY: &str = r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----(?s:.)*?(?:-----END [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----|\z)";

const JWT: &str = r"eyJ[A-Za-z0-9_-]{5,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+";

// With all of the word that it ends in: a key may begin there (`a@b.sk-…`), and would not be looked for any more.
const EMAIL: &str = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}[A-Za-z0-9_-]*";

// Spaces and hyphens of any width between digits; between four groups of four digits anything that parts them.
const CARD_NUMBER: &str = r"(?:[0-9](?:[ \x{A0}\x{2007}\x{2009}\x{202F}\x{2010}-\x{2015}-]?[0-9]){12,18}|[0-9]{4}(?:[ ./,_\x{A0}\x{2010}-\x{2015}-]{1,3}[0-9]{4}){3})(?:(?-u:\b)|_)";

const IBAN: &str = r"[A-Za-z]{2}[0-9]{2}(?:[ \x{A0}\x{2007}\x{2009}\x{202F}\x{2010}-\x{2015}-]?[A-Za-z0-9]{4}){2,7}(?:[ \x{A0}\x{2007}\x{2009}\x{202F}\x{2010}-\x{2015}-]?[A-Za-z0-9]{1,4})?(?:(?-u:\b)|_)";
