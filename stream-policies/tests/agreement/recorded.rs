//! The law over recorded streams, as they are and mutated.

use stream_testkit::{logs, mutate};

use crate::kit::policies;

/// Recordings of more bytes are left out: what is special about them is their length.
const LONG: usize = 12_000;
/// One in so many recordings is mutated, in one class each.
const EVERY: usize = 3;

/// Recorded streams that some client reads in another way than they were judged, and why.
const ODD: [(&str, &str); 0] = [];

/// Rule 28, over real traffic: a policy that takes nothing out leaves what every client reads alike.
#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn every_client_reads_recorded_streams_as_they_were_judged() {
    let mut wrong = String::new();
    for recorded in logs::corpus().expect("recorded streams").iter().filter(|recorded| recorded.bytes <= LONG)
    {
        let log = recorded.load().unwrap();
        for (policy, laws) in policies() {
            if ODD.iter().any(|(file, _)| recorded.file == *file) {
                continue;
            }
            if let Err(broken) = laws.check(&log) {
                wrong.push_str(&format!("{}, {policy}: {broken}\n", recorded.file));
            }
        }
    }
    assert_eq!(wrong, "");
}

/// Rule 28, over mutations of real traffic.
#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn every_client_reads_mutated_recordings_as_they_were_judged() {
    let mut wrong = String::new();
    let corpus = logs::corpus().expect("recorded streams");
    let short = corpus.iter().filter(|recorded| recorded.bytes <= LONG);
    for (number, recorded) in short.enumerate().step_by(EVERY) {
        let log = recorded.load().unwrap();
        let class = mutate::CLASSES[number / EVERY % mutate::CLASSES.len()];
        let Some(mutated) = mutate::mutate(&log, class, 1) else { continue };
        for (policy, laws) in policies() {
            if let Err(broken) = laws.check(mutated.log()) {
                wrong.push_str(&format!(
                    "{}, {class}, {policy}: {}: {broken}\n",
                    recorded.file,
                    mutated.what()
                ));
            }
        }
    }
    assert_eq!(wrong, "");
}
