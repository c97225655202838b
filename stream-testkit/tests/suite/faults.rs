//! What becomes of a stream whose upstream is at fault, or whose client goes away.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::laws::policies::AllowAll;
use futures::StreamExt as _;
use stream_core::{
    Chunk, Config, Context, End, ErrorKind, Limits, Passthrough, Policy, PolicyError, StreamProcessor,
    StreamState, async_trait, wire,
};
use stream_testkit::conformance::{Ended, check};
use stream_testkit::faults::{Fault, Garbage, Leave, Upstream, Watch, leave, watched};
use stream_testkit::{ChunkLog, Cut, Script, WireKind};
use tokio::time::Instant;

/// How a stream with a fault went.
#[derive(Debug)]
struct Ran {
    error: Option<ErrorKind>,
    ended: Ended,
    violations: String,
    sent: Vec<u8>,
    out: Vec<u8>,
    took: Duration,
    watch: Watch,
}

impl Ran {
    /// Closed for this error, and told the client so in its format's way; the upstream is gone.
    #[track_caller]
    fn assert_closed_for(&self, error: Option<ErrorKind>, case: &str) {
        assert_eq!((self.error, self.ended), (error, Ended::Error), "{case}");
        assert_eq!(self.violations, "", "{case}");
        assert!(self.watch.is_dropped(), "{case}");
    }

    /// Nothing was wrong that a client without policies would not have had to live with.
    #[track_caller]
    fn assert_passed(&self, ended: Ended, case: &str) {
        assert_eq!((self.error, self.ended), (None, ended), "{case}");
        assert_eq!(self.out, self.sent, "{case}");
        assert!(self.watch.is_dropped(), "{case}");
    }
}

async fn run(kind: WireKind, fault: &Fault) -> Ran {
    run_with(AllowAll, kind, fault).await
}

async fn run_with(policy: impl Policy + 'static, kind: WireKind, fault: &Fault) -> Ran {
    let upstream = Upstream::new(&log(kind)).fault(fault);
    let sent = upstream.bytes();
    let (upstream, watch) = watched(upstream);
    let processor = StreamProcessor::builder()
        .policy(policy)
        .config(Config::default().format(wire::named(kind.name()).unwrap()))
        .build(upstream)
        .unwrap();
    let handle = processor.handle();
    let start = Instant::now();
    let out = processor.collect::<Vec<_>>().await.concat();
    let report = check(kind, &out);
    Ran {
        error: handle.outcome().unwrap().error.map(|error| error.kind()),
        ended: report.view().ended,
        violations: report.to_string(),
        sent,
        out,
        took: start.elapsed(),
        watch,
    }
}

fn log(kind: WireKind) -> ChunkLog {
    Script::new()
        .reasoning("Hm.")
        .text("Let me look.")
        .call("call_1", "read", r#"{"path":"a"}"#)
        .usage(3, 5)
        .to_log(kind)
}

/// Where the events of a log are.
fn events(log: &ChunkLog) -> Vec<Range<usize>> {
    let mut end = 0;
    let pieces = Cut::Event.apply(log);
    pieces.iter().map(|(_, event)| (end, end += event.len()).0..end).collect()
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_breaks_between_events_or_in_their_data_ends_with_the_error_of_the_format() {
    // Rule 20: exactly one ending, and an event border is restored before it.
    for kind in WireKind::ALL {
        for event in events(&log(kind)) {
            for at in [event.start, event.end - 5] {
                let ran = run(kind, &Fault::Break { at }).await;
                if at == event.start && is_finished(kind, &log(kind).bytes()[..at]) {
                    ran.assert_passed(Ended::Clean, &format!("{kind} at {at}"));
                } else {
                    ran.assert_closed_for(Some(ErrorKind::Transport), &format!("{kind} at {at}"));
                }
            }
        }
    }
}

/// Whether the answer is whole although no terminal marker has come: in these two formats the finish reason is enough.
fn is_finished(kind: WireKind, sent: &[u8]) -> bool {
    let reason: &[u8] = match kind {
        WireKind::OpenAiChat => br#""finish_reason":"tool_calls""#,
        WireKind::Gemini => br#""finishReason":"STOP""#,
        _ => return false,
    };
    sent.windows(reason.len()).any(|window| window == reason)
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_breaks_after_the_terminal_marker_changes_nothing_for_the_client() {
    for kind in [WireKind::OpenAiChat, WireKind::OpenAiResponses, WireKind::AnthropicMessages] {
        let ran = run(kind, &Fault::Break { at: log(kind).bytes().len() }).await;
        assert_eq!((ran.error, ran.ended), (None, Ended::Clean), "{kind}");
        assert_eq!(ran.out, ran.sent, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_between_two_events_is_the_upstream_s_own_and_passes() {
    // Nothing was lost here (rule 4): what came has left.
    for kind in [WireKind::OpenAiChat, WireKind::AnthropicMessages, WireKind::Gemini] {
        let events = events(&log(kind));
        for event in &events[..events.len() / 2] {
            let ran = run(kind, &Fault::End { at: event.end }).await;
            ran.assert_passed(Ended::Open, &format!("{kind} at {}", event.end));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_between_two_events_of_a_responses_stream_passes_too() {
    let kind = WireKind::OpenAiResponses;
    for event in events(&log(kind)) {
        let ran = run(kind, &Fault::End { at: event.end }).await;
        assert_eq!((ran.error, ran.out == ran.sent), (None, true), "at {}", event.end);
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_inside_of_an_event_line_ends_with_the_error_of_the_format() {
    // Rule 9, before the data has come: clients of these two formats take the line for the next event's.
    for kind in [WireKind::OpenAiResponses, WireKind::AnthropicMessages] {
        for event in events(&log(kind)) {
            let at = event.start + "event: ".len();
            run(kind, &Fault::End { at }).await.assert_closed_for(None, &format!("{kind} at {at}"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_inside_of_an_event_s_data_ends_with_the_error_of_the_format() {
    // Rule 9: a tail that cannot be read is dropped, and the end is a cut.
    for kind in WireKind::ALL {
        for event in events(&log(kind)) {
            let at = event.end - 5;
            run(kind, &Fault::End { at }).await.assert_closed_for(None, &format!("{kind} at {at}"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_upstream_that_hangs_is_given_up_after_the_limit_of_silence() {
    // Rule 26.
    for kind in WireKind::ALL {
        let third = events(&log(kind))[2].clone();
        for at in [0, third.start, third.end - 5] {
            let ran = run(kind, &Fault::Hang { at }).await;
            ran.assert_closed_for(Some(ErrorKind::Idle), &format!("{kind} at {at}"));
            assert_eq!(ran.took, Limits::default().idle, "{kind} at {at}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stall_below_the_limit_of_silence_is_only_waited_for() {
    for kind in [WireKind::OpenAiChat, WireKind::AnthropicMessages, WireKind::Gemini] {
        let at = events(&log(kind))[2].end - 5;
        let lasts = Limits::default().idle / 2;
        let ran = run(kind, &Fault::Stall { at, lasts }).await;
        ran.assert_passed(Ended::Clean, kind.name());
        assert_eq!(ran.took, lasts, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_cannot_be_read_closes_the_stream_and_the_rest_is_not_asked_for() {
    for kind in WireKind::ALL {
        for garbage in [Garbage::MalformedJson, Garbage::NotUtf8] {
            let case = format!("{kind}: {garbage}");
            for event in [0, 2] {
                let ran = run(kind, &Fault::Garbage { event, garbage: garbage.clone() }).await;
                ran.assert_closed_for(Some(ErrorKind::Malformed), &case);
                assert_eq!((ran.watch.items(), ran.watch.is_ended()), (event + 1, false), "{case}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_no_field_is_a_step_and_passes_where_nobody_looks() {
    // Rule 9: it is opaque to a policy. Rule 28: what nobody looks at leaves as it came.
    for kind in WireKind::ALL {
        let fault = Fault::Garbage { event: 1, garbage: Garbage::Line };
        let ran = run_with(Passthrough, kind, &fault).await;
        ran.assert_passed(Ended::Clean, kind.name());
    }
}

#[tokio::test(start_paused = true)]
async fn an_oversized_frame_closes_the_stream_as_soon_as_it_is_too_long() {
    // Rule 26. The frame comes in pieces of 64 KiB: the one that goes over the limit is the last that is asked for.
    for kind in WireKind::ALL {
        let over = Limits::default().frame + 1;
        let ran = run(kind, &Fault::Oversized { event: 1, bytes: 2 * over }).await;
        ran.assert_closed_for(Some(ErrorKind::FrameTooLarge), kind.name());
        let opening_and_head = 2;
        assert_eq!(ran.watch.items(), opening_and_head + over.div_ceil(64 << 10) - 1, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_delta_that_comes_after_its_block_s_end_closes_the_stream() {
    // Rule 5. The seventh event is the text delta of block 1, the eighth its stop.
    let ran = run(WireKind::AnthropicMessages, &Fault::Swap { one: 6, other: 7 }).await;
    assert_eq!((ran.error, ran.ended), (Some(ErrorKind::LateDelta), Ended::Error));
    assert!(ran.watch.is_dropped());
}

#[tokio::test(start_paused = true)]
async fn an_event_that_comes_twice_is_told_twice_where_the_format_cannot_know() {
    // Chat has no numbers that tell a repeated delta from a second one.
    let ran = run(WireKind::OpenAiChat, &Fault::Repeat { event: 2 }).await;
    ran.assert_passed(Ended::Clean, "a text delta");
    let view = check(WireKind::OpenAiChat, &ran.out).view().clone();
    assert_eq!(view.choices[0].content, "Let me look.Let me look.");
}

#[tokio::test(start_paused = true)]
async fn every_fault_worth_trying_leads_to_an_end_and_drops_the_upstream() {
    for kind in WireKind::ALL {
        for fault in Fault::all(&log(kind)) {
            let ran = run(kind, &fault).await;
            assert!(ran.watch.is_dropped(), "{kind}: {fault}");
        }
    }
}

/// Sends everything, and notes how it was told of the end.
#[derive(Debug, Clone, Default)]
struct Notes(Arc<Mutex<Vec<&'static str>>>);

#[async_trait]
impl Policy for Notes {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        // An await in the hook itself: a client may go here too.
        tokio::task::yield_now().await;
        ctx.send(chunk);
        Ok(())
    }

    async fn on_end(
        &mut self,
        _end: End,
        _state: &StreamState,
        _ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        self.0.lock().unwrap().push("end");
        Ok(())
    }

    fn on_abort(&mut self) {
        self.0.lock().unwrap().push("abort");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_goes_away_takes_the_upstream_with_it() {
    for kind in WireKind::ALL {
        let log = log(kind);
        let third = events(&log)[2].clone();
        for when in [Leave::Items(1), Leave::Bytes(third.end), Leave::After(Duration::from_secs(1))] {
            let notes = Notes::default();
            let (upstream, watch) = watched(Upstream::new(&log).fault(&Fault::Hang { at: third.end }));
            let processor = StreamProcessor::new(upstream, notes.clone()).unwrap();
            let handle = processor.handle();
            let received = leave(processor, when).await;
            assert!(!received.ended && log.bytes().starts_with(&received.bytes), "{kind} {when:?}");
            assert_eq!((watch.is_ended(), watch.is_dropped()), (false, true), "{kind} {when:?}");
            assert_eq!(*notes.0.lock().unwrap(), ["abort"], "{kind} {when:?}");
            assert_eq!(handle.outcome(), None, "{kind} {when:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whichever_await_a_client_goes_at_it_has_a_prefix_and_the_policy_is_told_once() {
    // The law "drop": nothing is committed half-way.
    for kind in WireKind::ALL {
        let log = log(kind);
        let mut before = Vec::new();
        for polls in 0.. {
            let notes = Notes::default();
            let (upstream, watch) = watched(Upstream::cut(&log, "7".parse().unwrap()));
            let received =
                leave(StreamProcessor::new(upstream, notes.clone()).unwrap(), Leave::Polls(polls)).await;
            let told = notes.0.lock().unwrap().clone();
            assert!(
                received.bytes.starts_with(&before) && log.bytes().starts_with(&received.bytes),
                "{kind}"
            );
            assert_eq!((told.len(), watch.is_dropped()), (1, true), "{kind} {polls}");
            if received.ended {
                assert_eq!((&received.bytes[..], told[0]), (&log.bytes()[..], "end"), "{kind}");
                break;
            }
            before = received.bytes;
        }
    }
}
