use super::*;
use crate::Script;

fn log(kind: WireKind) -> ChunkLog {
    let script =
        Script::new().text("Let me look at it.").call("c1", "ls", r#"{"p":"."}"#).call("c2", "note", "{}");
    script.to_log(kind)
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for kind in WireKind::ALL {
        for seed in 0..20 {
            assert_eq!(every_class(&log(kind), seed), every_class(&log(kind), seed));
        }
    }
}

#[test]
fn every_class_changes_something_in_some_format() {
    for class in CLASSES {
        let changed = WireKind::ALL.iter().any(|kind| mutate(&log(*kind), class, 3).is_some());
        assert!(changed, "{class}");
    }
}

#[test]
fn numbers_keys_and_escapes_are_spelled_as_they_are_meant() {
    use super::events::{escaped, raw, twin};
    let mut events = Events::of(b"data: {\"index\":0}\n\n");
    let data = events.data(0).and_then(serde_json::Value::as_object_mut).unwrap();
    data.insert("a".to_owned(), raw("-0"));
    data.insert(twin("index"), raw("1e0"));
    data.insert(escaped("name"), raw("\"x\""));
    let text = String::from_utf8(events.bytes().to_vec()).unwrap();
    assert_eq!(text, "data: {\"\\u006eame\":\"x\",\"index\":1e0,\"a\":-0,\"index\":0}\n\n");
}
