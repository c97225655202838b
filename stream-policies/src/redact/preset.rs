//! Patterns for common secrets.

use serde::Deserialize;

use super::checks;
use crate::matcher::Pattern;

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

    pub(super) fn patterns(self) -> Vec<Pattern> {
        let name = self.name();
        let regexes = |all: &[&str]| all.iter().map(|regex| Pattern::regex(name, *regex)).collect();
        match self {
            Self::CloudKey => regexes(CLOUD_KEYS),
            Self::ApiKey => regexes(API_KEYS),
            Self::PrivateKey => regexes(&[PRIVATE_KEY]),
            Self::Jwt => regexes(&[JWT]),
            Self::Email => regexes(&[EMAIL]),
            Self::CardNumber => vec![Pattern::checked(name, CARD_NUMBER, checks::card)],
            Self::Iban => vec![Pattern::checked(name, IBAN, checks::iban)],
        }
    }
}

// Keys are glued to names (`key_AKIA…`), and to escapes that somebody wrote out (`\nAIza…`, `%3DAIza…`): a prefix that
// cannot begin anew inside of its own key needs no boundary before it, and the others take these too.
const CLOUD_KEYS: &[&str] = &[
    r"(?:(?-u:\b)|[a-z_]|%[0-9A-Fa-f]{2})(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    r#"(?i:aws_?secret_?(?:access_?)?key)["']?[ ]?[=:][ ]?["']?[A-Za-z0-9/+]{40}"#,
    r"(?:(?-u:\b)|\\[nrtbf]|%[0-9A-Fa-f]{2})AIza[A-Za-z0-9_-]{35}",
    r"ya29\.[A-Za-z0-9_-]{20,}",
    r"AccountKey=[A-Za-z0-9+/]{86}==",
];

const API_KEYS: &[&str] = &[
    // `task-…` is no key.
    r"(?:(?-u:\b)|_|\\[nrtbf]|%[0-9A-Fa-f]{2})sk-[A-Za-z0-9_-]{20,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    r"(?:(?-u:\b)|_|\\[nrtbf]|%[0-9A-Fa-f]{2})[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}",
];

// A key that was cut off is still one.
const PRIVATE_KEY: &str = r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----(?s:.)*?(?:-----END [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----|\z)";

const JWT: &str = r"eyJ[A-Za-z0-9_-]{5,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+";

// With all of the word that it ends in: a key may begin there (`a@b.sk-…`), and would not be looked for any more.
const EMAIL: &str = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}[A-Za-z0-9_-]*";

// Spaces and hyphens of any width between digits; between four groups of four digits anything that parts them.
const CARD_NUMBER: &str = r"(?:(?-u:\b)|_|\\[nrt])(?:[0-9](?:[ \x{A0}\x{2007}\x{2009}\x{202F}\x{2010}-\x{2015}-]?[0-9]){12,18}|[0-9]{4}(?:[ ./,_\x{A0}\x{2010}-\x{2015}-]{1,3}[0-9]{4}){3})(?:(?-u:\b)|_)";

const IBAN: &str = r"(?:(?-u:\b)|_|\\[nrt])[A-Za-z]{2}[0-9]{2}(?:[ \x{A0}\x{2007}\x{2009}\x{202F}\x{2010}-\x{2015}-]?[A-Za-z0-9]{4}){2,7}(?:[ \x{A0}\x{2007}\x{2009}\x{202F}\x{2010}-\x{2015}-]?[A-Za-z0-9]{1,4})?(?:(?-u:\b)|_)";
