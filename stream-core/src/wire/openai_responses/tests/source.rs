use crate::wire::openai_responses::source::sequence_number;

#[test]
fn the_number_of_an_event_is_its_own_and_a_plain_one() {
    for (data, number) in [
        (r#"{"type":"a","sequence_number":12,"delta":"x"}"#, Some(12)),
        (r#"{"type":"a","sequence_number":12}"#, Some(12)),
        (r#"{ "type" : "a" , "sequence_number" : 12 }"#, Some(12)),
        (r#"{"item":{"sequence_number":1},"sequence_number":2}"#, Some(2)),
        (r#"{"item":{"sequence_number":1}}"#, None),
        (r#"{"item":{"id":"a","sequence_number":1}}"#, None),
        (r#"{"item":{"id":"a"},"sequence_number":7}"#, Some(7)),
        (r#"{"item":{"id":"a"},"sequence_number":7.5}"#, None),
        (r#"{"item":{"id":"a,"},"sequence_number":[7]}"#, None),
        (r#"{"delta":"{","sequence_number":3}"#, Some(3)),
        (r#"{"delta":"\"sequence_number\":4","sequence_number":5}"#, Some(5)),
        (r#"{"delta":"sequence_number","text":6}"#, None),
        (r#"{"sequence_number":1.5}"#, None),
        (r#"{"sequence_number":-1}"#, None),
        (r#"{"sequence_number":"1"}"#, None),
        (r#"{"sequence_number":null}"#, None),
        (r#"["sequence_number"]"#, None),
        (r#"{"type":"a"}"#, None),
        ("[DONE]", None),
    ] {
        assert_eq!(sequence_number(data.as_bytes()), number, "{data}");
    }
}
