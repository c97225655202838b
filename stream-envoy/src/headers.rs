//! Headers as Envoy lists them, and as the `http` crate does.

use bytes::Bytes;
use http::{HeaderName, Method, StatusCode, Uri};

use crate::proto::{self, APPEND, HeaderMutation, HeaderValueOption, OVERWRITE};

/// Reads a request's head; the error says what was expected.
pub(crate) fn request(list: proto::HeaderMap) -> Result<http::request::Parts, String> {
    let (mut parts, ()) = http::Request::new(()).into_parts();
    let (mut method, mut path) = (None, None);
    parts.headers = read(list, |name, value| match name {
        ":method" => method = Method::from_bytes(&value).ok(),
        ":path" => path = Uri::from_maybe_shared(value).ok(),
        _ => {}
    })?;
    parts.method = method.ok_or("expected a method, found none")?;
    parts.uri = path.ok_or("expected a path, found none")?;
    Ok(parts)
}

/// Reads a response's head.
pub(crate) fn response(list: proto::HeaderMap) -> Result<http::response::Parts, String> {
    let (mut parts, ()) = http::Response::new(()).into_parts();
    let mut status = None;
    parts.headers = read(list, |name, value| {
        if name == STATUS {
            status = StatusCode::from_bytes(&value).ok();
        }
    })?;
    parts.status = status.ok_or("expected a status, found none")?;
    Ok(parts)
}

/// Reads trailers.
pub(crate) fn trailers(list: proto::HeaderMap) -> Result<http::HeaderMap, String> {
    read(list, |_, _| {})
}

fn read(list: proto::HeaderMap, mut pseudo: impl FnMut(&str, Bytes)) -> Result<http::HeaderMap, String> {
    let mut headers = http::HeaderMap::with_capacity(list.headers.len());
    for header in list.headers {
        let value = if header.raw_value.is_empty() { header.value.into() } else { header.raw_value };
        if header.key.starts_with(':') {
            pseudo(&header.key, value);
            continue;
        }
        let name = HeaderName::from_bytes(header.key.as_bytes());
        let value = http::HeaderValue::from_maybe_shared(value);
        let (Ok(name), Ok(value)) = (name, value) else {
            // A header that is skipped here would pass unseen.
            return Err(format!("expected a header, found one named {:?}", header.key));
        };
        headers.append(name, value);
    }
    Ok(headers)
}

/// The changes that make one list of headers into another.
pub(crate) fn diff(from: &http::HeaderMap, to: &http::HeaderMap) -> HeaderMutation {
    let mut changes = HeaderMutation::default();
    for name in from.keys() {
        if !to.contains_key(name) {
            changes.remove_headers.push(name.as_str().to_owned());
        }
    }
    for name in to.keys() {
        if !from.get_all(name).iter().eq(to.get_all(name).iter()) {
            set(&mut changes, name, to);
        }
    }
    changes
}

/// All headers of an answer that has none yet. Envoy writes the length.
pub(crate) fn all(headers: &http::HeaderMap) -> HeaderMutation {
    let mut changes = HeaderMutation::default();
    for name in headers.keys().filter(|name| *name != http::header::CONTENT_LENGTH) {
        set(&mut changes, name, headers);
    }
    changes
}

/// Another status.
pub(crate) fn status(changes: &mut HeaderMutation, status: StatusCode) {
    changes.set_headers.push(option(STATUS, Bytes::copy_from_slice(status.as_str().as_bytes()), OVERWRITE));
}

fn set(changes: &mut HeaderMutation, name: &HeaderName, headers: &http::HeaderMap) {
    for (place, value) in headers.get_all(name).iter().enumerate() {
        let action = if place == 0 { OVERWRITE } else { APPEND };
        let value = Bytes::copy_from_slice(value.as_bytes());
        changes.set_headers.push(option(name.as_str(), value, action));
    }
}

fn option(key: &str, raw_value: Bytes, append_action: i32) -> HeaderValueOption {
    let keep_empty_value = raw_value.is_empty();
    let header = Some(proto::HeaderValue { key: key.to_owned(), value: String::new(), raw_value });
    HeaderValueOption { header, append_action, keep_empty_value }
}

const STATUS: &str = ":status";

#[cfg(test)]
mod tests {
    use super::*;

    fn map(headers: &[(&'static str, &'static str)]) -> http::HeaderMap {
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), http::HeaderValue::from_static(value)));
        let mut map = http::HeaderMap::new();
        for (name, value) in pairs {
            map.append(name, value);
        }
        map
    }

    fn list(headers: &[(&str, &str)]) -> proto::HeaderMap {
        let headers = headers.iter().map(|(key, value)| proto::HeaderValue {
            key: (*key).to_owned(),
            value: String::new(),
            raw_value: Bytes::copy_from_slice(value.as_bytes()),
        });
        proto::HeaderMap { headers: headers.collect() }
    }

    #[test]
    fn only_what_differs_is_changed() {
        let from = map(&[("a", "1"), ("b", "1"), ("b", "2"), ("c", "1"), ("d", "1")]);
        let to = map(&[("a", "1"), ("b", "1"), ("b", "2"), ("c", "2"), ("c", "3"), ("e", "")]);
        let changes = diff(&from, &to);
        assert_eq!(changes.remove_headers, ["d"]);
        let set: Vec<(String, Bytes, i32, bool)> = changes
            .set_headers
            .into_iter()
            .map(|set| {
                (
                    set.header.clone().unwrap().key,
                    set.header.unwrap().raw_value,
                    set.append_action,
                    set.keep_empty_value,
                )
            })
            .collect();
        assert_eq!(
            set,
            [
                ("c".to_owned(), Bytes::from("2"), OVERWRITE, false),
                ("c".to_owned(), Bytes::from("3"), APPEND, false),
                ("e".to_owned(), Bytes::new(), OVERWRITE, true),
            ]
        );
    }

    #[test]
    fn a_request_has_a_method_a_path_and_headers() {
        let parts = request(list(&[
            (":method", "POST"),
            (":path", "/v1/messages?a=b"),
            (":authority", "x"),
            ("a", "1"),
        ]))
        .unwrap();
        assert_eq!((parts.method, parts.uri.to_string()), (Method::POST, "/v1/messages?a=b".to_owned()));
        assert_eq!(parts.headers, map(&[("a", "1")]));
    }

    #[test]
    fn a_head_that_cannot_be_read_is_refused() {
        for (headers, expected) in [
            (&[(":path", "/")][..], "expected a method, found none"),
            (&[(":method", "GET")], "expected a path, found none"),
            (
                &[(":method", "GET"), (":path", "/"), ("a b", "")],
                "expected a header, found one named \"a b\"",
            ),
            (&[(":method", "GET"), (":path", "/"), ("a", "\n")], "expected a header, found one named \"a\""),
        ] {
            assert_eq!(request(list(headers)).unwrap_err(), expected);
        }
        assert_eq!(response(list(&[(":status", "hello")])).unwrap_err(), "expected a status, found none");
    }
}
