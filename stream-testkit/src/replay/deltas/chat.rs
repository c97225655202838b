//! Chat: a chunk of one choice whose delta has one text, or more of one call.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::plain::{Plain, place_in, string};

/// Reads a chunk whose every field is known.
pub(super) fn read(data: &str) -> Option<Plain> {
    let chunk: Chunk<'_> = serde_json::from_str(data).ok()?;
    let [choice] = &chunk.choices[..] else { return None };
    if chunk.usage.is_some() || choice.finish_reason.is_some() || choice.logprobs.is_some() {
        return None;
    }
    let delta: Delta<'_> = serde_json::from_str(choice.delta.get()).ok()?;
    let mut said = delta.texts().into_iter().filter(|(_, text)| !matches!(text, None | Some(r#""""#)));
    let (said, more) = (said.next(), said.next());
    let (lane, value, opens, later) = match (said, delta.calls.as_deref(), more) {
        (Some((field, _)), None | Some([]), None) => {
            let later = [format!("{{\"{field}\":"), "}".to_owned()];
            (field.to_owned(), delta.text(field)?, false, later)
        }
        (None, Some([call]), None) => {
            // A later piece is known by its index alone.
            let index = call.index?;
            let before = format!("{{\"tool_calls\":[{{\"index\":{index},\"function\":{{\"arguments\":");
            (format!("call {index}"), call.function.arguments?, call.opens(), [before, "}}]}".to_owned()])
        }
        _ => return None,
    };
    let index = choice.index;
    let role = delta.role.is_some();
    Some(Plain {
        lane: format!("{index:?} {lane} {role}"),
        text: string(Some(value))?,
        opens,
        place: place_in(data, value),
        later: Some((place_in(data, choice.delta), later)),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "all fields that may be there are named")]
struct Chunk<'a> {
    #[serde(default)]
    id: IgnoredAny,
    #[serde(default)]
    object: IgnoredAny,
    #[serde(default)]
    created: IgnoredAny,
    #[serde(default)]
    model: IgnoredAny,
    #[serde(default)]
    system_fingerprint: IgnoredAny,
    #[serde(default)]
    service_tier: IgnoredAny,
    #[serde(default)]
    provider: IgnoredAny,
    #[serde(default)]
    obfuscation: IgnoredAny,
    #[serde(default)]
    usage: Option<IgnoredAny>,
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow)]
    delta: &'a RawValue,
    #[serde(default)]
    finish_reason: Option<IgnoredAny>,
    #[serde(default)]
    logprobs: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delta<'a> {
    #[serde(default)]
    role: Option<IgnoredAny>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refusal: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "tool_calls")]
    calls: Option<Vec<Call<'a>>>,
}

impl<'a> Delta<'a> {
    fn texts(&self) -> [(&'static str, Option<&'a str>); 4] {
        ["content", "reasoning_content", "reasoning", "refusal"]
            .map(|field| (field, self.text(field).map(RawValue::get)))
    }

    fn text(&self, field: &str) -> Option<&'a RawValue> {
        match field {
            "content" => self.content,
            "reasoning_content" => self.reasoning_content,
            "reasoning" => self.reasoning,
            _ => self.refusal,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    function: Function<'a>,
}

impl Call<'_> {
    fn opens(&self) -> bool {
        [self.id, self.kind, self.function.name].iter().any(Option::is_some)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}
