//! Rule 28: what was judged is what every client reads, over streams that were made to be read in two ways.

#![cfg(feature = "patterns")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test, helpers included")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use stream_core::Verdict;
use stream_policies::{CompletedCall, Pattern, Preset, Redact, RedactSettings, ToolGate};
use stream_testkit::laws::{Broken, Law, Laws};
use stream_testkit::{ChunkLog, Cut, Fragments, Script, WireKind, mutate};

/// How many mutations of each class are made of each log.
const SEEDS: u64 = 6;

/// Every call but `rm` and some others.
fn gate(denied: &[&str]) -> Laws {
    let denied: Arc<BTreeSet<String>> = Arc::new(denied.iter().map(|name| (*name).to_owned()).collect());
    let laws = Laws::of(move || {
        let denied = Arc::clone(&denied);
        ToolGate::new(move |call: CompletedCall| {
            let allowed = call.name() != "rm" && !denied.contains(call.name());
            async move { Ok(if allowed { Verdict::Release } else { Verdict::drop("not allowed") }) }
        })
    });
    laws.only(Law::Agreement).cut(Cut::Event)
}

fn redact() -> Laws {
    let redact: Redact = RedactSettings::default()
        .preset(Preset::ApiKey)
        .pattern(Pattern::regex("s", "SECRET-[0-9]{4}"))
        .build()
        .unwrap();
    Laws::of(move || redact.clone()).only(Law::Agreement).cut(Cut::Event)
}

fn scripts() -> Vec<Script> {
    let fine = Fragments::Chars(6);
    vec![
        Script::new().text("Let me look at it.").text_fragments(fine),
        Script::new().reasoning("Hm, so it is.").text("Let me look.").text_fragments(fine),
        Script::new().call("call_1", "ls", r#"{"path":"."}"#),
        Script::new()
            .text("Two things.")
            .call("call_1", "ls", r#"{"path":"/home/user"}"#)
            .call("call_2", "note", r#"{"text":"remember this"}"#)
            .argument_fragments(fine),
        Script::new()
            .call("call_1", "shell", r#"{"command":"ls -l"}"#)
            .call("call_2", "note", "{}")
            .call("call_3", "ls", ""),
    ]
}

fn logs() -> Vec<ChunkLog> {
    let mut logs = Vec::new();
    for (number, script) in scripts().iter().enumerate() {
        for kind in WireKind::ALL {
            let log = script.to_log(kind);
            let name = format!("script {number} {kind}");
            logs.push(ChunkLog::from_chunks(name, log.chunks()));
        }
    }
    logs
}

fn policies() -> Vec<(&'static str, Laws)> {
    vec![("gate", gate(&[])), ("gate without ls", gate(&["ls"])), ("redact", redact())]
}

/// What breaks the law, by format, class and policy.
fn broken(logs: &[ChunkLog], seeds: u64) -> BTreeMap<String, Vec<(String, Broken)>> {
    let mut found: BTreeMap<String, Vec<(String, Broken)>> = BTreeMap::new();
    for (policy, laws) in policies() {
        for log in logs {
            let kind = log.kind().unwrap();
            for seed in 0..seeds {
                for mutated in mutate::every_class(log, seed) {
                    if let Err(broken) = laws.check(mutated.log()) {
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

/// Rule 28: a log as it is, is read alike by all.
#[test]
fn every_client_reads_a_plain_stream_as_it_was_judged() {
    for (policy, laws) in policies() {
        for log in logs() {
            if let Err(broken) = laws.check(&log) {
                panic!("{policy}: {broken}");
            }
        }
    }
}

#[test]
fn findings() {
    let seeds = std::env::var("AGREEMENT_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(SEEDS);
    let found = broken(&logs(), seeds);
    let place = std::env::var_os("AGREEMENT_FINDINGS").map(std::path::PathBuf::from);
    let mut lines = String::new();
    for (class, cases) in &found {
        let mut known = BTreeSet::new();
        for (number, (what, broken)) in cases.iter().enumerate() {
            let client = broken.expected().split(" to read").next().unwrap_or_default().to_owned();
            if !known.insert(client.clone()) {
                continue;
            }
            let file = format!("{}-{number}.sse", class.replace(' ', "-"));
            lines.push_str(&format!(
                "- {class} ({} cases) | {what} | {client} | {file}\n    expected: {}\n    found: {}\n",
                cases.len(),
                broken.expected(),
                broken.found()
            ));
            if let Some(place) = &place {
                std::fs::write(place.join(file), broken.log().bytes()).unwrap();
            }
        }
    }
    println!("{lines}");
    if let Some(place) = &place {
        std::fs::write(place.join("findings.txt"), lines).unwrap();
    }
    assert_eq!(found.len(), 0);
}
