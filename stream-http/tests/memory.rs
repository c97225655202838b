//! What an answer costs in memory while its upstream is silent. One test: the counts are of the process.

#![allow(clippy::unwrap_used)]

use std::alloc::System;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures::FutureExt as _;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::Full;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stream_core::{Verdict, each_call};
use stream_http::{Facts, Plan, PolicyLayer, RequestBody};
use stream_testkit::{Cut, Fragments, Script, WireKind};
use tower::{ServiceBuilder, ServiceExt as _, service_fn};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Gives its events, and then nothing more.
#[derive(Clone)]
struct Events(std::slice::Iter<'static, Bytes>);

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.next().map_or(Poll::Pending, |event| Poll::Ready(Some(Ok(Frame::data(event.clone())))))
    }
}

/// The first events of a text, each a static slice: they are no allocations of the answer.
fn events(kind: WireKind) -> Events {
    let script = Script::new().text("word ".repeat(100)).text_fragments(Fragments::Bytes(5));
    let events = Cut::Event.apply(&script.to_log(kind)).into_iter();
    let events = events.take(10).map(|(_, bytes)| Bytes::from_static(Vec::leak(bytes.to_vec())));
    Events(Vec::leak(events.collect()).iter())
}

/// How many bytes an answer keeps of which ten events have come and left.
fn kept(layer: &PolicyLayer, kind: WireKind) -> usize {
    let path = match kind {
        WireKind::OpenAiChat => "/v1/chat/completions",
        WireKind::OpenAiResponses => "/v1/responses",
        WireKind::AnthropicMessages => "/v1/messages",
        WireKind::Gemini => "/v1beta/models/g:streamGenerateContent?alt=sse",
    };
    let events = events(kind);
    let region = Region::new(GLOBAL);
    let upstream = service_fn(move |_: Request<RequestBody<Full<Bytes>>>| {
        let response = Response::builder().header("content-type", "text/event-stream").body(events.clone());
        std::future::ready(Ok::<_, Infallible>(response.unwrap()))
    });
    let service = ServiceBuilder::new().layer(layer.clone()).service(upstream);
    let request = Request::post(path).body(Full::from("{\"stream\":true}")).unwrap();
    let response = service.oneshot(request).now_or_never().unwrap().unwrap();
    let (parts, mut body) = response.into_parts();
    drop(parts);
    let mut cx = Context::from_waker(Waker::noop());
    let mut count = 0;
    while Pin::new(&mut body).poll_frame(&mut cx).is_ready() {
        count += 1;
    }
    assert_eq!(count, 10, "{kind:?}");
    let change = region.change();
    change.bytes_allocated - change.bytes_deallocated
}

#[test]
fn an_answer_that_waits_is_small() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _guard = runtime.enter();
    let layer = PolicyLayer::new(|_: &Facts| Plan::new().policy(each_call(|_, _| Verdict::Release)));
    // What is made once per process and per thread is not a cost of the answer.
    for kind in WireKind::ALL {
        kept(&layer, kind);
    }
    let kept = WireKind::ALL.map(|kind| kept(&layer, kind));
    assert!(kept.iter().zip(&MOST).all(|(kept, most)| kept <= most), "{kept:?}");
}

/// The most bytes that an answer with one policy keeps while it waits, by format.
const MOST: [usize; 4] = [4_640, 5_900, 4_500, 4_000];
