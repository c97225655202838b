//! The recorded streams pass the checker, but for the deviations listed here, each of them needed.
//!
//! Where the streams lie is found by `stream_testkit::logs`; the tests that need them are ignored by name.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

mod faults;
mod needed;
mod recorded;

use std::collections::BTreeSet;

use self::{needed::NEEDED, recorded::recordings};
use stream_testkit::WireKind;
use stream_testkit::conformance::{Allow, Deviation, Rule, check, check_with};

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn every_recording_needs_exactly_the_deviations_listed() {
    let mut wrong = String::new();
    for recording in recordings() {
        let listed = NEEDED.iter().find(|(file, _)| *file == recording.file).map_or("", |(_, listed)| listed);
        let listed: BTreeSet<Deviation> =
            listed.split_whitespace().map(|name| name.parse().unwrap()).collect();
        let allow: Allow = listed.iter().copied().collect();
        let report = check_with(recording.format, &recording.bytes, &allow);
        for violation in report.violations() {
            wrong += &format!("{}: {violation}\n", recording.file);
        }
        for deviation in listed.difference(&report.deviations()) {
            wrong += &format!("{}: {deviation} is listed, and no longer needed\n", recording.file);
        }
    }
    assert!(wrong.is_empty(), "correct the checker, or name the deviation in needed.rs:\n{wrong}");
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn every_file_listed_is_recorded() {
    let recorded: BTreeSet<String> = recordings().into_iter().map(|recording| recording.file).collect();
    let gone: Vec<_> = NEEDED.iter().filter(|(file, _)| !recorded.contains(*file)).collect();
    assert!(gone.is_empty(), "no recording of {gone:?}");
}

#[test]
fn every_deviation_is_seen_in_a_recording() {
    let listed: BTreeSet<&str> = NEEDED.iter().flat_map(|(_, listed)| listed.split_whitespace()).collect();
    let known: BTreeSet<&str> = Deviation::ALL.iter().map(|deviation| deviation.name()).collect();
    assert_eq!(listed, known);
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn the_format_of_every_recording_is_detected() {
    for recording in recordings() {
        assert_eq!(WireKind::detect(&recording.bytes), Some(recording.format), "{}", recording.file);
    }
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn the_view_of_every_recording_is_what_another_reader_got() {
    let mut wrong = String::new();
    for recording in recordings() {
        let report = check(recording.format, &recording.bytes);
        // A client that knows calls by index alone takes two calls on one index for one.
        if report.deviations().contains(&Deviation::CallIndexShared) {
            continue;
        }
        // A bare JSON error is no event: a client that follows the standard does not see it.
        let stray =
            report.deviations().contains(&Deviation::StrayLine) && recording.format == WireKind::Gemini;
        for difference in recording.differences(report.view()).into_iter().skip(usize::from(stray)) {
            wrong += &format!("{}: {difference}\n", recording.file);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_documented_counts_are_those_of_the_list() {
    let (_, documented) = include_str!("../../../docs/conformance.md").split_once("## Deviations").unwrap();
    for deviation in Deviation::ALL {
        let name = deviation.name();
        let count =
            NEEDED.iter().filter(|(_, listed)| listed.split_whitespace().any(|it| it == name)).count();
        let row = documented.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let cell = row.and_then(|row| row.split('|').nth(3)).map(str::trim);
        assert_eq!(cell, Some(count.to_string().as_str()), "{name}");
    }
}

#[test]
fn every_rule_is_documented() {
    let documented = include_str!("../../../docs/conformance.md");
    for rule in Rule::ALL {
        assert!(documented.contains(&format!("`{rule}`")), "{rule}");
    }
}
