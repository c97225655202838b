//! Leak 10: lines that only lenient clients read.

use stream_testkit::Script;

use crate::kit::{Gate, Target, Way, out};
use crate::{assert_caged, each_format};

/// The frame of a call, and a frame of text before it.
fn text_and_call(body: &str) -> (String, String) {
    let frames: Vec<&str> = body.split_inclusive("\n\n").collect();
    let at = frames.iter().position(|frame| frame.contains("rm_all")).unwrap();
    (frames[..at].concat(), frames[at].to_owned())
}

#[test]
fn a_call_on_a_line_that_is_no_event_stays_back() {
    let script = Script::new().text("hi").call("rm_all_1", "rm_all", r#"{"path":"rm_all"}"#);
    each_format(&script, |kind, body| {
        let (before, call) = text_and_call(body);
        let (_, json) = call.split_once("data: ").unwrap();
        let json = json.trim_end();
        let last = before.split_inclusive("\n\n").last().unwrap();
        for way in Way::ALL {
            for stray in [
                format!(" data: {json}\n\n"),
                format!("\tdata:{json}\n\n"),
                format!("{json}\n\n"),
                format!("\u{feff}data: {json}\n\n"),
                format!(" data: {json}\r\r"),
                format!("DATA: {json}\n\n"),
                format!(" data: {json}\n{last}"),
                format!("{json}\n{last}"),
                format!("{json}\n {last}"),
                format!(" data: {json}"),
            ] {
                let left = out(before.clone() + &stray, Gate(Target::Calls, way));
                assert_caged(format!("{kind}, {way:?}: {stray}"), &left);
            }
        }
    });
}
