//! Presets: secrets in the shapes that people write them in.

use std::sync::{LazyLock, OnceLock};

use stream_policies::{Preset, Redact, RedactSettings};

use crate::kit::chat::{call, end, text};
use crate::kit::run;

/// All presets, compiled once.
fn all() -> Redact {
    static ALL: LazyLock<Redact> = LazyLock::new(|| {
        Preset::ALL.into_iter().fold(RedactSettings::default(), RedactSettings::preset).build().unwrap()
    });
    ALL.clone()
}

/// One preset, compiled once.
fn only(preset: Preset) -> Redact {
    static EACH: LazyLock<[OnceLock<Redact>; Preset::ALL.len()]> = LazyLock::new(Default::default);
    let at = Preset::ALL.iter().position(|other| *other == preset).unwrap();
    EACH[at].get_or_init(|| RedactSettings::default().preset(preset).build().unwrap()).clone()
}

/// What is left of a text.
#[track_caller]
fn left(preset: Preset, said: &str) -> String {
    let redact = only(preset);
    let quoted = serde_json::Value::from(said).to_string();
    let ran = run(move || redact.clone(), &(text(quoted.trim_matches('"')) + &end("stop")));
    ran.view.choices[0].content.clone()
}

#[test]
fn a_card_number_is_found_with_any_separators() {
    for number in [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111.1111.1111.1111",
        "4111\u{a0}1111\u{a0}1111\u{a0}1111",
        "4111\u{2011}1111\u{2011}1111\u{2011}1111",
        "4111\u{2013}1111\u{2013}1111\u{2013}1111",
        "4111  1111  1111  1111",
        "4111 - 1111 - 1111 - 1111",
        "3782 822463 10005",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    ] {
        assert_eq!(left(Preset::CardNumber, &format!("x {number}, y")), "x [redacted], y", "{number:?}");
    }
}

#[test]
fn an_iban_is_found_in_either_case_with_any_separators() {
    for number in [
        "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00",
        "de89370400440532013000",
        "De89 3704 0044 0532 0130 00",
        "DE89-3704-0044-0532-0130-00",
        "DE89\u{a0}3704\u{a0}0044\u{a0}0532\u{a0}0130\u{a0}00",
        "gb82 west 1234 5698 7654 32",
    ] {
        assert_eq!(left(Preset::Iban, &format!("x {number}, y")), "x [redacted], y", "{number:?}");
    }
    assert_eq!(left(Preset::Iban, "x DE88370400440532013000, y"), "x DE88370400440532013000, y");
}

#[test]
fn a_key_right_behind_other_letters_is_found() {
    let github = format!("ghp_{}", "a1".repeat(18));
    let google = format!("AIza{}", "b".repeat(35));
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl";
    for before in ["key_", "x", r"\n", "%3D", "é"] {
        for (preset, key) in [
            (Preset::ApiKey, github.as_str()),
            (Preset::ApiKey, "xoxb-123456789012-abcdef"),
            (Preset::Jwt, jwt),
        ] {
            assert_eq!(left(preset, &format!("{before}{key}")), format!("{before}[redacted]"), "{key}");
        }
    }
    // Where a word could end in the prefix, what tells them apart is looked at, and stays.
    for before in ["key_", "x", r"\n", "%3D", "é", "="] {
        let found = left(Preset::CloudKey, &format!("{before}AKIAIOSFODNN7EXAMPLE"));
        assert_eq!(found, format!("{before}[redacted]"), "{before}");
    }
    for before in ["key_", r"\n", "%3D", "é", "="] {
        let found = left(Preset::CloudKey, &format!("{before}{google}"));
        assert_eq!(found, format!("{before}[redacted]"), "{before}");
    }
}

#[test]
fn a_key_behind_an_escape_that_somebody_wrote_out_is_found() {
    // As in JSON or code that the model shows: a line break of two characters.
    for before in [r"\n", r"\t", r"\r\n", r#"\""#, "_", "key_", "KEY="] {
        for key in ["sk-abcdefghijklmnopqrstuvwx", "sk_live_abcdefghijklmnop"] {
            let found = left(Preset::ApiKey, &format!(r#"{{"a":"x{before}{key}"}}"#));
            assert_eq!(found.matches("abcdefgh").count(), 0, "{before}{key}: {found}");
        }
    }
    assert_eq!(
        left(Preset::ApiKey, "a task-specific-fine-tuning-approach"),
        "a task-specific-fine-tuning-approach"
    );
}

#[test]
fn a_key_that_begins_inside_of_another_match_is_found() {
    let ran = run(all, &(text("a@b.sk-abcdefghijklmnopqrstuvwx c") + &end("stop")));
    assert_eq!(ran.view.choices[0].content, "[redacted] c");
    // Of two that overlap both are gone.
    let ran = run(all, &(text("4111 1111 1111 1111@example.com c") + &end("stop")));
    assert_eq!(ran.view.choices[0].content, "[redacted] c");
}

#[test]
fn a_private_key_without_its_end_reaches_to_the_end_of_the_text() {
    let key = r"-----BEGIN PRIVATE KEY-----\nMIIE";
    let ran = run(all, &(text("a ") + &text(key) + &text(r"more\n") + &end("stop")));
    assert_eq!(ran.view.choices[0].content, "a [redacted]");
    // In arguments the line breaks are escaped, perhaps twice.
    for breaks in [r"\n", r"\\n"] {
        let arguments = format!(
            r#"{{"k":"-----BEGIN RSA PRIVATE KEY-----{breaks}MIIE{breaks}-----END RSA PRIVATE KEY-----"}}"#
        );
        let ran = run(all, &(text("ok") + &call(0, "a", "look", &arguments) + &end("tool_calls")));
        assert_eq!(ran.view.choices[0].calls[0].arguments, r#"{"k":"[redacted]"}"#);
    }
}

#[test]
fn an_address_is_found_with_letters_of_any_alphabet_beside_it() {
    assert_eq!(left(Preset::Email, "é jane@example.com."), "é [redacted].");
    assert_eq!(left(Preset::Email, "JANE.DOE@EXAMPLE.COM"), "[redacted]");
    assert_eq!(left(Preset::Email, "<jane@example.com>"), "<[redacted]>");
}
