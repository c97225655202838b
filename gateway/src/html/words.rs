//! Numbers and deeds in words.

use std::time::Duration;

use stream_core::Action;

/// `0 ms`, `430 ms`, `10.1 s`, `3 min 20 s`.
pub(super) fn time(time: Duration) -> String {
    let ms = time.as_millis();
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

/// `1 byte`, `254 bytes`, `12.3 kB`.
pub(super) fn bytes(count: usize) -> String {
    match count {
        1 => "1 byte".to_owned(),
        0..10_000 => format!("{count} bytes"),
        10_000..1_000_000 => format!("{}.{} kB", count / 1000, count % 1000 / 100),
        _ => format!("{}.{} MB", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// `1 block`, `2 blocks`.
pub(super) fn count(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// What was done, which is also the class that colours it.
pub(super) fn deed(action: Action) -> &'static str {
    match action {
        Action::Released => "released",
        Action::Dropped => "dropped",
        Action::Edited => "rewritten",
        Action::Inserted => "inserted",
        Action::Normalised => "normalised",
        Action::Terminated => "ended",
        Action::Failed => "failed",
        _ => "decided",
    }
}

/// A text on one line, not longer than this.
pub(super) fn excerpt(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_exact_as_a_person_needs() {
        let told =
            [0, 430, 999, 1000, 10_090, 59_999, 60_000, 200_000].map(|ms| time(Duration::from_millis(ms)));
        assert_eq!(
            told,
            ["0 ms", "430 ms", "999 ms", "1.0 s", "10.0 s", "59.9 s", "1 min 0 s", "3 min 20 s"]
        );
    }

    #[test]
    fn bytes_are_counted_out_while_they_are_few() {
        let told = [0, 1, 254, 9999, 12_345, 1_250_000].map(bytes);
        assert_eq!(told, ["0 bytes", "1 byte", "254 bytes", "9999 bytes", "12.3 kB", "1.2 MB"]);
    }

    #[test]
    fn an_excerpt_is_cut_between_characters() {
        assert_eq!(excerpt("größer", 3), "grö…");
        assert_eq!(excerpt("größer", 6), "größer");
    }
}
