//! The law over mutations of plain streams.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use stream_testkit::laws::{Broken, Law, Standing, Tally};
use stream_testkit::{ChunkLog, logs, mutate};

use crate::kit::{policies, scripted};

/// How many mutations of each class are made of each log; `AGREEMENT_SEEDS` sets another number.
const SEEDS: u64 = 3;

/// What breaks the law, by format, class and policy.
type Found = BTreeMap<String, Vec<(String, Broken)>>;

fn broken(logs: &[ChunkLog], seeds: u64, tally: &mut Tally) -> Found {
    let mut found = Found::new();
    for (policy, laws) in policies() {
        for log in logs {
            let kind = log.kind().unwrap();
            for mutated in (0..seeds).flat_map(|seed| mutate::every_class(log, seed)) {
                match laws.check(mutated.log()) {
                    Ok(stood) => tally.add(&stood),
                    Err(broken) => {
                        let class = format!("{kind} {} {policy}", mutated.class());
                        let what = format!("{}: {}", mutated.log().name(), mutated.what());
                        found.entry(class).or_default().push((what, broken));
                    }
                }
            }
        }
    }
    found
}

/// One entry for each class and client.
fn told(found: &Found) -> String {
    let place = std::env::var_os("AGREEMENT_FINDINGS").map(PathBuf::from);
    let mut text = String::new();
    for (class, cases) in found {
        let mut known = BTreeSet::new();
        for (number, (what, broken)) in cases.iter().enumerate() {
            let client = broken.expected().split(" to read").next().unwrap_or_default().to_owned();
            if !known.insert(client.clone()) {
                continue;
            }
            let file = format!("{}-{number}.sse", class.replace(' ', "-"));
            writeln!(text, "- {class} ({} cases) | {what} | {client} | {file}", cases.len()).unwrap();
            writeln!(text, "    expected: {}\n    found: {}", broken.expected(), broken.found()).unwrap();
            if let Some(place) = &place {
                std::fs::write(place.join(file), broken.log().bytes()).unwrap();
            }
        }
    }
    if let Some(place) = &place {
        std::fs::write(place.join("findings.txt"), &text).unwrap();
    }
    text
}

/// Rule 28: whatever is done to numbers, ids, names, keys, lines, orders, positions, copies and kinds, every client
/// reads only what was released.
#[test]
fn every_client_reads_only_what_was_released() {
    let seeds = std::env::var("AGREEMENT_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(SEEDS);
    let mut tally = Tally::default();
    let mut found = broken(&scripted(), seeds, &mut tally);
    let own: Vec<ChunkLog> = logs::own().unwrap().iter().map(|own| own.log().clone()).collect();
    for (class, cases) in broken(&own, seeds.div_ceil(3), &mut tally) {
        found.entry(class).or_default().extend(cases);
    }
    assert_eq!(told(&found), "");
    assert_eq!(tally.standing(Law::Agreement), Some(Standing::Held));
}

/// Rule 28: streams that are plain are read alike by all.
#[test]
fn every_client_reads_a_plain_stream_as_it_was_judged() {
    let mut tally = Tally::default();
    for (policy, laws) in policies() {
        for log in scripted() {
            match laws.check(&log) {
                Ok(stood) => tally.add(&stood),
                Err(broken) => panic!("{policy}: {broken}"),
            }
        }
    }
    assert_eq!(tally.never_held(), []);
}
