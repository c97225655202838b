//! Leak 11: frames after the terminal marker.

use stream_core::ErrorKind;
use stream_testkit::{Script, WireKind};

use crate::each_format;
use crate::kit::{SendAll, run};

#[test]
fn a_call_or_text_after_the_terminal_marker_closes_the_stream_and_stays_back() {
    let whole = Script::new().text("hi").usage(1, 1);
    let late = Script::new().text("rm_all").call("rm_all_1", "rm_all", "{}");
    each_format(&whole, |kind, body| {
        // Gemini has no marker of its own; gateways end its streams as those of chat.
        let end = if kind == WireKind::Gemini { "data: [DONE]\n\n" } else { "" };
        let body = body.to_owned() + end;
        let late = late.bytes(kind);
        let late = std::str::from_utf8(&late).unwrap();
        for frame in late.split_inclusive("\n\n").filter(|frame| frame.contains("rm_all")) {
            let ran = run(body.clone() + frame, SendAll);
            let error = ran.outcome.error.map(|error| error.kind());
            assert_eq!(error, Some(ErrorKind::AfterTerminal), "{kind}: {frame}");
            assert_eq!(ran.out, body, "{kind}: {frame}");
        }
    });
}
