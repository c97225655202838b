//! One script in all four formats, cut at many places.
use stream_testkit::{Fragments, Script, WireKind};

use crate::kit::Target;
use crate::{assert_none, calls, faults, text};

fn scripts() -> Vec<Script> {
    let arguments = r#"{"path":"a.txt","lines":[1,2],"deep":{"word":"canary"}}"#;
    let both = Script::new()
        .text_fragments(Fragments::Chars(7))
        .argument_fragments(Fragments::Chars(9))
        .reasoning("I look at the file first.")
        .text("Let me look.")
        .call("call_1", "read_file", arguments)
        .call("call_2", "write_file", arguments)
        .usage(12, 7);
    vec![
        both.clone(),
        both.clone().calls_in_one_chunk(),
        both.clone().in_one_chunk(),
        both.clone().pings(),
        both.cut(),
    ]
}

fn each(test: impl Fn(&str, WireKind, &[u8]) -> Vec<String>) {
    let mut faults = Vec::new();
    for (number, script) in scripts().into_iter().enumerate() {
        for kind in WireKind::ALL {
            let body = script.bytes(kind);
            let format = WireKind::detect(&body).unwrap();
            faults.extend(test(&format!("script {number} as {kind}"), format, &body));
        }
    }
    assert_none(&faults);
}

#[test]
fn no_call_of_a_script_leaves_wherever_it_is_cut() {
    each(|name, format, body| faults(name, &calls::caged(format, body).unwrap(), Target::Calls, 30));
}

#[test]
fn no_text_of_a_script_leaves_wherever_it_is_cut() {
    each(|name, format, body| faults(name, &text::caged(format, body), Target::Text, 30));
}
