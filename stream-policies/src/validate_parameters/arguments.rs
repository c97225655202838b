//! The arguments of a call as raw JSON: parsed once, and renamed in place.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON object whose members are known by name and place. Every key in it, however deep, stands once.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    raw: &'a str,
    members: Vec<Member<'a>>,
}

#[derive(Debug)]
struct Member<'a> {
    /// The name as it is meant: unescaped.
    name: Cow<'a, str>,
    /// Where the quoted key stands.
    key: Range<usize>,
    /// Where the value stands.
    value: Range<usize>,
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    Nothing,
    Null,
    EmptyString,
    Value,
}

/// Why arguments are no arguments. Says nothing of what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// Not JSON, or not all of it came.
    Json,
    /// JSON, but no object.
    NoObject,
    /// A key stands twice in one object: which one counts depends on who reads it.
    DuplicateKey,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "text that is no whole JSON value",
            Self::NoObject => "another JSON value",
            Self::DuplicateKey => "a key twice in one object",
        })
    }
}

impl<'a> Arguments<'a> {
    /// Reads arguments. None at all are an empty object: a call without arguments is valid.
    pub(crate) fn parse(raw: &'a str) -> Result<Self, Malformed> {
        if raw.trim().is_empty() {
            return Ok(Self { raw: "{}", members: Vec::new() });
        }
        if !raw.trim_start().starts_with('{') {
            let whole = serde_json::from_str::<IgnoredAny>(raw).is_ok();
            return Err(if whole { Malformed::NoObject } else { Malformed::Json });
        }
        let RawMembers(found) = serde_json::from_str(raw).map_err(|_| Malformed::Json)?;
        let mut json = serde_json::Deserializer::from_str(raw);
        EachKeyOnce.deserialize(&mut json).map_err(|error| match error.is_data() {
            true => Malformed::DuplicateKey,
            false => Malformed::Json,
        })?;
        let members = found.into_iter().map(|(name, value)| {
            let start = value.as_ptr() as usize - raw.as_ptr() as usize;
            Member { name, key: key_before(raw, start), value: start..start + value.len() }
        });
        Ok(Self { raw, members: members.collect() })
    }

    /// The arguments as JSON.
    pub(crate) fn raw(&self) -> &'a str {
        self.raw
    }

    /// What stands under a name.
    pub(crate) fn given(&self, name: &str) -> Given {
        let Some(member) = self.members.iter().find(|member| member.name == name) else {
            return Given::Nothing;
        };
        match &self.raw[member.value.clone()] {
            "null" => Given::Null,
            "\"\"" => Given::EmptyString,
            _ => Given::Value,
        }
    }

    /// The arguments with members renamed, as pairs of old and new name. A member that has the new name already goes.
    /// Every other byte stays.
    pub(crate) fn renamed(&self, pairs: &[(&str, &str)]) -> String {
        let mut text = String::with_capacity(self.raw.len() + 16);
        let mut done = 0;
        for (at, member) in self.members.iter().enumerate() {
            if pairs.iter().any(|(_, new)| *new == member.name) {
                // With the comma behind it, or before it where it is the last.
                let (start, end) = match (self.members.get(at + 1), at.checked_sub(1)) {
                    (Some(next), _) => (member.key.start, next.key.start),
                    (None, Some(before)) => (self.members[before].value.end, member.value.end),
                    (None, None) => (member.key.start, member.value.end),
                };
                text.push_str(&self.raw[done..start.max(done)]);
                done = end;
                continue;
            }
            let Some((_, new)) = pairs.iter().find(|(old, _)| *old == member.name) else { continue };
            text.push_str(&self.raw[done..member.key.start]);
            text.push_str(&serde_json::Value::from(*new).to_string());
            done = member.key.end;
        }
        text.push_str(&self.raw[done..]);
        text
    }
}

/// Where the quoted key in front of a value that starts at `value` stands.
fn key_before(raw: &str, value: usize) -> Range<usize> {
    // Between a key and its value stand only a colon and white space; inside a key a quote is escaped.
    let bytes = raw.as_bytes();
    let end = raw[..value].rfind('"').map_or(0, |quote| quote + 1);
    let mut start = end.saturating_sub(1);
    while let Some(quote) = raw[..start].rfind('"') {
        start = quote;
        let escapes = bytes[..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes % 2 == 0 {
            break;
        }
    }
    start..end
}

/// The members of an object in their order, values as raw slices.
struct RawMembers<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'de> Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;

        impl<'de> Visitor<'de> for Visit {
            type Value = RawMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((MemberName(key), value)) =
                    map.next_entry::<MemberName<'de>, &'de RawValue>()?
                {
                    members.push((key, value.get()));
                }
                Ok(RawMembers(members))
            }
        }

        deserializer.deserialize_map(Visit)
    }
}

#[derive(Deserialize)]
struct MemberName<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads any JSON and errs where a key stands twice in one object.
struct EachKeyOnce;

impl<'de> DeserializeSeed<'de> for EachKeyOnce {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for EachKeyOnce {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if !seen.insert(key) {
                return Err(A::Error::custom("a key twice"));
            }
            map.next_value_seed(Self)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Self)?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_changes() {
        let raw =
            "{ \"a\\\"\" : [ 1.0 , 2e5 ],\n\t\"c\\u006dd\" :\t\"ls \\\"cmd\\\"\" , \"z\":{\"cmd\":null}}";
        let arguments = Arguments::parse(raw).unwrap();
        let given = ["cmd", "a\"", "c\\u006dd"].map(|name| arguments.given(name));
        assert_eq!(given, [Given::Value, Given::Value, Given::Nothing]);
        assert_eq!(
            arguments.renamed(&[("cmd", "command")]),
            "{ \"a\\\"\" : [ 1.0 , 2e5 ],\n\t\"command\" :\t\"ls \\\"cmd\\\"\" , \"z\":{\"cmd\":null}}"
        );
        assert_eq!(
            arguments.renamed(&[("z", "y"), ("a\"", "b")]),
            "{ \"b\" : [ 1.0 , 2e5 ],\n\t\"c\\u006dd\" :\t\"ls \\\"cmd\\\"\" , \"y\":{\"cmd\":null}}"
        );
        assert_eq!(arguments.renamed(&[]), raw);
    }

    #[test]
    fn a_key_of_quotes_and_backslashes_is_found() {
        let raw = r#"{"\\":1,"\\\"":2,"":3}"#;
        let arguments = Arguments::parse(raw).unwrap();
        assert_eq!(arguments.renamed(&[("\\", "a")]), r#"{"a":1,"\\\"":2,"":3}"#);
        assert_eq!(arguments.renamed(&[("\\\"", "a")]), r#"{"\\":1,"a":2,"":3}"#);
        assert_eq!(arguments.renamed(&[("", "a")]), r#"{"\\":1,"\\\"":2,"a":3}"#);
    }

    #[test]
    fn a_member_without_a_value_goes_where_another_takes_its_name() {
        for (raw, expected) in [
            (r#"{"command":"","cmd":"ls"}"#, r#"{"command":"ls"}"#),
            (r#"{ "cmd" : "ls" , "command" : null }"#, r#"{ "command" : "ls" }"#),
            (r#"{"a":1, "command":"", "b":2, "cmd":"ls"}"#, r#"{"a":1, "b":2, "command":"ls"}"#),
        ] {
            let arguments = Arguments::parse(raw).unwrap();
            assert_eq!(arguments.renamed(&[("cmd", "command")]), expected, "{raw}");
        }
        let arguments = Arguments::parse(r#"{"a":null,"b":"","c":" ","d":0}"#).unwrap();
        let given = ["a", "b", "c", "d", "e"].map(|name| arguments.given(name));
        assert_eq!(given, [Given::Null, Given::EmptyString, Given::Value, Given::Value, Given::Nothing]);
    }

    #[test]
    fn what_is_no_object_is_told_apart() {
        for (raw, malformed) in [
            ("in", Malformed::Json),
            (r#"{"command":"l"#, Malformed::Json),
            (r#"{"a":1}{"a":1}"#, Malformed::Json),
            ("[1]", Malformed::NoObject),
            ("null", Malformed::NoObject),
            (r#"{"a":1,"a":2}"#, Malformed::DuplicateKey),
            (r#"{"a":1,"\u0061":2}"#, Malformed::DuplicateKey),
            (r#"{"a":[{"b":1,"b":1}]}"#, Malformed::DuplicateKey),
        ] {
            assert_eq!(Arguments::parse(raw).unwrap_err(), malformed, "{raw}");
        }
        assert_eq!(Arguments::parse("").unwrap().raw(), "{}");
        assert_eq!(Arguments::parse(" \n").unwrap().raw(), "{}");
    }
}
