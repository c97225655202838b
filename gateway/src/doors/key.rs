//! Keys of clients: where they stand in a request, and how they are compared.

use std::fmt;

use http::header::{AUTHORIZATION, HeaderName};
use http::uri::PathAndQuery;
use http::{HeaderMap, Uri};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The SHA-256 of a key. Keys themselves are not kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    /// The digest of a key.
    pub(crate) fn of(key: &[u8]) -> Self {
        Self(Sha256::digest(key).into())
    }

    /// Reads 64 hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut digest = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (byte, digits) in digest.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self(digest))
    }

    /// Whether both are the same, in a time that does not tell where they differ.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// A new key, from the operating system's random numbers: `gw-` and 64 hexadecimal digits.
pub(crate) fn make() -> Result<String, String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| format!("cannot make a key: {error}"))?;
    Ok(format!("gw-{}", Digest(bytes)))
}

/// Takes every key out of a request: from `Authorization: Bearer`, `x-api-key`, `x-goog-api-key` and the query's `key`.
/// Their digests, in that order.
pub(super) fn take(headers: &mut HeaderMap, uri: &mut Uri) -> Vec<Digest> {
    let mut keys = Vec::new();
    for name in HEADERS {
        for value in headers.get_all(&name) {
            let key = value.as_bytes();
            keys.push(Digest::of(if name == AUTHORIZATION { bearer(key) } else { key }.trim_ascii()));
        }
        headers.remove(name);
    }
    take_from_query(uri, &mut keys);
    keys
}

/// The credentials of a `Bearer` header. Another scheme is no key that any client has.
fn bearer(value: &[u8]) -> &[u8] {
    match value.split_at_checked(6) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(b"bearer") && rest.starts_with(b" ") => rest,
        _ => b"",
    }
}

fn take_from_query(uri: &mut Uri, keys: &mut Vec<Digest>) {
    let Some(query) = uri.query() else { return };
    let mut kept = Vec::new();
    for pair in query.split('&') {
        // Names are compared as servers read them: `%6bey` is `key`.
        let mut decoded = form_urlencoded::parse(pair.as_bytes());
        match decoded.next() {
            Some((name, key)) if name == "key" => keys.push(Digest::of(key.as_bytes())),
            _ => kept.push(pair),
        }
    }
    if kept.len() == query.split('&').count() {
        return;
    }
    let path = match kept.is_empty() {
        true => uri.path().to_owned(),
        false => format!("{}?{}", uri.path(), kept.join("&")),
    };
    let mut parts = uri.clone().into_parts();
    // What is left of a valid query is one.
    parts.path_and_query = path.parse::<PathAndQuery>().ok();
    *uri = Uri::from_parts(parts).unwrap_or_default();
}

const HEADERS: [HeaderName; 3] =
    [AUTHORIZATION, HeaderName::from_static("x-api-key"), HeaderName::from_static("x-goog-api-key")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_it_is_written() {
        let digest = Digest::of(b"secret");
        let hex = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
        assert_eq!(digest.to_string(), hex);
        assert_eq!(Digest::parse(hex), Some(digest));
        assert_eq!(Digest::parse(&hex.to_uppercase()), Some(digest));
        for wrong in ["", "2bb8", &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(Digest::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_key_that_is_made_is_new_each_time() {
        let (one, other) = (make().unwrap(), make().unwrap());
        assert_eq!((one.len(), &one[..3]), (67, "gw-"));
        assert_ne!(one, other);
    }

    fn taken(headers: &[(&'static str, &'static str)], uri: &str) -> (Vec<Digest>, usize, String) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let mut uri = uri.parse().unwrap();
        let keys = take(&mut map, &mut uri);
        (keys, map.len(), uri.to_string())
    }

    #[test]
    fn keys_are_taken_out_of_headers_and_query() {
        let key = Digest::of(b"k");
        let everywhere =
            [("authorization", "Bearer k"), ("x-api-key", "k"), ("x-goog-api-key", " k"), ("accept", "*/*")];
        assert_eq!(taken(&everywhere, "/v1/x?alt=sse"), (vec![key; 3], 1, "/v1/x?alt=sse".to_owned()));
        for query in ["key=k", "%6bey=k", "k%65y=%6B"] {
            assert_eq!(taken(&[], &format!("/v1/x?{query}")), (vec![key], 0, "/v1/x".to_owned()));
            let beside = format!("http://host/v1/x?a=%26&{query}&alt=sse");
            assert_eq!(taken(&[], &beside), (vec![key], 0, "http://host/v1/x?a=%26&alt=sse".to_owned()));
        }
        assert_eq!(taken(&[], "/v1/x?keys=k"), (vec![], 0, "/v1/x?keys=k".to_owned()));
    }

    #[test]
    fn only_a_bearer_is_a_key() {
        let (none, key) = (Digest::of(b""), Digest::of(b"k"));
        for (value, digest) in [("bearer  k", key), ("Basic k", none), ("k", none), ("Bearerk", none)] {
            assert_eq!(taken(&[("authorization", value)], "/"), (vec![digest], 0, "/".to_owned()));
        }
    }
}
