//! Records tell what happened: the same as the metrics, and the same as the bytes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt as _;
use stream_core::record::{StagedView, StepView, VerdictView};
use stream_core::text_calls::{DialectSet, known};
use stream_core::{Action, Chain, Config, Decision, Observer, StreamProcessor, Verdict};
use stream_testkit::conformance::View;
use stream_testkit::{ChunkLog, Fragments, Replay, Script, WireKind, logs};

use crate::observe::{Counted, Metrics, Observers, Recorder};
use crate::tool_gate::OnDeny;
use crate::{
    BufferedJudge, CompletedCall, FinishGate, HideReasoningSettings, InjectSettings, Pattern, RedactSettings,
    ToolGate, ToolGateSettings,
};

const NOTICE: &str = "[a call was not allowed]";
const REDACTED: &str = "[#]";

/// A judge that takes a second, and denies every call but those of names with an even number of letters.
async fn judge(call: CompletedCall) -> Result<Verdict, stream_core::PolicyError> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let is_even = call.name().len().is_multiple_of(2);
    Ok(if is_even { Verdict::Release } else { Verdict::drop("an odd name") })
}

fn gate() -> ToolGate {
    ToolGate::new(judge).settings(ToolGateSettings::default().notice(NOTICE))
}

fn redact() -> crate::Redact {
    let vowels = Pattern::regex("vowels", "[aeiou][a-z]");
    RedactSettings::default().pattern(vowels).replacement(REDACTED).build().unwrap()
}

type Chains = Vec<(&'static str, fn() -> Chain)>;

/// Gates, redactors and judges, alone and behind each other.
fn chains() -> Chains {
    vec![
        ("gate", || gate().into()),
        ("ending gate", || {
            ToolGate::new(judge).settings(ToolGateSettings::default().on_deny(OnDeny::End)).into()
        }),
        ("judge", || BufferedJudge::new(judge).into()),
        ("finish gate", || FinishGate::new().into()),
        ("redactor", || redact().into()),
        ("notices", || InjectSettings::default().before("<").after(">").build().unwrap().into()),
        ("hidden", || HideReasoningSettings::default().build().into()),
        ("gate and redactor", || Chain::from(gate()).then(redact())),
    ]
}

/// How many bytes are held, as every hook and verdict tells.
#[derive(Default)]
struct Held(Arc<Mutex<Vec<usize>>>);

impl Observer for Held {
    fn step(&mut self, step: &StepView<'_>) {
        self.0.lock().unwrap().push(step.held);
    }

    fn staged(&mut self, staged: &StagedView<'_>) {
        self.0.lock().unwrap().push(staged.held);
    }

    fn verdict(&mut self, verdict: &VerdictView<'_>) {
        self.0.lock().unwrap().push(verdict.held);
    }
}

type Sums = BTreeMap<(String, &'static str, bool), (u64, u64, Duration, Duration)>;

fn of_records(decisions: &[Decision]) -> Sums {
    let mut sums = Sums::new();
    for decision in decisions {
        let key = (decision.policy.clone(), decision.action.word(), decision.enforced);
        let sum = sums.entry(key).or_default();
        let most = sum.3.max(decision.held);
        *sum = (sum.0 + 1, sum.1 + decision.bytes as u64, sum.2 + decision.held, most);
    }
    sums
}

fn of_metrics(counted: &[Counted]) -> Sums {
    let sum = |counted: &Counted| (counted.count, counted.bytes, counted.held, counted.held_max);
    let key = |counted: &Counted| (counted.policy.clone(), counted.action, counted.enforced);
    counted.iter().map(|counted| (key(counted), sum(counted))).collect()
}

#[test]
fn metrics_are_the_sums_of_the_records_over_all_own_logs() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let logs = logs::own().unwrap();
    for (name, chain) in chains() {
        let (metrics, recorder) = (Metrics::new(), Recorder::new(usize::MAX));
        let (mut most, mut grown, mut errors) = (0, 0, 0);
        for own in &logs {
            let held = Arc::<Mutex<Vec<usize>>>::default();
            let observers =
                Observers::new().and(metrics.observer()).and(recorder.observer()).and(Held(held.clone()));
            let chunks: Vec<_> =
                own.log().chunks().map(|(_, bytes)| Ok::<_, std::io::Error>(bytes)).collect();
            let config = own.log().asked_for(Config::default());
            let builder = StreamProcessor::builder().config(config).chain(chain()).observer(observers);
            let processor = builder.build(futures::stream::iter(chunks)).unwrap();
            let handle = processor.handle();
            runtime.block_on(processor.for_each(async |_| {}));
            errors += u64::from(handle.outcome().is_some_and(|outcome| outcome.error.is_some()));
            let held = held.lock().unwrap();
            most = held.iter().copied().max().unwrap_or(0).max(most);
            let steps = std::iter::once(0).chain(held.iter().copied()).zip(held.iter().copied());
            grown += steps.map(|(before, now)| now.saturating_sub(before) as u64).sum::<u64>();
        }
        let snapshot = metrics.snapshot();
        let records = of_records(&recorder.decisions());
        assert!(!records.is_empty(), "{name}");
        assert_eq!(of_metrics(&snapshot.decisions), records, "{name}");
        assert_eq!((snapshot.streams, snapshot.errors), (logs.len() as u64, errors), "{name}");
        let told = (snapshot.held_bytes, snapshot.held_bytes_max, snapshot.held_bytes_grown);
        assert_eq!(told, (0, most, grown), "{name}");
    }
}

/// How many calls a client has, and how often a text stands in what it reads.
fn calls(view: &View) -> usize {
    view.choices.iter().map(|choice| choice.calls.len()).sum()
}

fn times(view: &View, text: &str) -> usize {
    let texts = view.choices.iter().flat_map(|choice| [&choice.content, &choice.reasoning, &choice.refusal]);
    texts.map(|said| said.matches(text).count()).sum()
}

fn count(decisions: &[Decision], action: Action) -> usize {
    decisions.iter().filter(|decision| decision.enforced && decision.action == action).count()
}

/// Every call that is gone has a record with the judge's reason, and a stream that a policy ended has one record of that.
#[test]
fn records_of_a_gate_are_what_became_of_the_calls() {
    let script = Script::new()
        .text("Look.")
        .call("call_1", "look", "{}")
        .call("call_2", "rm!", r#"{"path":"/a"}"#)
        .call("call_3", "lists", r#"{"path":"/b"}"#)
        .text("Done.")
        .argument_fragments(Fragments::Chars(3));
    for kind in WireKind::ALL {
        let log = script.to_log(kind);
        let run = Replay::new(&log).policy(gate).run();
        let view = run.view();
        assert_eq!(calls(&view), 1, "{kind}");
        let dropped: Vec<_> = run.decisions.iter().filter(|one| one.action == Action::Dropped).collect();
        let reasons: Vec<_> = dropped.iter().map(|one| one.reason.as_deref()).collect();
        let without_place = "there was no place for the text";
        let judged = reasons.iter().filter(|reason| **reason == Some("an odd name")).count();
        assert_eq!(judged, 2, "{kind}: {reasons:?}");
        let unplaced = reasons.iter().filter(|reason| **reason == Some(without_place)).count();
        assert_eq!(judged + unplaced, dropped.len(), "{kind}: {reasons:?}");
        assert!(
            dropped
                .iter()
                .filter(|one| one.reason.as_deref() != Some(without_place))
                .all(|one| one.bytes > 0)
        );
        // A notice is a part of the drop that it stands for, and has a record only where there is no place for it.
        assert_eq!(times(&view, NOTICE), 2 - unplaced, "{kind}");
        assert_eq!(count(&run.decisions, Action::Inserted), 0, "{kind}");

        let ends = || ToolGate::new(judge).settings(ToolGateSettings::default().on_deny(OnDeny::End));
        let run = Replay::new(&log).policy(ends).run();
        assert_eq!(count(&run.decisions, Action::Terminated), 1, "{kind}");
    }
}

/// A text that is edited has a record, and one that is not has none.
#[test]
fn records_of_a_redactor_are_what_became_of_the_texts() {
    for own in logs::own().unwrap() {
        let config = own.log().asked_for(Config::default());
        let run = Replay::new(own.log()).config(config).policy(redact).run();
        let shows = run.bytes().windows(REDACTED.len()).any(|window| window == REDACTED.as_bytes());
        let edits = count(&run.decisions, Action::Edited);
        assert!(!shows || edits > 0, "{} {}: an edit without a record", own.kind(), own.name());
        let is_same = run.bytes() == *own.log().bytes();
        assert_eq!(is_same, !run.is_edited(), "{} {}", own.kind(), own.name());
    }
}

/// A call that is written as text is held from its first byte, and its record tells for how long, and how many bytes.
#[test]
fn records_of_calls_in_the_text_tell_bytes_and_time() {
    let call = r#"<tool_call>{"name":"rm!","arguments":{}}</tool_call>"#;
    let script = Script::new()
        .text(format!("So: {call} done."))
        .text_fragments(Fragments::Chars(13))
        .pace(Duration::from_millis(100));
    let hermes = || Config::default().text_calls(DialectSet::new().with(known::hermes()));
    for kind in WireKind::ALL {
        let log: ChunkLog = script.to_log(kind);
        let run = Replay::new(&log).config(hermes()).policy(gate).run();
        let dropped: Vec<_> = run.decisions.iter().filter(|one| one.action == Action::Dropped).collect();
        assert_eq!(dropped.len(), 1, "{kind}: {dropped:?}");
        // The call begins in the first piece of the text and ends in the fifth; then the judge takes a second.
        assert_eq!(dropped[0].held, Duration::from_millis(1400), "{kind}");
        assert_eq!(dropped[0].reason.as_deref(), Some("an odd name"), "{kind}");
        let chunks: Vec<usize> = log.chunks().map(|(_, bytes)| bytes.len()).collect();
        let first = log.chunks().position(|(_, bytes)| String::from_utf8_lossy(&bytes).contains("<tool_cal"));
        let frames: usize = chunks[first.unwrap()..][..5].iter().sum();
        assert_eq!(dropped[0].bytes, frames, "{kind}");
    }
}
