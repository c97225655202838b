//! What observers see of small streams.

#[cfg(feature = "patterns")]
mod records;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use stream_core::{Action, Decision, Observer, Stage, StreamProcessor, Verdict, each_call_async};
use stream_testkit::{Script, WireKind};

use super::*;

/// Holds each call for a second, then drops those of `rm`.
fn gate() -> Stage {
    let judge = each_call_async(|call, _| {
        let denied = call.name() == "rm";
        async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(if denied { Verdict::drop("rm is not allowed") } else { Verdict::Release })
        }
    });
    Stage::new(judge).named("gate")
}

fn run(observer: impl Observer + 'static) {
    let body =
        Script::new().text("Well.").call("1", "ls", "{}").call("2", "rm", "{}").bytes(WireKind::OpenAiChat);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let upstream = futures::stream::iter([Ok::<_, std::io::Error>(body)]);
        let processor = StreamProcessor::builder().policy(gate()).observer(observer).build(upstream).unwrap();
        let _: Vec<Bytes> = processor.collect().await;
    });
}

fn told(decisions: &[Decision]) -> Vec<(&str, Action, Option<&str>)> {
    decisions
        .iter()
        .map(|decision| (decision.policy.as_str(), decision.action, decision.reason.as_deref()))
        .collect()
}

#[test]
fn a_recorder_keeps_the_last_decisions_of_many_streams() {
    let recorder = Recorder::new(3);
    run(recorder.observer());
    let expected = [("gate", Action::Released, None), ("gate", Action::Dropped, Some("rm is not allowed"))];
    assert_eq!(told(&recorder.decisions()), expected);
    run(recorder.observer());
    assert_eq!(told(&recorder.take()), [expected[1], expected[0], expected[1]]);
    assert_eq!((recorder.forgotten(), recorder.decisions()), (1, vec![]));
}

#[test]
fn decisions_go_to_a_closure_beside_other_observers() {
    let count = Arc::new(Mutex::new(0));
    let sink = Arc::clone(&count);
    let recorder = Recorder::new(10);
    run(Observers::new().and(Decisions::to(move |_| *sink.lock().unwrap() += 1)).and(recorder.observer()));
    assert_eq!((*count.lock().unwrap(), recorder.decisions().len()), (2, 2));
}

#[test]
fn metrics_count_decisions_held_bytes_and_time() {
    let metrics = Metrics::new();
    run(metrics.observer());
    run(metrics.observer());
    let snapshot = metrics.snapshot();
    let counted: Vec<_> = snapshot
        .decisions
        .iter()
        .map(|counted| {
            (counted.policy.as_str(), counted.action, counted.enforced, counted.count, counted.held)
        })
        .collect();
    let two = Duration::from_secs(2);
    assert_eq!(counted, [("gate", "dropped", true, 2, two), ("gate", "released", true, 2, two)]);
    assert_eq!((snapshot.streams, snapshot.errors, snapshot.held_bytes), (2, 0, 0));
    let held: u64 = snapshot.decisions.iter().map(|counted| counted.bytes).sum();
    assert!(held > 0 && snapshot.held_bytes_grown >= held / 2, "{snapshot:?}");
    assert!(snapshot.held_bytes_max as u64 <= snapshot.held_bytes_grown);
    assert!(serde_json::to_string(&snapshot).is_ok());
}

#[test]
fn a_stream_that_is_dropped_holds_nothing_any_more() {
    let metrics = Metrics::new();
    let body = Script::new().call("1", "ls", "{}").cut().bytes(WireKind::OpenAiChat);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let upstream =
            futures::stream::iter([Ok::<_, std::io::Error>(body)]).chain(futures::stream::pending());
        let observer = metrics.observer();
        let mut processor =
            StreamProcessor::builder().policy(gate()).observer(observer).build(upstream).unwrap();
        let _ = tokio::time::timeout(Duration::from_millis(1), async {
            while processor.next().await.is_some() {}
        })
        .await;
    });
    assert_eq!(metrics.snapshot().held_bytes, 0);
}

#[cfg(feature = "tracing")]
#[test]
fn decisions_become_tracing_events_with_fields() {
    use tracing::field::{Field, Visit};

    #[derive(Default)]
    struct Fields(String);

    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            self.0 += &format!(" {field}={value:?}");
        }
    }

    #[derive(Clone, Default)]
    struct Events(Arc<Mutex<Vec<String>>>);

    impl tracing::Subscriber for Events {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }

        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            let mut fields = Fields::default();
            event.record(&mut fields);
            let metadata = event.metadata();
            self.0.lock().unwrap().push(format!("{} {}{}", metadata.level(), metadata.target(), fields.0));
        }

        fn enter(&self, _: &tracing::span::Id) {}

        fn exit(&self, _: &tracing::span::Id) {}
    }

    let events = Events::default();
    let mut decision = Decision::new("gate", Action::Dropped, stream_core::Cause::Verdict);
    decision.bytes = 7;
    decision.held = Duration::from_millis(20);
    decision.enforced = false;
    let without_reason = |action| {
        let mut decision = decision.clone();
        decision.action = action;
        decision
    };
    let (released, failed) = (without_reason(Action::Released), without_reason(Action::Failed));
    decision.reason = Some("not allowed".into());
    tracing::subscriber::with_default(events.clone(), || {
        Traced.decision(&decision);
        Traced.decision(&released);
        Traced.decision(&failed);
    });
    let tail = "bytes=7 held_ms=20";
    assert_eq!(
        *events.0.lock().unwrap(),
        [
            format!(
                "INFO stream::decision policy=\"gate\" action=\"dropped\" enforced=false reason=\"not allowed\" {tail}"
            ),
            format!("DEBUG stream::decision policy=\"gate\" action=\"released\" enforced=false {tail}"),
            format!("WARN stream::decision policy=\"gate\" action=\"failed\" enforced=false {tail}"),
        ]
    );
}
