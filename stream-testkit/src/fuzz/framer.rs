//! Frames.

use std::convert::Infallible;

use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, stream};
use sse_core::{SseDecoder, SseEvent};
use sse_stream::SseByteStream;
use stream_core::sse::{Frame, Framer};

use super::plan::split;

/// Frames do not depend on the cut, their raw spans are the input, and two other parsers read the same events.
///
/// # Panics
///
/// When one of these is not so.
pub fn framer(data: &[u8]) {
    let (plan, body) = split(data);
    let frames = framed([body]);
    let raw: Vec<u8> = frames.iter().flat_map(|frame| frame.raw().iter().copied()).collect();
    assert_eq!(raw, body, "raw spans are the input");
    assert_eq!(framed(plan.cut(body)), frames, "cut as planned");
    assert_eq!(framed(body.chunks(1)), frames, "cut after each byte");
    let events: Vec<Event> = frames.iter().filter_map(event).collect();
    assert_eq!(events, by_sse_core(body), "sse-core");
    if std::str::from_utf8(body).is_ok() {
        assert_eq!(events, by_sse_stream(body), "sse-stream");
    }
}

fn framed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Frame> {
    let mut framer = Framer::new(usize::MAX);
    let mut frames = Vec::new();
    for piece in pieces {
        framer.push(piece);
        while let Some(frame) = framer.next_frame().expect("there is no limit") {
            frames.push(frame);
        }
    }
    frames.extend(framer.finish());
    frames
}

/// Name and data. An event without data, and a name that is not UTF-8, are nothing to a wire format.
type Event = (String, String);

fn event(frame: &Frame) -> Option<Event> {
    let data = frame.data_bytes().filter(|_| frame.is_terminated())?;
    known(frame.event().unwrap_or_default(), &String::from_utf8_lossy(data))
}

fn known(name: &str, data: &str) -> Option<Event> {
    let name = if name.contains('\u{fffd}') { "" } else { name };
    (!data.is_empty()).then(|| (name.to_owned(), data.to_owned()))
}

fn by_sse_core(mut body: &[u8]) -> Vec<Event> {
    let mut decoder = SseDecoder::new();
    let mut events = Vec::new();
    while let Some(next) = decoder.next(&mut body) {
        if let SseEvent::Message(message) = next.expect("below the limit") {
            let name = if message.event == "message" { "" } else { &message.event };
            events.extend(known(name, &message.data));
        }
    }
    events
}

fn by_sse_stream(body: &[u8]) -> Vec<Event> {
    let body = stream::iter([Ok::<_, Infallible>(Bytes::copy_from_slice(body))]);
    let blocks = SseByteStream::new(body).collect::<Vec<_>>().now_or_never().expect("all of it is there");
    let blocks = blocks.into_iter().map(|block| block.expect("UTF-8"));
    blocks
        .filter_map(|block| known(block.event.as_deref().unwrap_or_default(), block.data.as_deref()?))
        .collect()
}
