//! Names, formats and what is allowed.

use super::super::{Allow, Deviation, Rule, WireKind, check, check_with};

#[test]
fn names_are_parsed_back() {
    for rule in Rule::ALL {
        assert_eq!(rule.name().parse(), Ok(*rule));
    }
    for deviation in Deviation::ALL {
        assert_eq!(deviation.name().parse(), Ok(*deviation));
    }
    let error = "openai".parse::<Rule>().unwrap_err();
    assert_eq!(error.to_string(), "expected the name of a rule, found \"openai\"");
}

#[test]
fn names_are_kebab_case_and_unique() {
    let mut names: Vec<_> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Rule::ALL.len());
    assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
}

#[test]
fn formats_are_told_by_the_first_object_that_tells() {
    let cases = [
        ("data: {\"choices\":[]}\n\n", Some(WireKind::OpenAiChat)),
        (": hello\n\ndata: {\"error\":{}}\n\ndata: {\"choices\":[]}", Some(WireKind::OpenAiChat)),
        ("data: {\"type\":\"response.created\"}\n\n", Some(WireKind::OpenAiResponses)),
        ("data: {\"type\":\"error\",\"sequence_number\":0}\n\n", Some(WireKind::OpenAiResponses)),
        (
            "data: {\"type\":\"ping\"}\n\ndata: {\"type\":\"message_start\"}\n\n",
            Some(WireKind::AnthropicMessages),
        ),
        ("data: {\"type\":\"error\",\"error\":{\"type\":\"x\"}}\n\n", Some(WireKind::AnthropicMessages)),
        ("data: {\"candidates\":[]}\r\n\r\n", Some(WireKind::Gemini)),
        ("{\"object\":\"response\"}", Some(WireKind::OpenAiResponses)),
        ("{\"type\":\"message\"}", Some(WireKind::AnthropicMessages)),
        ("data: [DONE]\n\n", None),
        ("", None),
    ];
    for (bytes, format) in cases {
        assert_eq!(WireKind::detect(bytes.as_bytes()), format, "{bytes}");
    }
}

#[test]
fn an_allowed_deviation_is_tolerated_and_still_told() {
    let stream = super::chat(&[r#""delta":{"role":"assistant","content":"a"},"finish_reason":"stop""#]);
    let report = check(WireKind::OpenAiChat, stream.as_bytes());
    assert_eq!(report.to_string(), "event 1: ending: expected [DONE], found the end (excused by no-done)\n");
    assert!(!report.is_clean());

    let allowed = check_with(WireKind::OpenAiChat, stream.as_bytes(), &Allow::as_in(&report));
    assert!(allowed.is_clean());
    assert_eq!(allowed.tolerated(), report.violations());
    assert_eq!(allowed.deviations(), [Deviation::NoDone].into());
    assert_eq!(allowed.view(), report.view());
    assert!(!Allow::none().has(Deviation::NoDone));
    assert!(Allow::none().with(Deviation::NoDone).has(Deviation::NoDone));
    assert!(Allow::all().has(Deviation::NoDone));
}
