//! Whole answers.

use std::collections::BTreeMap;

use stream_core::{Assembler, Config, wire};

use super::plan::{Plan, split};
use crate::{Fragments, Script, WireKind};

/// A script's whole answer says what its stream says.
///
/// Each line of the text is an item of the script; the plan says which, and in which format, or in all of them.
///
/// # Panics
///
/// When that is not so.
pub fn whole(data: &[u8]) {
    let (mut plan, text) = split(data);
    let text = String::from_utf8_lossy(text);
    let number = plan.number();
    let size = 1 + number % 24;
    let mut script =
        Script::new().text_fragments(Fragments::Chars(size)).argument_fragments(Fragments::Chars(size));
    for (number, line) in text.lines().take(MOST).enumerate() {
        script = item(script, &mut plan, number, line);
    }
    let planned = WireKind::ALL.get(number / 24 % 5);
    for kind in planned.map_or(&WireKind::ALL[..], std::slice::from_ref) {
        let (streamed, whole) = (said(*kind, &script, false), said(*kind, &script, true));
        assert_eq!(streamed, whole, "{kind}");
    }
}

fn item(script: Script, plan: &mut Plan<'_>, number: usize, line: &str) -> Script {
    match plan.below(4) {
        0 => script.reasoning(line),
        1 => script.call(
            format!("call_{number}"),
            format!("tool_{number}"),
            serde_json::json!({ "of": line }).to_string(),
        ),
        _ => script.text(line),
    }
}

/// The text of each channel, the calls, and how it finished. Whole answers of some formats have no order between these.
#[derive(Debug, Default, PartialEq)]
struct Saying {
    texts: BTreeMap<&'static str, String>,
    calls: Vec<(String, String)>,
    finish: Option<String>,
}

fn said(kind: WireKind, script: &Script, whole: bool) -> Saying {
    let format = wire::named(kind.name()).expect("a format of that name");
    let mut assembler = Assembler::with(Config::default().format(format));
    let read =
        if whole { assembler.push_whole(script.whole(kind)) } else { assembler.push(&script.bytes(kind)) };
    read.and_then(|()| assembler.finish()).expect("a script is a valid answer");
    let finish = assembler.state().finish_reason().map(|reason| reason.raw().to_owned());
    let mut saying = Saying { finish, ..Saying::default() };
    for block in assembler.state().blocks() {
        match (block.as_tool_call(), block.as_text()) {
            (Some(call), _) => saying.calls.push((call.name().to_owned(), call.arguments().to_owned())),
            (None, Some(text)) => saying.texts.entry(block.kind_name()).or_default().push_str(text.text()),
            (None, None) => {}
        }
    }
    saying.texts.retain(|_, text| !text.is_empty());
    saying
}

/// The most items of a script.
const MOST: usize = 12;
