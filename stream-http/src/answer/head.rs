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
    if !headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    }
}

/// For a body that leaves as it came, decoded.
pub(crate) fn same(headers: &mut HeaderMap, length: usize, has_trailers: bool) {
    without_length(headers);
    headers.remove(CONTENT_ENCODING);
    // Trailers need a body without a length.
    if !has_trailers {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
}

/// For a body that policies have changed.
pub(crate) fn changed(headers: &mut HeaderMap, length: usize, has_trailers: bool) {
    same(headers, length, has_trailers);
    without_digests(headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
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
