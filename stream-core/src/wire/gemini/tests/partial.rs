//! Joining the fragments of arguments.

use super::super::join_partial_args;

#[test]
fn strings_of_one_path_are_concatenated_in_the_order_of_their_paths() {
    let fragments = concat!(
        r#"[{"jsonPath":"$.b","stringValue":"x","willContinue":true}]"#,
        r#"[{"jsonPath":"$.a","stringValue":"1"}] "#,
        r#"[{"jsonPath":"$.b","stringValue":"\ny"}]"#,
    );
    assert_eq!(join_partial_args(fragments).unwrap(), r#"{"b":"x\ny","a":"1"}"#);
}

#[test]
fn every_kind_of_value_and_path_is_read() {
    let fragments = concat!(
        r#"[{"jsonPath":"$.list[0].x","numberValue":-1.50},{"jsonPath":"$.list[0].y","boolValue":false}]"#,
        r#"[{"jsonPath":"$.list[1][0]","nullValue":null},{"jsonPath":"$['a b']","nullValue":"NULL_VALUE"}]"#,
        r#"[{"jsonPath":"$[\"q.\\\"\"].z","stringValue":""}]"#,
    );
    assert_eq!(
        join_partial_args(fragments).unwrap(),
        r#"{"list":[{"x":-1.50,"y":false},[null]],"a b":null,"q.\"":{"z":""}}"#
    );
}

#[test]
fn empty_args_before_the_fragments_add_nothing() {
    let fragments = r#"{ }[{"jsonPath":"$.a","numberValue":1}]"#;
    assert_eq!(join_partial_args(fragments).unwrap(), r#"{"a":1}"#);
}

#[test]
fn what_is_no_sequence_of_fragments_is_left_alone() {
    for text in ["", "{}", r#"{"a":1}"#, "[]", "[][]", "[1]", r#"[{"a":1}]"#, "[", "null", "\"$.a\""] {
        assert_eq!(join_partial_args(text), None, "{text}");
    }
}

#[test]
fn fragments_that_contradict_each_other_are_not_joined() {
    for text in [
        r#"[{"jsonPath":"$.a","numberValue":1},{"jsonPath":"$.a","numberValue":2}]"#,
        r#"[{"jsonPath":"$.a","stringValue":"x"},{"jsonPath":"$.a.b","stringValue":"y"}]"#,
        r#"[{"jsonPath":"$.a[0]","stringValue":"x"},{"jsonPath":"$.a.b","stringValue":"y"}]"#,
        r#"[{"jsonPath":"$.a","stringValue":"x","numberValue":1}]"#,
        r#"[{"jsonPath":"$.a[4000000000]","stringValue":"x"}]"#,
        r#"[{"jsonPath":"$.a","numberValue":"NaN"}]"#,
        r#"[{"jsonPath":"$.a"}]"#,
        r#"[{"jsonPath":"$","stringValue":"x"}]"#,
        r#"[{"jsonPath":"a","stringValue":"x"}]"#,
        r#"[{"jsonPath":"$..a","stringValue":"x"}]"#,
    ] {
        assert_eq!(join_partial_args(text), None, "{text}");
    }
}

#[test]
fn a_path_too_deep_for_any_reader_is_not_joined() {
    let path = ".a".repeat(100_000);
    assert_eq!(join_partial_args(&format!(r#"[{{"jsonPath":"${path}","numberValue":1}}]"#)), None);
}

#[test]
fn a_long_argument_takes_linear_time() {
    // Quadratic work would take minutes here.
    let fragment = r#"[{"jsonPath":"$.text","stringValue":"0123456789","willContinue":true}]"#;
    let joined = join_partial_args(&fragment.repeat(200_000)).unwrap();
    assert_eq!(joined.len(), r#"{"text":""}"#.len() + 2_000_000);
}
