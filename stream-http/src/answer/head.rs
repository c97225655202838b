//! What the headers of a policed answer may still say.

use http::header::{
    ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, TRANSFER_ENCODING,
};
use http::{HeaderMap, HeaderValue};

/// For a stream, whose length nobody knows yet.
pub(crate) fn stream(headers: &mut HeaderMap) {
    without_length(headers);
    headers.remove(CONTENT_ENCODING);
    without_digests(headers);
    in_utf_8(headers);
    if !headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    }
}

/// For a body that leaves as it came, decoded.
pub(crate) fn same(headers: &mut HeaderMap, length: usize, has_trailers: bool) {
    without_length(headers);
    headers.remove(CONTENT_ENCODING);
    in_utf_8(headers);
    // Trailers need a body without a length.
    if !has_trailers {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
}

/// For a body that policies have changed.
pub(crate) fn changed(headers: &mut HeaderMap, length: usize) {
    same(headers, length, false);
    without_digests(headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
}

/// With one type, which names no other charset: policies have read the body as UTF-8, and some clients would read its bytes as
/// letters of whatever charset the type names (`utf-7` spells every letter in two ways).
fn in_utf_8(headers: &mut HeaderMap) {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let Some(first) = types.next() else { return };
    let is_one = types.next().is_none();
    let (essence, parameters) = match first.as_bytes().iter().position(|byte| *byte == b';') {
        Some(at) => first.as_bytes().split_at(at),
        None => (first.as_bytes(), &b""[..]),
    };
    let parameters: Vec<u8> = parameters
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace() && **byte != b'"')
        .map(u8::to_ascii_lowercase)
        .collect();
    let is_known = matches!(&parameters[..], b"" | b";" | b";charset=utf-8" | b";charset=utf8");
    if is_one && (is_known || is_harmless(&parameters)) {
        return;
    }
    match HeaderValue::from_bytes(essence.trim_ascii()) {
        Ok(essence) => headers.insert(CONTENT_TYPE, essence),
        Err(_) => headers.remove(CONTENT_TYPE),
    };
}

/// Whether parameters of a type name no charset in any spelling.
fn is_harmless(parameters: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b";=-_./:".contains(byte);
    parameters.iter().all(is_plain) && !parameters.windows(7).any(|window| window == b"charset")
}

/// Without what sends a client, or a server in between, to another place for the answer.
pub(super) fn without_places(headers: &mut HeaderMap) {
    for name in ["location", "refresh", "alt-svc", "x-accel-redirect", "x-sendfile"] {
        headers.remove(name);
    }
}

/// The host's server writes its own.
pub(crate) fn without_length(headers: &mut HeaderMap) {
    headers.remove(CONTENT_LENGTH);
    headers.remove(TRANSFER_ENCODING);
}

/// What was computed over the upstream's bytes; in trailers too.
pub(crate) fn without_digests(headers: &mut HeaderMap) {
    for name in [ETAG, ACCEPT_RANGES, CONTENT_RANGE] {
        headers.remove(name);
    }
    for name in ["content-md5", "digest", "content-digest", "repr-digest", "signature", "signature-input"] {
        headers.remove(name);
    }
}
