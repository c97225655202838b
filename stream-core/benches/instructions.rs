//! What callgrind counts, so that a change which costs instructions is seen whatever else the machine does.
//!
//! `stream-core/benches/count` runs this under callgrind, and compares with the limits beside it. By itself it only names what it
//! measures: a line for each call of [`measured`], with the number of events.

#![allow(clippy::expect_used, clippy::print_stdout)]

mod ways;

use bytes::Bytes;
use stream_testkit::{Cut, Fragments, Script, WireKind};
use ways::{OWN, Way, decode};

fn main() {
    let references: [(&str, Way); 2] =
        [("value", decode::<serde_json::Value>), ("ignored", decode::<serde::de::IgnoredAny>)];
    for kind in WireKind::ALL {
        for (stream, script) in streams() {
            let reads: Vec<Bytes> =
                Cut::Event.apply(&script.to_log(kind)).into_iter().map(|(_, read)| read).collect();
            for (name, way) in references.into_iter().chain(OWN) {
                way(reads.clone());
                measured(way, reads.clone());
                println!("{kind}\t{stream}\t{name}\t{}", reads.len());
            }
        }
    }
}

/// What is counted.
#[inline(never)]
fn measured(way: Way, reads: Vec<Bytes>) {
    way(reads);
}

/// A text, and a call with a long argument.
fn streams() -> [(&'static str, Script); 2] {
    let argument = format!("{{\"text\":\"{}\"}}", "word ".repeat(150));
    [
        ("text", Script::new().text("word ".repeat(300)).text_fragments(Fragments::Bytes(5))),
        ("call", Script::new().call("call_1", "write", &argument).argument_fragments(Fragments::Bytes(5))),
    ]
}
