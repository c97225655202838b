//! Upstreams that are pending between events: the loop waits, keeps alive and comes to its end as without the lane.

use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use stream_core::{Config, Limits, StreamProcessor};
use stream_testkit::{Cut, Fragments, Script, WireKind, logs};

use crate::kit::{Log, Made, chains, config};
use crate::same::quiet;

/// What left, when, and what hooks saw.
async fn run(
    chain: &Made,
    reads: Vec<Bytes>,
    pause: Duration,
    config: Config,
) -> (Vec<u8>, Vec<String>, String) {
    let log = Log::default();
    let upstream = stream::iter(reads).then(move |read| async move {
        tokio::time::sleep(pause).await;
        Ok::<_, std::convert::Infallible>(read)
    });
    let builder = StreamProcessor::builder().chain((chain.1)(&log, chain.2)).config(config);
    let mut processor = builder.build(upstream.boxed()).unwrap();
    let handle = processor.handle();
    let start = tokio::time::Instant::now();
    let (mut out, mut times) = (Vec::new(), Vec::new());
    while let Some(bytes) = processor.next().await {
        out.extend_from_slice(&bytes);
        if times.last() != Some(&start.elapsed()) {
            times.push(start.elapsed());
        }
    }
    drop(processor);
    let log = log.lock().unwrap().clone();
    (out, log, format!("{times:?} {:?}", handle.outcome()))
}

async fn assert_same(name: &str, reads: &[Bytes], pause: Duration, config: &Config) {
    for chain in chains() {
        let with = run(&chain, reads.to_vec(), pause, config.clone()).await;
        let without = run(&chain, reads.to_vec(), pause, config.clone().lane(false)).await;
        assert_eq!(with, without, "{name}, {}", chain.0);
    }
}

#[tokio::test(start_paused = true)]
async fn every_log_is_the_same_where_the_upstream_is_pending_between_events() {
    quiet();
    for own in logs::own().unwrap() {
        let reads: Vec<Bytes> = Cut::Event.apply(own.log()).into_iter().map(|(_, bytes)| bytes).collect();
        if !own.log().is_whole() {
            assert_same(own.name(), &reads, Duration::from_millis(3), &config()).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn silence_and_keep_alives_are_the_same_with_the_lane_and_without() {
    quiet();
    let script = Script::new()
        .text("word ".repeat(20))
        .call("call_1", "ls", r#"{"path":"/"}"#)
        .text_fragments(Fragments::Bytes(5));
    for kind in WireKind::ALL {
        let log = script.to_log(kind);
        let reads: Vec<Bytes> = Cut::Event.apply(&log).into_iter().map(|(_, bytes)| bytes).collect();
        let limits = Limits::default().keep_alive(Some(Duration::from_secs(3))).idle(Duration::from_secs(20));
        let config = config().limits(limits);
        for pause in [1, 2, 5, 19, 21].map(Duration::from_secs) {
            assert_same(&format!("{kind} every {pause:?}"), &reads, pause, &config).await;
        }
    }
}
