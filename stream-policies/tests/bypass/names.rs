//! Names of tools, written so that a rule overlooks them and a client does not.

use stream_core::{Action, Verdict};
use stream_policies::judge::rules::{Otherwise, Rule, RulesSettings};
use stream_policies::{CompletedCall, Rules};
use stream_testkit::{Replay, Script, WireKind};

use crate::kit::{gate, no_bash, ran};

fn denied(rules: &Rules, name: &str) -> bool {
    rules.verdict(&CompletedCall::new(name, "{}")) == Verdict::drop("no shells")
}

/// The names through the gate, in every format, streamed and whole.
#[track_caller]
fn assert_dropped(name: &str) {
    for kind in WireKind::ALL {
        let script = Script::new().text("ok").call("call_1", name, r#"{"command":"rm"}"#);
        let whole = stream_testkit::ChunkLog::from_whole("whole", script.whole(kind));
        for log in [script.to_log(kind), whole] {
            let ran = ran(&Replay::new(&log).policy(gate).run());
            assert_eq!(ran.edits(), [(Action::Dropped, "no shells")], "{kind} {name:?}");
            assert_eq!(ran.view.choices[0].calls, [], "{kind} {name:?}");
            assert_eq!(ran.view.choices[0].content, "ok", "{kind} {name:?}");
        }
    }
}

#[test]
fn a_name_in_other_case_is_the_same_name_to_what_denies() {
    assert_dropped("BASH");
    assert_dropped("Bash");
}

#[test]
fn a_name_in_full_width_or_mathematical_letters_is_the_same_name() {
    assert_dropped("ｂａｓｈ");
    assert_dropped("𝖇𝖆𝖘𝖍");
    assert_dropped("ⓑⓐⓢⓗ");
}

#[test]
fn a_name_with_invisible_characters_is_the_same_name() {
    for name in [
        "ba\u{200b}sh",
        "\u{feff}bash",
        "bash\u{2060}",
        "b\u{ad}ash",
        "bash\u{e0041}",
        "bash\u{fe0f}",
        "\u{202e}bash",
    ] {
        assert_dropped(name);
    }
}

#[test]
fn a_name_with_space_around_it_is_the_same_name() {
    for name in [" bash", "bash ", "\tbash\n", "bash\u{a0}", "bash\u{3000}"] {
        assert_dropped(name);
    }
}

#[test]
fn a_name_written_with_escapes_is_the_same_name() {
    use crate::kit::chat::{call, end, text};
    let body = text("ok") + &call(0, "a", r"\u0062\u0061sh", "{}") + &end("tool_calls");
    let ran = crate::kit::run(gate, &body);
    assert_eq!(
        (ran.edits(), ran.out.clone()),
        (vec![(Action::Dropped, "no shells")], text("ok") + &end("stop"))
    );
}

#[test]
fn letters_with_marks_and_those_of_other_alphabets_are_other_names() {
    // No client takes them for `bash`; a rule that allows does not either.
    let allow = RulesSettings::otherwise(Otherwise::Deny).allow(Rule::tools(["bash"])).build().unwrap();
    for name in ["b\u{430}sh", "ba\u{15b}h", "bas\u{301}h", "b\u{251}sh"] {
        assert!(!denied(&no_bash(), name), "{name:?}");
        assert_eq!(
            allow.verdict(&CompletedCall::new(name, "{}")),
            Verdict::drop("no rule allows it"),
            "{name:?}"
        );
    }
}

#[test]
fn what_allows_takes_no_name_for_another() {
    let allow =
        RulesSettings::otherwise(Otherwise::Deny).allow(Rule::tools(["ls", "read_*"])).build().unwrap();
    for name in ["LS", " ls", "ｌｓ", "l\u{200b}s", "Read_file", "xread_file", "read-file"] {
        assert_eq!(
            allow.verdict(&CompletedCall::new(name, "{}")),
            Verdict::drop("no rule allows it"),
            "{name:?}"
        );
    }
}

#[test]
fn a_glob_that_denies_is_blind_to_case_width_and_hyphens() {
    let rules = RulesSettings::otherwise(Otherwise::Allow)
        .deny(Rule::tools(["Run_*", "ﬁle_?"]).because("no shells"))
        .build()
        .unwrap();
    for name in [
        "run_shell",
        "RUN_SHELL",
        "run_",
        "ｒｕｎ＿x",
        "run-shell",
        "run\u{2010}shell",
        "file_x",
        "ﬁle_X",
        "run shell",
    ] {
        assert!(denied(&rules, name), "{name:?}");
    }
    for name in ["runshell", "xrun_shell", "file_", "file_xy"] {
        assert!(!denied(&rules, name), "{name:?}");
    }
}

#[test]
fn a_dotted_capital_i_does_not_make_another_name() {
    let rules = RulesSettings::otherwise(Otherwise::Allow)
        .deny(Rule::tools(["list", "mass", "kill"]).because("no shells"))
        .build()
        .unwrap();
    // U+0130 in lower case is an i with a dot above; U+017F is a long s, U+212A the Kelvin sign.
    for name in ["lIst", "L\u{130}ST", "ma\u{17f}\u{17f}", "\u{212a}ill", "ma\u{df}"] {
        assert!(denied(&rules, name), "{name:?}");
    }
}

/// A chat call in pieces: each has what is given of it.
fn pieces(all: &[&str]) -> String {
    let piece =
        |piece: &&str| crate::kit::chat::delta(&format!(r#"{{"tool_calls":[{{"index":0,{piece}}}]}}"#));
    let calls: String = all.iter().map(piece).collect();
    crate::kit::chat::text("ok") + &calls + &crate::kit::chat::end("tool_calls")
}

#[test]
fn a_name_in_two_pieces_closes_the_stream() {
    let body = pieces(&[
        r#""id":"a","type":"function","function":{"name":"ba","arguments":""}"#,
        r#""function":{"name":"sh","arguments":"{}"}"#,
    ]);
    // Clients that put the pieces of a name together would run `bash`.
    let ran = crate::kit::run(gate, &body);
    assert_eq!(ran.error, Some(stream_core::ErrorKind::Renamed));
    assert_eq!(ran.out, crate::kit::chat::text("ok") + crate::kit::chat::UNREADABLE);
}

#[test]
fn a_name_that_is_said_again_is_the_same_and_another_one_closes_the_stream() {
    let again = pieces(&[
        r#""id":"a","type":"function","function":{"name":"bash","arguments":"{"}"#,
        r#""id":"a","function":{"name":"bash","arguments":"}"}"#,
    ]);
    assert_eq!(crate::kit::run(gate, &again).edits(), [(Action::Dropped, "no shells")]);
    for (first, second) in [("ls", "bash"), ("bash", "ls"), ("ls", "ls\\u200b")] {
        let changed = pieces(&[
            &format!(r#""id":"a","type":"function","function":{{"name":"{first}","arguments":"{{"}}"#),
            &format!(r#""id":"a","function":{{"name":"{second}","arguments":"}}"}}"#),
        ]);
        let ran = crate::kit::run(gate, &changed);
        assert_eq!(ran.error, Some(stream_core::ErrorKind::Renamed), "{first} {second}");
        assert_eq!(ran.out, crate::kit::chat::text("ok") + crate::kit::chat::UNREADABLE, "{first} {second}");
    }
}
