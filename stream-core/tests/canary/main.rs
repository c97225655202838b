//! Law *no leak*, in canary form: every value of what a policy never releases is put into letters that occur nowhere
//! else, copies included, and none of them leaves, wherever the stream is cut.
//!
//! A canary is not one word but the whole value: each of its letters is moved into Unicode's private use area, so that
//! no window of any length can leave unnoticed. Fragments and copies stay consistent with each other, since the same
//! letter always becomes the same canary.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed, or says why"
)]

#[path = "../kit/mod.rs"]
mod kit;

mod calls;
mod canaries;
mod corpus;
mod scripted;
mod text;

use kit::{Eof, Gate, Target, Way, run_with};
use stream_core::StreamProcessor;
use stream_testkit::WireKind;
use stream_testkit::conformance::{Allow, check, check_with};

/// What is wrong with a stream that is full of canaries under every gate on its target: those that left, whole and cut,
/// and, where nobody cut, what makes the answer invalid.
fn faults(what: &str, body: &[u8], target: Target, cuts: usize) -> Vec<String> {
    let mut faults = Vec::new();
    for way in Way::ALL {
        let out = left(body, target, way, Eof::Clean);
        faults.extend(escaped(&out).map(|frame| format!("{what}, {way:?}: a canary left in {frame}")));
        if !matches!(way, Way::Refuse | Way::Fail) {
            faults.extend(invalid(body, &out).map(|violation| format!("{what}, {way:?}: {violation}")));
        }
        for at in places(body, cuts) {
            for eof in [Eof::Clean, Eof::Broken] {
                let out = left(&body[..at], target, way, eof);
                let told = |frame| format!("{what}, {way:?}, cut at {at}: a canary left in {frame}");
                faults.extend(escaped(&out).map(told));
            }
        }
    }
    faults
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

fn left(body: &[u8], target: Target, way: Way, eof: Eof) -> String {
    run_with(StreamProcessor::builder().policy(Gate(target, way)), body, eof).out
}

/// The frame of the first canary outside.
fn escaped(out: &str) -> Option<&str> {
    let found = canaries::find(out)?;
    let from = out[..found].rfind("\n\n").map_or(0, |border| border + 2);
    let to = out[found..].find("\n\n").map_or(out.len(), |border| found + border);
    Some(&out[from..to])
}

/// The first rule that the answer breaks and the upstream did not.
fn invalid(body: &[u8], out: &str) -> Option<String> {
    // The checker is no lenient client: it does not see what stands on a line that is no event.
    let format = WireKind::detect(body).filter(|_| !body.starts_with(b" data:"))?;
    let came = check(format, body);
    let report = check_with(format, out.as_bytes(), &Allow::as_in(&came));
    let is_new = |rule| !came.violations().iter().any(|known| known.rule == rule);
    report.violations().iter().find(|violation| is_new(violation.rule)).map(ToString::to_string)
}

/// Where to cut: at event borders and in between, as many as allowed, spread evenly.
fn places(body: &[u8], most: usize) -> Vec<usize> {
    let borders = (2..body.len()).filter(|at| &body[at - 2..*at] == b"\n\n");
    let mut places = spread(borders.collect(), most / 2);
    places.extend(spread((1..body.len()).collect(), most / 2));
    places
}

fn spread(all: Vec<usize>, most: usize) -> Vec<usize> {
    let step = all.len() / (most + 1) + 1;
    all.into_iter().skip(step - 1).step_by(step).take(most).collect()
}
