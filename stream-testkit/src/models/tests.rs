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
