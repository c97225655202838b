//! The eleven leaks that reviews of this design found, each with a test in every format where it applies.
//!
//! What must stay back says `rm_all`; nothing else does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../kit/mod.rs"]
mod kit;

mod after_the_end;
mod copies;
mod endings;
mod items;
mod openers;
mod stray;

use stream_testkit::{Script, WireKind};

/// A script in every format, with LF as the end of every line.
fn each_format(script: &Script, mut test: impl FnMut(WireKind, &str)) {
    for kind in WireKind::ALL {
        let body = script.bytes(kind);
        test(kind, &std::str::from_utf8(&body).unwrap().replace("\r\n", "\n"));
    }
}

/// Nothing of what must stay back has left.
fn assert_caged(what: impl std::fmt::Display, out: &str) {
    assert_eq!(out.find("rm_all"), None, "{what}\n{out}");
}

/// Every end of an event in a stream, as a place to cut it.
fn borders(body: &str) -> impl Iterator<Item = usize> + '_ {
    body.match_indices("\n\n").map(|(at, _)| at + 2)
}
