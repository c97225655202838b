//! What an upstream sends, and when.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _};
use tokio::time::Instant;

use super::*;
use crate::{ChunkLog, Cut, Script, WireKind};

/// Four events of four bytes, the second and third in one network chunk.
fn log() -> ChunkLog {
    let chunks = [(3, ":a\n\n"), (5, ":b\n\n:c\n\n"), (9, ":d\n\n")];
    ChunkLog::from_chunks("log", chunks.map(|(at, text)| (Duration::from_millis(at), Bytes::from(text))))
}

fn text(faults: &[Fault]) -> String {
    let upstream = faults.iter().fold(Upstream::new(&log()), Upstream::fault);
    String::from_utf8(upstream.bytes()).unwrap().replace("\n\n", "|")
}

/// When each item came, in milliseconds, and how long it was; an error is where it broke.
async fn arrivals(mut upstream: Upstream) -> Vec<(u128, Result<usize, usize>)> {
    let start = Instant::now();
    let mut arrivals = Vec::new();
    while let Some(item) = upstream.next().await {
        let item = item.map(|bytes| bytes.len()).map_err(FaultError::at);
        arrivals.push((start.elapsed().as_millis(), item));
    }
    arrivals
}

#[test]
fn bytes_end_where_they_are_cut() {
    assert_eq!(text(&[Fault::End { at: 0 }]), "");
    assert_eq!(text(&[Fault::End { at: 5 }]), ":a|:");
    assert_eq!(text(&[Fault::Break { at: 12 }]), ":a|:b|:c|");
    assert_eq!(text(&[Fault::Hang { at: 16 }]), ":a|:b|:c|:d|");
}

#[test]
fn events_are_repeated_and_change_places() {
    assert_eq!(text(&[Fault::Repeat { event: 1 }]), ":a|:b|:b|:c|:d|");
    assert_eq!(text(&[Fault::Swap { one: 1, other: 2 }]), ":a|:c|:b|:d|");
    assert_eq!(text(&[Fault::Swap { one: 3, other: 0 }]), ":d|:b|:c|:a|");
    assert_eq!(text(&[Fault::Swap { one: 2, other: 2 }]), ":a|:b|:c|:d|");
}

#[test]
fn garbage_stands_before_its_event_or_at_the_end() {
    let garbage = |event| Fault::Garbage { event, garbage: Garbage::Bytes("!".into()) };
    assert_eq!(text(&[garbage(0)]), "!:a|:b|:c|:d|");
    assert_eq!(text(&[garbage(2)]), ":a|:b|!:c|:d|");
    assert_eq!(text(&[garbage(4)]), ":a|:b|:c|:d|!");
}

#[test]
fn a_fault_counts_in_what_the_faults_before_it_left() {
    let repeat = Fault::Repeat { event: 0 };
    let swap = Fault::Swap { one: 1, other: 2 };
    let end = Fault::End { at: 6 };
    assert_eq!(text(&[repeat.clone(), swap.clone(), end.clone()]), ":a|:b");
    assert_eq!(text(&[end, repeat, swap]), ":a|:b:a|");
}

#[test]
fn garbage_is_a_text_delta_of_the_log_s_api() {
    let log = Script::new().to_log(WireKind::AnthropicMessages);
    let sent = |garbage| {
        let bytes = Upstream::new(&log).fault(&Fault::Garbage { event: 0, garbage }).bytes();
        bytes[..bytes.len() - log.bytes().len()].to_vec()
    };
    assert_eq!(
        sent(Garbage::MalformedJson),
        b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\"}\n\n"
    );
    assert_eq!(
        sent(Garbage::NotUtf8),
        b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"caf\xe9\"}}\n\n"
    );
    assert_eq!(sent(Garbage::Line), b"upstream connect error or disconnect/reset before headers\n\n");
}

#[test]
fn an_oversized_event_is_as_long_as_asked_for() {
    for kind in WireKind::ALL {
        let log = Script::new().text("Hi").to_log(kind);
        let upstream = Upstream::new(&log).fault(&Fault::Oversized { event: 0, bytes: 100_000 });
        let frame = crate::log::frames(&upstream.bytes()).next().unwrap();
        assert_eq!((frame.raw().len(), frame.is_terminated()), (100_000, true), "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn pieces_come_at_the_log_s_times() {
    let all = [(3, Ok(4)), (5, Ok(8)), (9, Ok(4))];
    assert_eq!(arrivals(Upstream::new(&log())).await, all);
    assert_eq!(arrivals(Upstream::new(&log()).untimed()).await, all.map(|(_, item)| (0, item)));
    assert_eq!(arrivals(Upstream::new(&log()).scaled(2.0)).await, all.map(|(at, item)| (2 * at, item)));
    assert_eq!(arrivals(Upstream::cut(&log(), Cut::Whole)).await, [(9, Ok(16))]);
}

#[tokio::test(start_paused = true)]
async fn a_stall_delays_all_that_comes_after_it() {
    let stall = Fault::Stall { at: 6, lasts: Duration::from_secs(60) };
    assert_eq!(
        arrivals(Upstream::new(&log()).fault(&stall)).await,
        [(3, Ok(4)), (5, Ok(2)), (60_005, Ok(6)), (60_009, Ok(4))]
    );
}

#[tokio::test(start_paused = true)]
async fn a_cut_does_not_wait_for_what_it_cuts_off() {
    assert_eq!(arrivals(Upstream::new(&log()).fault(&Fault::End { at: 4 })).await, [(3, Ok(4))]);
    let broken = Upstream::new(&log()).fault(&Fault::Break { at: 4 });
    assert_eq!(arrivals(broken).await, [(3, Ok(4)), (3, Err(4))]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_late_gets_at_once_what_came_meanwhile() {
    let mut upstream = Upstream::new(&log());
    upstream.next().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(arrivals(upstream).await, [(0, Ok(8)), (0, Ok(4))]);
}

#[tokio::test(start_paused = true)]
async fn an_upstream_that_hangs_never_answers_again() {
    let mut upstream = Upstream::new(&log()).fault(&Fault::Hang { at: 4 });
    assert_eq!(upstream.next().await, Some(Ok(Bytes::from(":a\n\n"))));
    assert_eq!(upstream.next().now_or_never(), None);
    assert_eq!(upstream.next().now_or_never(), None);
}

#[tokio::test]
async fn a_watch_tells_what_was_taken_and_when_it_was_dropped() {
    let (mut upstream, mut watch) = watched(Upstream::new(&log()).untimed());
    upstream.next().await;
    assert_eq!((watch.items(), watch.is_ended(), watch.is_dropped()), (1, false, false));
    while upstream.next().await.is_some() {}
    assert_eq!((watch.items(), watch.is_ended(), watch.is_dropped()), (3, true, false));
    drop(upstream);
    watch.dropped().await;
    assert_eq!((watch.items(), watch.is_ended(), watch.is_dropped()), (3, true, true));
}

#[tokio::test(start_paused = true)]
async fn a_client_leaves_when_it_is_told_to() {
    let stream = || Upstream::new(&log()).map(Result::unwrap);
    let received = async |when| {
        let received = leave(stream(), when).await;
        (received.bytes.len(), received.ended)
    };
    assert_eq!(received(Leave::Items(0)).await, (0, false));
    assert_eq!(received(Leave::Items(2)).await, (12, false));
    assert_eq!(received(Leave::Items(3)).await, (16, false));
    assert_eq!(received(Leave::Items(4)).await, (16, true));
    assert_eq!(received(Leave::Bytes(4)).await, (4, false));
    assert_eq!(received(Leave::Bytes(5)).await, (12, false));
    assert_eq!(received(Leave::Bytes(17)).await, (16, true));
    assert_eq!(received(Leave::After(Duration::from_millis(4))).await, (4, false));
    assert_eq!(received(Leave::After(Duration::from_millis(10))).await, (16, true));
    // Each item is waited for once: two polls for each, and one for the end.
    assert_eq!(received(Leave::Polls(1)).await, (0, false));
    assert_eq!(received(Leave::Polls(2)).await, (4, false));
    assert_eq!(received(Leave::Polls(6)).await, (16, false));
    assert_eq!(received(Leave::Polls(7)).await, (16, true));
}

#[test]
fn all_faults_differ_in_name_and_are_the_same_each_time() {
    for kind in WireKind::ALL {
        let log = Script::new().text("Hi").call("1", "f", "{}").to_log(kind);
        let all = Fault::all(&log);
        let names: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), all.len(), "{kind}");
        for fault in &all {
            let bytes = || Upstream::new(&log).fault(fault).bytes();
            assert_eq!(bytes(), bytes(), "{fault}");
        }
    }
}

#[test]
fn a_whole_response_is_one_event() {
    let log = ChunkLog::from_whole("whole", "{\"choices\":\n\n[]}");
    let upstream = Upstream::new(&log).fault(&Fault::Repeat { event: 0 });
    assert_eq!(upstream.bytes(), b"{\"choices\":\n\n[]}{\"choices\":\n\n[]}");
    assert!(Fault::all(&log).contains(&Fault::Break { at: 8 }));
    assert_eq!(Fault::all(&ChunkLog::from_chunks("empty", [])), []);
}

#[test]
#[should_panic = "expected a fault within the stream's 16 bytes, found one at 17"]
fn a_byte_that_is_not_there_is_no_place_for_a_fault() {
    text(&[Fault::End { at: 17 }]);
}

#[test]
#[should_panic = "expected a fault at one of 4 events, found one at 4"]
fn an_event_that_is_not_there_is_no_place_for_a_fault() {
    text(&[Fault::Repeat { event: 4 }]);
}
