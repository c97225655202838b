//! Where a request tells the session that it belongs to.

use std::fmt;

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use stream_core::SessionKey;

/// Where a request tells the session that it belongs to: in a header, or in its body.
///
/// Policies that count over several requests (a budget of invalid calls) count by session. A place that the client can
/// fill at will lets the client begin a new session whenever it likes: a header that the gateway's own authentication sets
/// is the safe choice.
///
/// ```
/// use stream_http::{Session, Settings};
///
/// let by_header = Settings::new().session(Session::header("x-session")?.required());
/// let by_body = Settings::new().session(Session::body(["/metadata/user_id", "/safety_identifier"])?);
/// # let _ = (by_header, by_body);
/// # Ok::<(), stream_http::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Session {
    place: Place,
    is_required: bool,
    /// What is told there.
    what: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Header(HeaderName),
    Body(Vec<Pointer>),
}

/// A JSON pointer (RFC 6901), and its segments.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pointer {
    text: String,
    segments: Vec<String>,
}

impl Session {
    /// The value of this header. A request in which the header stands twice is refused with status 400.
    ///
    /// # Errors
    ///
    /// When the name is no name of a header.
    pub fn header(name: &str) -> Result<Self, SessionError> {
        let name = name
            .parse()
            .map_err(|_| SessionError(format!("expected the name of a header, found {name:?}")))?;
        Ok(Self { place: Place::Header(name), is_required: false, what: "a session" })
    }

    /// The string, or the integer, to which the first of these JSON pointers leads that leads to one. `null` and the empty
    /// string count as nothing; anything else is refused with status 400, as is a body that says a thing on the way twice.
    ///
    /// # Errors
    ///
    /// When there is none, or one is no JSON pointer to something inside of the body.
    pub fn body<S: AsRef<str>>(pointers: impl IntoIterator<Item = S>) -> Result<Self, SessionError> {
        let pointers = pointers.into_iter().map(|pointer| Pointer::read(pointer.as_ref()));
        let pointers: Vec<Pointer> = pointers.collect::<Result<_, _>>()?;
        if pointers.is_empty() {
            return Err(SessionError("expected a JSON pointer, found none".to_owned()));
        }
        Ok(Self { place: Place::Body(pointers), is_required: false, what: "a session" })
    }

    /// Refuses requests that name no session, with status 400. Without it they belong to none, and nothing is counted.
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// The same place, which tells something else.
    pub(crate) fn of(mut self, what: &'static str) -> Self {
        self.what = what;
        self
    }

    /// Reads the session of a request.
    pub(crate) fn read(&self, headers: &HeaderMap, body: &[u8]) -> Result<Option<SessionKey>, SessionError> {
        let found = match &self.place {
            Place::Header(name) => in_header(headers, name)?,
            Place::Body(pointers) => in_body(body, pointers)?,
        };
        match found {
            Some(key) if key.len() > LONGEST => {
                Err(SessionError(format!("expected {self} of at most {LONGEST} bytes, found a longer one")))
            }
            None if self.is_required => Err(SessionError(format!("expected {self}, found none"))),
            found => Ok(found.map(SessionKey::new)),
        }
    }
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.what;
        match &self.place {
            Place::Header(name) => write!(f, "{what} in the header {name}"),
            Place::Body(pointers) => {
                let pointers: Vec<&str> = pointers.iter().map(|pointer| pointer.text.as_str()).collect();
                write!(f, "{what} in the body at {}", pointers.join(" or "))
            }
        }
    }
}

/// What is wrong with a place for sessions, or with the session of a request. It never holds the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionError(String);

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SessionError {}

impl Pointer {
    fn read(text: &str) -> Result<Self, SessionError> {
        let wrong =
            || SessionError(format!("expected a JSON pointer such as /metadata/user_id, found {text:?}"));
        let inner = text.strip_prefix('/').ok_or_else(wrong)?;
        let segments = inner.split('/').map(|segment| {
            let escapes = segment.matches('~').count();
            let known = segment.matches("~0").count() + segment.matches("~1").count();
            (escapes == known).then(|| segment.replace("~1", "/").replace("~0", "~")).ok_or_else(wrong)
        });
        Ok(Self { text: text.to_owned(), segments: segments.collect::<Result<_, _>>()? })
    }
}

fn in_header(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, SessionError> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(SessionError(format!("expected the header {name} once, found it twice")));
    }
    let text = |value: &HeaderValue| {
        let text = value.to_str().map(str::trim).map(str::to_owned);
        text.map_err(|_| {
            SessionError(format!("expected visible ASCII in the header {name}, found other bytes"))
        })
    };
    Ok(first.map(text).transpose()?.filter(|text| !text.is_empty()))
}

fn in_body(body: &[u8], pointers: &[Pointer]) -> Result<Option<String>, SessionError> {
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    for pointer in pointers {
        let mut json = serde_json::Deserializer::from_slice(body);
        let found = Walk(&pointer.segments).deserialize(&mut json).map_err(|_| {
            let at = &pointer.text;
            SessionError(format!("expected a string or an integer at {at} of the body, found something else"))
        })?;
        if let Some(found) = found.filter(|found| !found.is_empty()) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Walks to a value without keeping any other. An object that has a key on the way twice is an error: the upstream might
/// read the other one.
struct Walk<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Walk<'_> {
    /// A scalar: the session if the walk ends here, else nothing is there.
    fn scalar(&self, text: &(impl ToString + ?Sized)) -> Option<String> {
        self.0.is_empty().then(|| text.to_string())
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an integer")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let [next, rest @ ..] = self.0 else { return Err(A::Error::custom("an object")) };
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            if key != *next {
                map.next_value::<IgnoredAny>()?;
            } else if found.is_some() {
                return Err(A::Error::custom("a key twice"));
            } else {
                found = Some(map.next_value_seed(Walk(rest))?);
            }
        }
        Ok(found.flatten())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let [next, rest @ ..] = self.0 else { return Err(A::Error::custom("a list")) };
        let wanted: Option<usize> = next.parse().ok();
        let mut found = None;
        for at in 0.. {
            let more = if wanted == Some(at) {
                let value = seq.next_element_seed(Walk(rest))?;
                let more = value.is_some();
                found = value.flatten();
                more
            } else {
                seq.next_element::<IgnoredAny>()?.is_some()
            };
            if !more {
                break;
            }
        }
        Ok(found)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.scalar(text))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(self.scalar(&number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(self.scalar(&number))
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Self::Value, E> {
        if self.0.is_empty() { Err(E::custom("a number")) } else { Ok(None) }
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Self::Value, E> {
        if self.0.is_empty() { Err(E::custom("a boolean")) } else { Ok(None) }
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// The longest name of a session, in bytes: stores keep names in memory.
const LONGEST: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        session: &Session,
        headers: &[(&'static str, &'static str)],
        body: &str,
    ) -> Result<Option<String>, String> {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let found = session.read(&headers.collect(), body.as_bytes());
        found.map(|key| key.map(|key| key.as_str().to_owned())).map_err(|error| error.to_string())
    }

    #[test]
    fn a_header_names_the_session() {
        let session = Session::header("X-Session").unwrap();
        assert_eq!(read(&session, &[("x-session", " a ")], "{}"), Ok(Some("a".to_owned())));
        assert_eq!(read(&session, &[("x-session", "")], "{}"), Ok(None));
        assert_eq!(read(&session, &[], "{}"), Ok(None));
        assert_eq!(
            read(&session.clone().required(), &[], "{}"),
            Err("expected a session in the header x-session, found none".to_owned())
        );
        assert_eq!(
            Session::header("a b").unwrap_err().to_string(),
            "expected the name of a header, found \"a b\""
        );
        let mut twice = HeaderMap::new();
        twice.append("x-session", HeaderValue::from_static("a"));
        twice.append("x-session", HeaderValue::from_static("b"));
        assert_eq!(
            session.read(&twice, b"").unwrap_err().to_string(),
            "expected the header x-session once, found it twice"
        );
    }

    #[test]
    fn the_first_pointer_that_leads_to_a_name_counts() {
        let session = Session::body(["/metadata/user_id", "/a~1b~0/1"]).unwrap();
        for (body, expected) in [
            (r#"{"model":"m","metadata":{"x":[1],"user_id":"u"}}"#, Some("u")),
            (r#"{"metadata":{"user_id":7}}"#, Some("7")),
            (r#"{"metadata":{"user_id":null},"a/b~":["x","y"]}"#, Some("y")),
            (r#"{"metadata":"text","a/b~":["x"]}"#, None),
            ("{}", None),
            ("", None),
        ] {
            assert_eq!(read(&session, &[], body), Ok(expected.map(str::to_owned)), "{body}");
        }
    }

    #[test]
    fn a_session_that_can_be_read_in_two_ways_is_an_error() {
        let session = Session::body(["/user"]).unwrap();
        for body in [
            r#"{"user":"a","user":"b"}"#,
            r#"{"user":{}}"#,
            r#"{"user":[]}"#,
            r#"{"user":true}"#,
            r#"{"user":1.5}"#,
        ] {
            assert_eq!(
                read(&session, &[], body),
                Err("expected a string or an integer at /user of the body, found something else".to_owned()),
                "{body}"
            );
        }
        let long = format!(r#"{{"user":"{}"}}"#, "a".repeat(LONGEST + 1));
        assert_eq!(
            read(&session, &[], &long),
            Err("expected a session in the body at /user of at most 256 bytes, found a longer one".to_owned())
        );
    }

    #[test]
    fn a_pointer_leads_into_the_body() {
        for wrong in ["", "user", "/a~2", "/a~"] {
            assert_eq!(
                Session::body([wrong]).unwrap_err().to_string(),
                format!("expected a JSON pointer such as /metadata/user_id, found {wrong:?}")
            );
        }
        let none: [&str; 0] = [];
        assert_eq!(Session::body(none).unwrap_err().to_string(), "expected a JSON pointer, found none");
    }
}
