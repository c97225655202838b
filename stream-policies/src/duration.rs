//! Durations in settings: `"250ms"`, `"10s"`, `"2m"`.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::settings_error::SettingsError;

/// Reads a duration.
#[cfg(feature = "http")]
pub(crate) fn required<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).map_err(D::Error::custom)
}

/// Reads a duration, or `"none"`.
pub(crate) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text == "none" {
        return Ok(None);
    }
    parse(&text).map(Some).map_err(D::Error::custom)
}

/// Reads a duration where there is one: what has no "none" has no other way to be left out.
pub(crate) fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).map(Some).map_err(D::Error::custom)
}

fn parse(text: &str) -> Result<Duration, SettingsError> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let milliseconds = match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60_000),
        _ => None,
    };
    let number: Option<u64> = number.parse().ok();
    number
        .zip(milliseconds)
        .and_then(|(number, unit)| number.checked_mul(unit))
        .map(Duration::from_millis)
        .ok_or_else(|| SettingsError::new("", "a duration such as 250ms, 10s or 2m", format!("{text:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(parse("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["", "10", "s", "-1s", "1 s", "1h", "99999999999999999m"] {
            assert_eq!(
                parse(wrong).unwrap_err().to_string(),
                format!("expected a duration such as 250ms, 10s or 2m, found {wrong:?}")
            );
        }
    }
}
