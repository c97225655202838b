//! What the client ends up with.

use std::fmt::Write as _;

use stream_testkit::Replayed;
use stream_testkit::conformance::{Allow, ChoiceView, Ended};

use super::escape::escape;
use super::words::excerpt;

pub(super) fn write(page: &mut String, replayed: &Replayed) {
    let report = replayed.check(&Allow::none());
    let view = report.view();
    let ended = match view.ended {
        Ended::Clean => "the format's own ending",
        Ended::Refused => "a refusal",
        Ended::Error => "an error in the stream",
        Ended::Open => "no ending",
    };
    let _ = writeln!(page, "<section>\n<h2>What the client ends up with</h2>\n<dl id=\"client\">");
    entry(page, "ending", ended, false);
    for choice in &view.choices {
        write_choice(page, choice, view.choices.len() > 1);
    }
    for violation in report.violations().iter().take(LINES) {
        entry(page, "breaks a rule", &violation.to_string(), false);
    }
    page.push_str("</dl>\n</section>\n");
}

fn write_choice(page: &mut String, choice: &ChoiceView, one_of_many: bool) {
    if one_of_many {
        entry(page, "choice", &choice.index.to_string(), false);
    }
    let texts = [("reasoning", &choice.reasoning), ("text", &choice.content), ("refusal", &choice.refusal)];
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        entry(page, name, text, true);
    }
    for call in choice.calls.iter().take(LINES) {
        entry(page, "call", &format!("{}({})", call.name, call.arguments), true);
    }
    if let Some(more) = choice.calls.len().checked_sub(LINES).filter(|more| *more > 0) {
        entry(page, "call", &format!("and {more} more"), false);
    }
    entry(page, "finish", choice.finish.as_deref().unwrap_or("none"), false);
}

fn entry(page: &mut String, name: &str, value: &str, code: bool) {
    let value = excerpt(value, WIDTH);
    let value = escape(&value);
    if code {
        let _ = writeln!(page, "<dt>{name}</dt><dd><code>{value}</code></dd>");
    } else {
        let _ = writeln!(page, "<dt>{name}</dt><dd>{value}</dd>");
    }
}

/// How much of a text is shown.
const WIDTH: usize = 4000;
/// How many calls and violations are shown.
const LINES: usize = 100;
