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

const CLOUD_KEYS: &[&str] = &[
    r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)",
    r#"(?i:aws_?secret_?(?:access_?)?key)["']?[ ]?[=:][ ]?["']?[A-Za-z0-9/+]{40}"#,
    r"(?-u:\b)AIza[A-Za-z0-9_-]{35}",
    r"(?-u:\b)ya29\.[A-Za-z0-9_-]{20,}",
    r"(?-u:\b)AccountKey=[A-Za-z0-9+/]{86}==",
];

const API_KEYS: &[&str] = &[
    r"(?-u:\b)sk-[A-Za-z0-9_-]{20,}",
    r"(?-u:\b)hf_[A-Za-z0-9]{30,}",
    r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    r"(?-u:\b)glpat-[A-Za-z0-9_-]{20,}",
    r"(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    r"(?-u:\b)[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"(?-u:\b)SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    r"(?-u:\b)npm_[A-Za-z0-9]{36}",
    r"(?-u:\b)pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}",
];

// A key that was cut off is still one.
const PRIVATE_KEY: &str = r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----(?s:.)*?(?:-----END [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----|\z)";

const JWT: &str = r"(?-u:\b)eyJ[A-Za-z0-9_-]{5,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+";

const EMAIL: &str = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}";

const CARD_NUMBER: &str = r"(?-u:\b)[0-9](?:[ -]?[0-9]){12,18}(?-u:\b)";

const IBAN: &str = r"(?-u:\b)[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?-u:\b)";
