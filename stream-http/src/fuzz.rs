//! A fuzz body: what holds for any path at all. `docs/fuzzing.md` says how it is run.

#![allow(clippy::panic, reason = "a body panics where a promise is broken")]

use std::sync::LazyLock;

use http::Method;

use crate::{Route, Settings};

/// A path in which a server may find a route that carries model output is never plain: it is policed or unknown, whatever
/// its method.
///
/// # Panics
///
/// When that is not so.
pub fn path(data: &[u8]) {
    let path = String::from_utf8_lossy(data);
    let routes = [Method::GET, Method::POST, Method::DELETE].map(|method| SETTINGS.route(&method, &path));
    if routes.contains(&Route::Plain)
        && may_be_generative(&path)
        && let Some(reading) = readings(&path).into_iter().find(|reading| is_generative(reading))
    {
        panic!("{path:?} is {routes:?}, and a server may read {reading:?}");
    }
}

static SETTINGS: LazyLock<Settings> = LazyLock::new(Settings::new);

/// Whether any reading has a word that routes with model output have, so that not all readings are made of every path.
fn may_be_generative(path: &str) -> bool {
    let words = ["completions", "messages", "responses", "generatecontent"];
    let has_word = |text: &str| {
        let text = text.to_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    std::iter::successors(Some(path.to_owned()), |text| Some(decoded(text)))
        .take(DECODED)
        .any(|text| has_word(&text))
}

/// What a server may make of a path: decoded a few times or not at all, backslashes for slashes, without parameters, dots
/// carried out.
fn readings(path: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut text = path.to_owned();
    for _ in 0..DECODED {
        for slashed in [text.clone(), text.replace('\\', "/")] {
            for parameters in [true, false] {
                let cut = |segment: &str| match segment.split_once(';') {
                    Some((name, _)) if !parameters => name.to_owned(),
                    _ => segment.to_owned(),
                };
                let segments: Vec<String> =
                    slashed.split('/').map(cut).map(|text| text.to_lowercase()).collect();
                all.push(dots(&segments));
                all.push(segments);
            }
        }
        text = decoded(&text);
    }
    all
}

/// How many readings differ in how often they are decoded.
const DECODED: usize = 4;

fn dots(segments: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for segment in segments {
        match segment.as_str() {
            "." => {}
            ".." => drop(out.pop()),
            _ => out.push(segment.clone()),
        }
    }
    out
}

fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut out: Vec<u8> = pieces.next().unwrap_or_default().into();
    for piece in pieces {
        let byte = piece.get(..2).filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match byte.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                out.extend(piece[2..].bytes());
            }
            None => out.extend([b"%", piece.as_bytes()].concat()),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn is_generative(reading: &[String]) -> bool {
    let named: Vec<&str> = reading.iter().map(String::as_str).filter(|segment| !segment.is_empty()).collect();
    match named[..] {
        [.., "chat", "completions"] | [.., "messages" | "responses"] => true,
        [.., last] => last.ends_with(":generatecontent") || last.ends_with(":streamgeneratecontent"),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_path_that_may_carry_model_output_is_never_plain() {
        stream_testkit::fuzz::each_seed("path", super::path);
    }
}
