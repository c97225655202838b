//! The law over mutations of plain streams.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use stream_testkit::laws::{Broken, Law, Standing, Tally};
use stream_testkit::{ChunkLog, logs, mutate};

use crate::kit::{policies, scripted};

/// How many mutations of each class are made of each log; `AGREEMENT_SEEDS` sets another number.
const SEEDS: u64 = 3;

/// The classes in which a client still reads something else than what was judged: format, class, policy. Each of them
/// may be a hole. The test asserts exactly this list: a class that opens fails it, and so does one that was closed and is
/// still listed.
const OPEN: &[&str] = &[
    "anthropic-messages block gate",
    "anthropic-messages block gate without ls",
    "anthropic-messages block redactor",
    "anthropic-messages comment gate",
    "anthropic-messages comment gate without ls",
    "anthropic-messages comment redactor",
    "anthropic-messages event-line gate",
    "anthropic-messages event-line gate without ls",
    "anthropic-messages event-line redactor",
    "anthropic-messages id gate",
    "anthropic-messages id gate without ls",
    "anthropic-messages id redactor",
    "anthropic-messages key gate",
    "anthropic-messages key gate without ls",
    "anthropic-messages key redactor",
    "anthropic-messages kind gate",
    "anthropic-messages kind gate without ls",
    "anthropic-messages kind redactor",
    "anthropic-messages line gate",
    "anthropic-messages line gate without ls",
    "anthropic-messages line redactor",
    "anthropic-messages order gate",
    "anthropic-messages order gate without ls",
    "anthropic-messages order redactor",
    "anthropic-messages text gate",
    "anthropic-messages text gate without ls",
    "anthropic-messages text redactor",
    "gemini comment gate",
    "gemini comment gate without ls",
    "gemini comment redactor",
    "gemini name gate",
    "gemini name gate without ls",
    "gemini name redactor",
    "openai-chat comment gate",
    "openai-chat comment gate without ls",
    "openai-chat comment redactor",
    "openai-chat id gate",
    "openai-chat id gate without ls",
    "openai-chat id redactor",
    "openai-chat line redactor",
    "openai-chat name gate",
    "openai-chat name gate without ls",
    "openai-chat name redactor",
    "openai-chat order gate",
    "openai-chat order gate without ls",
    "openai-chat order redactor",
    "openai-chat position gate",
    "openai-chat position gate without ls",
    "openai-chat position redactor",
    "openai-responses comment gate",
    "openai-responses comment gate without ls",
    "openai-responses comment redactor",
    "openai-responses line redactor",
    "openai-responses order gate",
    "openai-responses order gate without ls",
    "openai-responses order redactor",
];

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
fn every_client_reads_only_what_was_released_but_for_the_open_classes() {
    let seeds = std::env::var("AGREEMENT_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(SEEDS);
    let mut tally = Tally::default();
    let mut found = broken(&scripted(), seeds, &mut tally);
    let own: Vec<ChunkLog> = logs::own().unwrap().iter().map(|own| own.log().clone()).collect();
    for (class, cases) in broken(&own, seeds.div_ceil(3), &mut tally) {
        found.entry(class).or_default().extend(cases);
    }
    let told = told(&found);
    let open: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(open, OPEN, "{told}");
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
