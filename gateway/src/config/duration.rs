//! Durations as files and the command line write them.

use std::time::Duration;

use toml::Spanned;

use super::Fault;

/// Reads `200ms`, `15s` or `5m` where a file says it.
pub(super) fn time(said: &Spanned<String>, text: &str) -> Result<Duration, Fault> {
    duration(said.get_ref()).map_err(|message| Fault::at(text, &said.span(), message))
}

/// Reads `200ms`, `15s` or `5m`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("expected a time such as 200ms, 15s or 5m, found {text:?}");
    let digits = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let time = match unit {
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(number.checked_mul(60).ok_or_else(wrong)?),
        _ => return Err(wrong()),
    };
    if time.is_zero() { Err(wrong()) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_number_and_a_unit() {
        assert_eq!(duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration("15s"), Ok(Duration::from_secs(15)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        for wrong in ["", "15", "s", "0s", "-1s", "1h", "1.5s", "99999999999999999999s"] {
            assert_eq!(
                duration(wrong),
                Err(format!("expected a time such as 200ms, 15s or 5m, found {wrong:?}"))
            );
        }
    }
}
