//! What a request's body says: model, `stream`, and the tools it offers, in the words of all four APIs.

use serde::Deserialize;
use serde_json::value::RawValue;
use stream_core::Tool;

/// What a request's body says of the answer it wants.
#[derive(Debug, Default)]
pub(crate) struct Offer {
    pub(crate) model: Option<String>,
    pub(crate) stream: bool,
    pub(crate) tools: Vec<Tool>,
    /// How many choices are asked for, where the body says so.
    pub(crate) choices: Option<u32>,
}

impl Offer {
    /// Reads a body. What is not understood is left out; a body that is no object, or that says a known thing twice, is
    /// an error: the upstream might read the other one.
    pub(crate) fn read(body: &[u8]) -> Result<Self, serde_json::Error> {
        // serde would read an array as the fields in their order.
        if !body.starts_with(b"{") {
            return Err(serde::de::Error::custom("expected an object"));
        }
        let wanted: Wanted<'_> = serde_json::from_slice(body)?;
        let mut tools = Vec::new();
        for raw in list(wanted.tools).into_iter().chain(list(wanted.functions)) {
            collect(raw, DEPTH, &mut tools)?;
        }
        let candidates = |config: &RawValue| {
            let config: Generation<'_> = serde_json::from_str(config.get()).ok()?;
            count(config.candidate_count)
        };
        let choices = count(wanted.n).or_else(|| wanted.generation.and_then(candidates));
        Ok(Self { model: text(wanted.model), stream: is_true(wanted.stream), tools, choices })
    }
}

#[derive(Deserialize)]
struct Wanted<'a> {
    #[serde(borrow, default)]
    model: Raw<'a>,
    #[serde(borrow, default)]
    stream: Raw<'a>,
    #[serde(borrow, default)]
    tools: Raw<'a>,
    /// Chat's, before there were tools.
    #[serde(borrow, default)]
    functions: Raw<'a>,
    /// Chat's number of choices.
    #[serde(borrow, default)]
    n: Raw<'a>,
    /// Gemini's settings.
    #[serde(borrow, default, rename = "generationConfig", alias = "generation_config")]
    generation: Raw<'a>,
}

#[derive(Deserialize)]
struct Generation<'a> {
    #[serde(borrow, default, rename = "candidateCount", alias = "candidate_count")]
    candidate_count: Raw<'a>,
}

fn count(raw: Raw<'_>) -> Option<u32> {
    raw.and_then(|raw| raw.get().parse().ok())
}

type Raw<'a> = Option<&'a RawValue>;

/// An offered tool, as any of the APIs writes it.
#[derive(Deserialize)]
struct Offered<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    name: Raw<'a>,
    #[serde(borrow, default)]
    parameters: Raw<'a>,
    #[serde(borrow, default, rename = "parametersJsonSchema", alias = "parameters_json_schema")]
    json_schema: Raw<'a>,
    #[serde(borrow, default)]
    input_schema: Raw<'a>,
    /// Chat wraps functions and custom tools.
    #[serde(borrow, default)]
    function: Raw<'a>,
    #[serde(borrow, default)]
    custom: Raw<'a>,
    /// Gemini lists functions.
    #[serde(borrow, default, rename = "functionDeclarations", alias = "function_declarations")]
    declarations: Raw<'a>,
    /// A namespace of Responses lists tools.
    #[serde(borrow, default)]
    tools: Raw<'a>,
}

fn collect(raw: &RawValue, depth: usize, into: &mut Vec<Tool>) -> Result<(), serde_json::Error> {
    if !raw.get().starts_with('{') || depth == 0 {
        return Ok(());
    }
    let offered: Offered<'_> = serde_json::from_str(raw.get())?;
    let nested = [offered.declarations, offered.tools];
    if nested.iter().any(Option::is_some) {
        return nested.into_iter().flat_map(list).try_for_each(|raw| collect(raw, depth - 1, into));
    }
    if let Some(wrapped) = offered.function.or(offered.custom) {
        return collect(wrapped, depth - 1, into);
    }
    let Some(name) = text(offered.name).or_else(|| Some(called(&text(offered.kind)?)?.to_owned())) else {
        return Ok(());
    };
    let schema = offered.parameters.or(offered.json_schema).or(offered.input_schema);
    let tool = Tool::new(name);
    into.push(match schema {
        Some(schema) => tool.schema(schema.get()),
        None => tool,
    });
    Ok(())
}

/// What a call of a tool without a name is called.
fn called(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "shell" => "shell_call",
        "local_shell" => "local_shell_call",
        "apply_patch" => "apply_patch_call",
        "computer" | "computer_use_preview" => "computer_call",
        "mcp" => "mcp_approval_request",
        _ => return None,
    })
}

fn list(raw: Raw<'_>) -> Vec<&RawValue> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

fn text(raw: Raw<'_>) -> Option<String> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

fn is_true(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// How deep tools are wrapped at most.
const DEPTH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(body: &str) -> Vec<(String, Option<String>)> {
        let offer = Offer::read(body.as_bytes()).unwrap();
        let tools = offer.tools.iter();
        tools.map(|tool| (tool.name().to_owned(), tool.parameters().map(str::to_owned))).collect()
    }

    fn tool(name: &str, schema: &str) -> (String, Option<String>) {
        (name.to_owned(), (!schema.is_empty()).then(|| schema.to_owned()))
    }

    #[test]
    fn tools_are_read_in_the_words_of_every_api() {
        let schema = r#"{"type": "object"}"#;
        for body in [
            r#"{"tools":[{"type":"function","function":{"name":"f","parameters":{"type": "object"}}}]}"#,
            r#"{"functions":[{"name":"f","parameters":{"type": "object"}}]}"#,
            r#"{"tools":[{"type":"function","name":"f","parameters":{"type": "object"}}]}"#,
            r#"{"tools":[{"type":"namespace","name":"n","tools":[{"name":"f","parameters":{"type": "object"}}]}]}"#,
            r#"{"tools":[{"name":"f","input_schema":{"type": "object"}}]}"#,
            r#"{"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type": "object"}}]}]}"#,
            r#"{"tools":[{"function_declarations":[{"name":"f","parametersJsonSchema":{"type": "object"}}]}]}"#,
        ] {
            assert_eq!(tools(body), [tool("f", schema)], "{body}");
        }
    }

    #[test]
    fn tools_without_a_name_are_known_by_what_their_calls_are_called() {
        assert_eq!(
            tools(
                r#"{"tools":[{"type":"shell"},{"type":"custom","custom":{"name":"c"}},{"type":"web_search"}]}"#
            ),
            [tool("shell_call", ""), tool("c", "")]
        );
    }

    #[test]
    fn a_body_that_can_be_read_in_two_ways_is_an_error() {
        for body in [
            r#"{"model":"a","model":"b"}"#,
            r#"{"tools":[],"tools":[]}"#,
            r#"{"tools":[{"name":"a","name":"b"}]}"#,
            r#"["a",true]"#,
            "no JSON",
        ] {
            assert!(Offer::read(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn what_is_of_another_type_is_left_out() {
        let offer = Offer::read(br#"{"model":1,"stream":"true","tools":"all"}"#).unwrap();
        assert_eq!((offer.model, offer.stream, offer.tools), (None, false, Vec::new()));
    }
}
