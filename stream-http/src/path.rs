//! How an upstream may read a path.
//!
//! A client chooses how it writes a path, and servers differ in what they make of it. What is compared with the known
//! routes is therefore not one normal form but every reading that a server is known to make; a route counts only if
//! no two readings contradict each other.

/// The readings of a path: lists of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Readings(Vec<Vec<String>>);

impl Readings {
    /// Reads a path in every way; `None` if it holds what no honest client writes: control characters, or
    /// percent-encoding so deep that it does not settle.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let mut texts = rounds(path)?;
        if texts.last()?.chars().any(|c| c.is_control() || c == '\u{fffd}') {
            return None;
        }
        let slashed: Vec<String> = texts.iter().filter(|text| text.contains('\\')).cloned().collect();
        texts.extend(slashed.into_iter().map(|text| text.replace('\\', "/")));
        let mut all = Vec::new();
        for text in texts {
            let plain = segments(&text);
            let bare = plain.iter().map(|segment| without_parameters(segment));
            // A segment of parameters alone is an empty one.
            let bare: Vec<String> = bare.filter(|segment| !segment.is_empty()).collect();
            all.extend([resolved(&plain), resolved(&bare), plain, bare]);
        }
        all.sort();
        all.dedup();
        Some(Self(all))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[String]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// Whether a reading holds `.` or `..`.
    pub(crate) fn has_dots(&self) -> bool {
        self.0.iter().flatten().any(|segment| segment == "." || segment == "..")
    }

    /// The way most servers read it: decoded once.
    pub(crate) fn usual(path: &str) -> Vec<String> {
        segments(&decoded(path))
    }
}

/// A query's value for a name, however both are written; the first counts.
pub(crate) fn query_value(query: &str, name: &str) -> Option<String> {
    query.split(['&', ';']).find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        decoded(key).eq_ignore_ascii_case(name).then(|| decoded(value))
    })
}

fn segments(path: &str) -> Vec<String> {
    path.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

/// `.` and `..` carried out.
fn resolved(segments: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for segment in segments {
        match segment.as_str() {
            "." => {}
            ".." => {
                out.pop();
            }
            _ => out.push(segment.clone()),
        }
    }
    out
}

/// Without `;name=value`, and without the dots and blanks at the end that some servers ignore.
fn without_parameters(segment: &str) -> String {
    let name = segment.split(';').next().unwrap_or_default();
    let trimmed = name.trim().trim_end_matches(['.', ' ']);
    if trimmed.is_empty() { name.to_owned() } else { trimmed.to_owned() }
}

/// The path as it was written, and decoded once, twice and so on until nothing changes any more.
fn rounds(path: &str) -> Option<Vec<String>> {
    let mut texts = vec![path.to_owned()];
    for _ in 0..=MOST_ROUNDS {
        let last = texts.last()?;
        let next = decoded(last);
        if next == *last {
            return Some(texts);
        }
        texts.push(next);
    }
    None
}

/// Percent-decoded once; what is no encoding stays.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = |offset: usize| bytes.get(at + offset).and_then(|b| char::from(*b).to_digit(16));
        if let (b'%', Some(high), Some(low)) = (byte, hex(1), hex(2)) {
            out.push(u8::try_from(high * 16 + low).unwrap_or(b'%'));
            at += 3;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

const MOST_ROUNDS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn has(path: &str, reading: &[&str]) -> bool {
        Readings::of(path).is_some_and(|all| all.iter().any(|one| one == reading))
    }

    #[test]
    fn a_plain_path_has_one_reading() {
        let readings = Readings::of("/v1/chat/completions").unwrap();
        let all: Vec<&[String]> = readings.iter().collect();
        assert_eq!(all, [["v1", "chat", "completions"]]);
        assert_eq!(Readings::of("//v1//chat/completions/").unwrap(), readings);
    }

    #[test]
    fn a_tricky_path_has_every_reading_a_server_makes() {
        let real = ["v1", "chat", "completions"];
        for path in [
            "/v1/chat%2Fcompletions",
            "/v1/%63hat/completions",
            "/v1/%2563hat/completions",
            "/v1/models/../chat/completions",
            "/v1/models/%2e%2e/chat/completions",
            "/v1\\chat\\completions",
            "/v1/chat/completions;a=b",
            "/v1/chat/completions/;",
            "/v1/;a=b/chat/;/completions",
            "/v1/chat/completions;\\a",
            "/v1/chat/completions;%2fa",
            "/v1/chat/completions;%255ca",
            "/v1/chat/completions.",
            "/v1/chat/completions%20",
        ] {
            assert!(has(path, &real), "{path}");
        }
        assert!(has("/v1/chat/../models", &["v1", "chat", "..", "models"]));
    }

    #[test]
    fn control_characters_and_endless_encoding_have_none() {
        assert_eq!(Readings::of("/v1/models%00/x"), None);
        assert_eq!(Readings::of("/v1/models%0d%0a"), None);
        assert_eq!(Readings::of("/v1/%ff"), None);
        assert_eq!(Readings::of("/v1/%2525252525252541"), None);
    }

    #[test]
    fn a_query_is_read_decoded_and_in_any_case() {
        assert_eq!(query_value("a=1&starting%5Fafter=7", "starting_after").as_deref(), Some("7"));
        assert_eq!(query_value("STREAM=true", "stream").as_deref(), Some("true"));
        assert_eq!(query_value("streams=true", "stream"), None);
    }
}
