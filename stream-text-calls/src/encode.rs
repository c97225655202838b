//! A call written again in its dialect, with another name or other arguments.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::dialect::{Body, Dialect, Fields, Parameters};
use crate::event::TextCall;
use crate::schema::push_string;
use crate::template::{Hole, Template};
use crate::xml;

impl TextCall {
    /// The text of this call with another name or other arguments, in its own tags. `None` where the dialect cannot say
    /// it: arguments that are no JSON object, or a value that holds the tag that would end it.
    #[must_use]
    pub fn rewritten(&self, name: &str, arguments: &str) -> Option<String> {
        let fits = |template: &&Template| self.name.is_empty() || template_fits(template, self.opener());
        let open = self.dialect.calls.iter().find(fits).or(self.dialect.calls.first())?;
        let id = self.id.as_deref().map(|id| id.replacen(&self.name, name, 1));
        let mut out = String::new();
        match &self.dialect.body {
            Body::Object(fields) => {
                out.push_str(self.opener());
                object(fields, name, self.id.as_deref(), self.raw(), arguments, &mut out)?;
                out.push_str(self.closer());
                return Some(out);
            }
            _ => head(open, name, id.as_deref(), &mut out),
        }
        body(&self.dialect, arguments, &mut out)?;
        if !matches!(self.dialect.body, Body::Parameters(_)) {
            out.push_str(self.closer());
        }
        Some(out)
    }
}

impl Dialect {
    /// A call in this dialect, with its wrapper. `None` where the dialect cannot say it; see [`TextCall::rewritten`].
    ///
    /// ```
    /// use stream_text_calls::known;
    ///
    /// let xml = known::qwen3_coder().write("f", r#"{"a":"x","n":1}"#).unwrap();
    /// assert_eq!(
    ///     xml,
    ///     "<tool_call><function=f><parameter=a>\nx\n</parameter><parameter=n>\n1\n</parameter></function></tool_call>"
    /// );
    /// ```
    #[must_use]
    pub fn write(&self, name: &str, arguments: &str) -> Option<String> {
        let mut out = String::new();
        if let Some(wrapper) = &self.wrapper {
            wrapper.write(&mut out, |_| String::new());
        }
        let listed = self.array == crate::dialect::Array::Always;
        out.push_str(if listed { "[" } else { "" });
        head(self.calls.first()?, name, Some(name), &mut out);
        if let Body::Object(fields) = &self.body {
            object(fields, name, None, "", arguments, &mut out)?;
        } else {
            body(self, arguments, &mut out)?;
        }
        if !matches!(self.body, Body::Parameters(_)) {
            close(self, self.call_close.first(), &mut out);
        }
        out.push_str(if listed { "]" } else { "" });
        close(self, self.wrapper_close.first(), &mut out);
        Some(out)
    }
}

fn close(dialect: &Dialect, close: Option<&String>, out: &mut String) {
    if let Some(close) = close {
        dialect.tag(close).write(out, |_| String::new());
    }
}

fn head(open: &Template, name: &str, id: Option<&str>, out: &mut String) {
    open.write(out, |hole| match hole {
        Hole::Name => name.to_owned(),
        _ => id.unwrap_or(name).to_owned(),
    });
}

/// Everything between the call's opener and its closer; tagged calls with their closer.
fn body(dialect: &Dialect, arguments: &str, out: &mut String) -> Option<()> {
    let pairs = pairs(arguments)?;
    match &dialect.body {
        Body::Parameters(parameters) => {
            for (key, value) in &pairs {
                parameter(dialect, parameters, key, value, out)?;
            }
            close(dialect, dialect.call_close.first(), out);
        }
        Body::Python => {
            for (at, (key, value)) in pairs.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(key);
                out.push('=');
                literal(&serde_json::from_str(value.get()).ok()?, &Literals::PYTHON, out)?;
            }
            out.push(')');
        }
        Body::Loose { quote } => {
            let value: Value = serde_json::from_str(arguments).ok()?;
            literal(&value, &Literals { quote: Some(quote), ..Literals::JSON }, out)?;
        }
        Body::Arguments | Body::Object(_) => out.push_str(arguments),
    }
    Some(())
}

fn object(
    fields: &Fields,
    name: &str,
    id: Option<&str>,
    raw: &str,
    arguments: &str,
    out: &mut String,
) -> Option<()> {
    serde_json::from_str::<serde::de::IgnoredAny>(arguments).ok()?;
    out.push('{');
    if fields.name_is_key {
        push_string(name, out);
        out.push_str(": ");
    } else {
        if let (Some(id), Some(key)) = (id, spelled(&fields.id, raw)) {
            push_string(key, out);
            out.push_str(": ");
            push_string(id, out);
            out.push_str(", ");
        }
        push_string(spelled(&fields.name, raw)?, out);
        out.push_str(": ");
        push_string(name, out);
        out.push_str(", ");
        push_string(spelled(&fields.arguments, raw)?, out);
        out.push_str(": ");
    }
    out.push_str(arguments);
    out.push('}');
    Some(())
}

/// The key that a call used, of several that mean the same.
fn spelled<'a>(keys: &'a [String], raw: &str) -> Option<&'a str> {
    let used = keys.iter().find(|key| raw.contains(&format!("\"{key}\"")));
    used.or(keys.first()).map(String::as_str)
}

fn parameter(
    dialect: &Dialect,
    parameters: &Parameters,
    key: &str,
    value: &RawValue,
    out: &mut String,
) -> Option<()> {
    let value = match serde_json::from_str::<String>(value.get()) {
        Ok(text) => (text, "true"),
        Err(_) => (value.get().to_owned(), "false"),
    };
    let mut closer = String::new();
    parameters.close.write(&mut closer, |_| String::new());
    let tags: Vec<Template> = dialect.tags().collect();
    let said = if dialect.xml {
        xml::encode(&value.0, |text| tags.iter().any(|tag| tag.opens(text)))
    } else {
        value.0
    };
    // What would end the value early could begin another parameter, or another call.
    let is_broken = said.contains(closer.trim_end_matches('>'));
    if is_broken || (!dialect.xml && key.contains(['<', '>', '"', '\''])) {
        return None;
    }
    parameters.open.write(out, |hole| match hole {
        Hole::IsString => value.1.to_owned(),
        _ => key.to_owned(),
    });
    let frame = if parameters.framed { "\n" } else { "" };
    out.push_str(frame);
    out.push_str(&said);
    out.push_str(frame);
    out.push_str(&closer);
    Some(())
}

/// How a dialect spells its literals.
struct Literals<'a> {
    words: [&'static str; 3],
    quote: Option<&'a str>,
}

impl Literals<'_> {
    const PYTHON: Literals<'static> = Literals { words: ["True", "False", "None"], quote: None };
    const JSON: Literals<'static> = Literals { words: ["true", "false", "null"], quote: None };
}

fn literal(value: &Value, spell: &Literals<'_>, out: &mut String) -> Option<()> {
    match value {
        Value::Null => out.push_str(spell.words[2]),
        Value::Bool(true) => out.push_str(spell.words[0]),
        Value::Bool(false) => out.push_str(spell.words[1]),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => match spell.quote {
            Some(quote) if text.contains(quote) => return None,
            Some(quote) => {
                out.push_str(quote);
                out.push_str(text);
                out.push_str(quote);
            }
            None => push_string(text, out),
        },
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                literal(item, spell, out)?;
            }
            out.push(']');
        }
        Value::Object(items) => {
            out.push('{');
            for (at, (key, item)) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                if spell.quote.is_some() {
                    out.push_str(key);
                } else {
                    push_string(key, out);
                }
                out.push(':');
                literal(item, spell, out)?;
            }
            out.push('}');
        }
    }
    Some(())
}

/// The members of an object, in document order.
fn pairs(object: &str) -> Option<Vec<(String, Box<RawValue>)>> {
    struct Pairs;
    impl<'de> Visitor<'de> for Pairs {
        type Value = Vec<(String, Box<RawValue>)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            while let Some(pair) = map.next_entry()? {
                pairs.push(pair);
            }
            Ok(pairs)
        }
    }
    let text = if object.trim().is_empty() { "{}" } else { object };
    serde_json::Deserializer::from_str(text).deserialize_map(Pairs).ok()
}

/// Whether an opener was written with this pattern.
fn template_fits(template: &Template, opener: &str) -> bool {
    use crate::matcher::{Match, Matcher};
    matches!(Matcher::at(0).run(template, opener.as_bytes(), true), Match::Done(end) if end == opener.len())
}
