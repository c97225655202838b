//! The recorded streams, and what another reader made of them.

use std::{collections::HashMap, fs};

use serde_json::Value;
use stream_testkit::WireKind;
use stream_testkit::conformance::{CallView, ChoiceView, Ended, View};

/// A recorded stream.
pub(crate) struct Recording {
    /// Its path in the corpus, with forward slashes.
    pub(crate) file: String,
    pub(crate) format: WireKind,
    pub(crate) bytes: Vec<u8>,
    expected: Value,
}

impl Recording {
    /// Where a view differs from what the other reader got.
    pub(crate) fn differences(&self, view: &View) -> Vec<String> {
        let mut found = Vec::new();
        let mut same = |what: &str, expected: &Value, got: Value| {
            if *expected != got {
                found.push(format!("{what}: expected {expected}, found {got}"));
            }
        };
        same("error", &self.expected["error"], (view.ended == Ended::Error).into());
        let choices = self.expected["choices"].as_array().map_or(&[][..], Vec::as_slice);
        for (at, expected) in choices.iter().enumerate() {
            let none = ChoiceView::default();
            let choice = view.choices.get(at).unwrap_or(&none);
            same("index", &expected["index"], choice.index.into());
            same("content", &expected["content"], choice.content.as_str().into());
            same("reasoning", &expected["reasoning"], choice.reasoning.as_str().into());
            same("refusal", &expected["refusal"], choice.refusal.as_str().into());
            same("finish_reason", &expected["finish_reason"], choice.finish.as_deref().into());
            let listed: Vec<_> = choice.calls.iter().filter(|call| is_listed(call)).collect();
            let calls = expected["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
            same("calls", &calls.len().into(), listed.len().into());
            for (expected, call) in calls.iter().zip(listed) {
                same("id", &expected["id"], call.id.as_str().into());
                same("name", &expected["name"], call.name.as_str().into());
                if let Some(arguments) = expected["arguments"].as_str()
                    && !equal(arguments, &call.arguments)
                {
                    same("arguments", &arguments.into(), call.arguments.as_str().into());
                }
            }
        }
        found
    }
}

/// All recordings.
pub(crate) fn recordings() -> Vec<Recording> {
    let root = stream_testkit::logs::root().expect("recorded streams: STREAM_CORPUS names their folder");
    let manifest = std::fs::read_to_string(root.join("MANIFEST.tsv")).unwrap();
    let expected: HashMap<String, Value> = fs::read_to_string(root.join("expected.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .map(|line: Value| (line["file"].as_str().unwrap().to_owned(), line))
        .collect();
    let files = manifest.lines().skip(1).filter_map(|line| line.split('\t').next());
    files
        .map(|file| Recording {
            file: file.to_owned(),
            format: file.split('/').next().unwrap().parse().unwrap(),
            bytes: fs::read(root.join(file)).unwrap(),
            expected: expected[file].clone(),
        })
        .collect()
}

/// The other reader lists only these kinds of calls.
fn is_listed(call: &CallView) -> bool {
    let kinds = ["function", "custom", "function_call", "custom_tool_call", "tool_use", "functionCall"];
    kinds.contains(&call.kind.as_str())
}

/// Arguments that a format sends as a JSON value are compared as such; none at all and an empty object are the same.
fn equal(one: &str, other: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(if text.is_empty() { "{}" } else { text });
    one == other || matches!((value(one), value(other)), (Ok(one), Ok(other)) if one == other)
}
