//! Lines: one `data: ` line for each event, and nothing beside it that some clients read and others do not.

use stream_core::{Action, Odd};
use stream_policies::judge::rules::{Otherwise, Rule, RulesSettings};
use stream_policies::{Passthrough, Pattern, RedactSettings, Rules, ToolGate};

use crate::kit::chat::{DONE, call, end, text};
use crate::kit::{data, gemini, run, whole};

/// A gate that denies `rm`.
fn no_rm() -> ToolGate {
    let rules: Rules = RulesSettings::otherwise(Otherwise::Allow).deny(Rule::tools(["rm"])).build().unwrap();
    ToolGate::new(rules)
}

/// Runs a stream through the gate: what leaves, and which frames were normalised.
#[track_caller]
fn leaves(body: &str, odd: usize, expected: &str) {
    let ran = run(no_rm, body);
    assert_eq!(ran.out, expected);
    assert_eq!(ran.edits, vec![(Action::Normalised, Odd::Lines.to_string()); odd]);
}

/// The body of an event.
fn body(event: &str) -> &str {
    event.strip_prefix("data: ").unwrap().trim_end()
}

/// Finding 08b.
#[test]
fn a_comment_with_a_separator_that_some_clients_split_at_does_not_leave() {
    let rm = call(0, "a", "rm", "{}");
    for separator in
        ["\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}", "\u{1c}", "\u{1d}", "\u{1e}", "é", "\u{7f}"]
    {
        let comment = format!(": x{separator}{}\n\n", rm.trim_end());
        leaves(&(text("hi") + &comment + &end("stop")), 1, &(text("hi") + &end("stop")));
        // Before the first event.
        leaves(&(comment + &text("hi") + &end("stop")), 1, &(text("hi") + &end("stop")));
    }
}

/// Finding 08a.
#[test]
fn a_comment_with_a_separator_does_not_leave_in_gemini() {
    let rm = gemini::parts(r#"{"functionCall":{"name":"rm","args":{}}}"#);
    let (hi, last) = (gemini::parts(r#"{"text":"hi"}"#), gemini::last(r#"{"text":"."}"#, "STOP"));
    let comment = format!(":{{\u{2028}{}\n\n", rm.trim_end());
    leaves(&(hi.clone() + &comment + &last), 1, &(hi + &last));
}

#[test]
fn a_separator_in_a_string_leaves_escaped() {
    for (raw, escaped) in [("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029"), ("\u{85}", "\\u0085")] {
        let text = |separator: &str| text(&format!("a{separator}data: b"));
        leaves(&(text(raw) + &end("stop")), 1, &(text(escaped) + &end("stop")));
        let part = |separator: &str| gemini::parts(&format!(r#"{{"text":"a{separator}data: b"}}"#));
        let last = gemini::last("", "STOP");
        leaves(&(part(raw) + &last), 1, &(part(escaped) + &last));
    }
}

/// Finding 09b: some clients join the lines, some read them one by one.
#[test]
fn lines_of_data_leave_as_one_line() {
    let rm = call(0, "a", "rm", "{}");
    let lines = format!("data: {{\"id\":\"c\",\"x\":\n{}\ndata: ,\"choices\":[]}}\n\n", rm.trim_end());
    let one = format!("data: {{\"id\":\"c\",\"x\": {} ,\"choices\":[]}}\n\n", body(&rm));
    leaves(&(text("hi") + &lines + &end("stop")), 1, &(text("hi") + &one + &end("stop")));
}

/// Finding 09a: Google's SDK for Python reads only lines with a blank behind the colon.
#[test]
fn data_without_a_blank_leaves_with_one() {
    let rm = gemini::parts(r#"{"functionCall":{"name":"rm","args":{}}}"#);
    let last = gemini::last(r#"{"text":"."}"#, "STOP");
    let lines = format!(
        "data:{{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"hi\"}}]}}}}],\"y\":\n{}\ndata:}}\n\n",
        rm.trim_end()
    );
    let one = format!(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"hi\"}}]}}}}],\"y\": {} }}\n\n",
        body(&rm)
    );
    leaves(&(lines + &last), 1, &(one + &last));
    leaves(&(text("hi").replace("data: ", "data:") + &end("stop")), 1, &(text("hi") + &end("stop")));
}

/// Finding 11: what a lenient client reads leaves as an event, or not at all.
#[test]
fn a_line_behind_a_blank_leaves_as_an_event_that_all_read() {
    let secret = || RedactSettings::default().pattern(Pattern::literal("s", "SECRET-1234")).build().unwrap();
    let (hi, last) = (gemini::parts(r#"{"text":"hi"}"#), gemini::last(r#"{"text":"."}"#, "STOP"));
    let line = gemini::parts(r#"{"text":"SECRET-1234 "}"#);
    let ran = run(secret, &(hi.clone() + " " + &line + &last));
    assert!(!ran.out.contains("SECRET"), "{}", ran.out);
    leaves(&(hi.clone() + " " + &line + &last), 1, &(hi.clone() + &line + &last));
    // A blank that only some clients trim: nobody knows what they read, and the gate takes it for a call.
    assert_eq!(run(no_rm, &(hi.clone() + "\u{a0}" + &line + &last)).out, hi.clone() + &last);
    assert_eq!(run(secret, &(hi.clone() + "\u{a0}" + &line + &last)).out, hi + &last);
}

#[test]
fn other_lines_fall_away_from_an_event() {
    let hi = text("hi");
    for other in ["id: 7\n", "retry: 10\n", "event: message\n", ": é\n", "\u{feff}", "data:\n"] {
        leaves(&(other.to_owned() + &hi + &end("stop")), 1, &(hi.clone() + &end("stop")));
    }
    leaves(&(hi.clone() + "event: a\n\n" + &end("stop")), 1, &(hi.clone() + &end("stop")));
    let secret = || RedactSettings::default().pattern(Pattern::literal("s", "SECRET-1234")).build().unwrap();
    for stray in ["error: x\n\n", "note: x\n"] {
        let ran = run(secret, &(stray.to_owned() + &hi + &end("stop")));
        assert_eq!(ran.out, hi.clone() + &end("stop"));
        assert_eq!(ran.edits, [(Action::Normalised, Odd::Lines.to_string())]);
    }
}

#[test]
fn line_ends_are_lf_or_crlf_throughout_an_event() {
    let hi = text("hi");
    for ends in ["\r\r", "\r\n\n", "\n\r\n", "\n\r", "\r\n\r"] {
        let odd = format!("data: {}{ends}", body(&hi));
        leaves(&(odd + &end("stop")), 1, &(hi.clone() + &end("stop")));
    }
    let crlf = (hi + &end("stop")).replace('\n', "\r\n");
    leaves(&crlf, 0, &crlf);
}

#[test]
fn a_terminal_marker_between_blanks_leaves_without_them() {
    let ends = end("stop");
    let ends = ends.strip_suffix(DONE).unwrap();
    let body = text("hi") + ends + "data:  [DONE] \n\n";
    leaves(&body, 1, &(text("hi") + ends + DONE));
}

#[test]
fn comments_and_an_error_by_name_leave_as_they_came() {
    let body = ": OPENROUTER PROCESSING\n\n".to_owned()
        + &text("hi")
        + ": keep-alive\n\n\n"
        + "event: error\n"
        + &data(r#"{"error":{"message":"overloaded"}}"#);
    leaves(&body, 0, &body);
}

/// google-genai for Python reads an answer that is no stream of events line by line, and puts the lines together without what
/// parts them: a secret with a separator in it is the secret.
#[test]
fn a_separator_in_a_whole_answer_leaves_as_its_escape() {
    let redact =
        || RedactSettings::default().pattern(Pattern::regex("key", "SECRET-[0-9]{4}")).build().unwrap();
    for (separator, escape) in [("\u{85}", "\\u0085"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029")] {
        let answer = |text: &str| {
            format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}],"role":"model"}},"finishReason":"STOP","index":0}}]}}"#
            )
        };
        let came = answer(&format!("SECRET-{separator}1234"));
        let leaves = answer(&format!("SECRET-{escape}1234"));
        for (came, leaves) in [(came.clone(), leaves.clone()), (format!("[{came}]"), format!("[{leaves}]"))] {
            let ran = whole(redact, &came);
            assert_eq!(ran.out, leaves);
            assert_eq!(ran.edits(), [(Action::Normalised, Odd::Lines.to_string().as_str())]);
            assert_eq!(whole(|| Passthrough, &came).out, came);
        }
    }
}
