use super::*;
use crate::Script;

/// Rule 28: where a stream is plain, every client reads the same.
#[test]
fn every_model_reads_the_same_from_a_plain_stream() {
    let script = Script::new()
        .reasoning("Hm.")
        .text("Let me look.")
        .call("call_1", "read_file", r#"{"path":"a"}"#)
        .call("call_2", "list", r#"{"path":"b"}"#);
    for model in all() {
        let reading = model.read(script.to_log(model.kind()).bytes());
        let calls =
            [Call::function("read_file", r#"{"path":"a"}"#), Call::function("list", r#"{"path":"b"}"#)];
        assert_eq!(reading.calls, calls, "{}", model.name());
        assert!(reading.says("Let me look."), "{}: {:?}", model.name(), reading.texts);
        assert_eq!(reading.raised, None, "{}", model.name());
    }
    for kind in WireKind::ALL {
        let reading = read_whole(kind, &script.whole(kind));
        assert_eq!(reading.calls.len(), 2, "{kind}");
        assert!(reading.says("Let me look."), "{kind}");
    }
}

#[test]
fn there_are_at_least_twenty_models_with_names_of_their_own() {
    let mut names: Vec<_> = all().iter().map(Model::name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all().len());
    assert!(names.len() >= 20);
}

#[derive(serde::Deserialize)]
struct Case {
    api: String,
    name: String,
    body: String,
}

#[derive(serde::Deserialize)]
struct Measured {
    case: String,
    client: String,
    #[serde(default)]
    calls: Vec<MeasuredCall>,
    #[serde(default)]
    text: String,
    raises: Option<String>,
}

#[derive(serde::Deserialize)]
struct MeasuredCall {
    kind: String,
    name: String,
    arguments: String,
}

/// Rule 28: a model reads what its SDK was measured to read; where the SDK raises, a model may read on, which asks more
/// of what leaves.
#[test]
fn models_read_what_their_sdks_were_measured_to_read() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../../tests/clients/models/cases.json")).unwrap();
    let table: Vec<Measured> =
        serde_json::from_str(include_str!("../../../tests/clients/models/readings.json")).unwrap();
    let mut wrong = String::new();
    let mut compared = 0;
    for measured in table.iter().filter(|measured| measured.raises.is_none()) {
        let case = cases.iter().find(|case| format!("{}: {}", case.api, case.name) == measured.case).unwrap();
        let model = all().into_iter().find(|model| model.name() == measured.client).unwrap();
        let reading = model.read(case.body.as_bytes());
        let calls: Vec<Call> = measured
            .calls
            .iter()
            .map(|call| Call {
                kind: if call.kind == "function" {
                    CallKind::Function
                } else {
                    CallKind::Builtin(call.kind.clone())
                },
                ..Call::function(&call.name, &call.arguments)
            })
            .collect();
        let same = reading.calls.len() == calls.len()
            && reading.calls.iter().zip(&calls).all(|(one, other)| one.is_same(other))
            && (measured.text.is_empty() || reading.says(&measured.text));
        if !same {
            let Measured { case, client, text, .. } = measured;
            wrong.push_str(&format!("{client}, {case}: measured {calls:?} {text:?}, found {reading:?}\n"));
        }
        compared += 1;
    }
    assert_eq!(wrong, "");
    assert!(compared > 100, "{compared}");
}
