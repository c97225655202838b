//! The framer against two maintained SSE parsers. They keep no raw bytes, no comments and no unterminated event, so the
//! events are what is compared: name and data of every frame that has data.
//!
//! Where one of the three goes its own way, a test named `exception_…` says so and shows it.

use std::convert::Infallible;

use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use proptest::prelude::*;
use sse_core::{SseDecoder, SseEvent};
use sse_stream::SseByteStream;
use stream_core::sse::Framer;

/// Name, if it is not the default one, and data.
type Event = (Option<String>, String);

fn event(name: &str, data: &str) -> Event {
    ((!name.is_empty()).then(|| name.to_owned()), data.to_owned())
}

fn ours(pieces: &[&[u8]]) -> Vec<Event> {
    let mut framer = Framer::new(1 << 20);
    let mut events = Vec::new();
    for piece in pieces {
        framer.push(piece);
        while let Some(frame) = framer.next_frame().expect("below the limit") {
            if let Some(data) = frame.data_bytes() {
                events.push(event(frame.event().unwrap_or(""), &String::from_utf8_lossy(data)));
            }
        }
    }
    // A border that waits for the LF after its CR comes with the end.
    let last = framer.finish().filter(stream_core::sse::Frame::is_terminated);
    if let Some((data, last)) = last.as_ref().and_then(|last| Some((last.data_bytes()?, last))) {
        events.push(event(last.event().unwrap_or(""), &String::from_utf8_lossy(data)));
    }
    events
}

fn by_sse_core(pieces: &[&[u8]]) -> Vec<Event> {
    let mut decoder = SseDecoder::new();
    let mut events = Vec::new();
    for piece in pieces {
        let mut piece = *piece;
        while let Some(next) = decoder.next(&mut piece) {
            if let SseEvent::Message(message) = next.expect("below the limit") {
                let name = if message.event == "message" { "" } else { &message.event };
                events.push(event(name, &message.data));
            }
        }
    }
    events
}

fn by_sse_stream(pieces: &[&[u8]]) -> Result<Vec<Event>, sse_stream::Error> {
    let pieces: Vec<_> =
        pieces.iter().map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece))).collect();
    let mut stream = SseByteStream::new(futures::stream::iter(pieces));
    let mut events = Vec::new();
    while let Some(next) = stream.next().now_or_never().expect("every piece is there") {
        let block = next?;
        if let Some(data) = block.data {
            events.push(event(block.event.as_deref().unwrap_or(""), &data));
        }
    }
    Ok(events)
}

/// Events whose data is empty are left out: see `exception_ours_has_no_event_for_empty_data`.
fn with_data(mut events: Vec<Event>) -> Vec<Event> {
    events.retain(|(_, data)| !data.is_empty());
    events
}

fn cut(input: &[u8], size: usize) -> Vec<&[u8]> {
    input.chunks(size).collect()
}

fn streams() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        4 => Just("\n"),
        2 => Just("\r\n"),
        2 => Just("\r"),
        4 => Just("data: "),
        1 => Just("data:"),
        1 => Just("data"),
        1 => Just(" data: "),
        1 => Just("event: ping"),
        1 => Just("event:"),
        1 => Just("event"),
        1 => Just("id: 1"),
        1 => Just("retry: 10"),
        1 => Just("retry"),
        1 => Just("error: no"),
        1 => Just(": comment"),
        1 => Just(" "),
        1 => Just("\u{feff}"),
        3 => Just("{\"a\":1}"),
        1 => Just("größe 😀"),
    ];
    (any::<bool>(), proptest::collection::vec(token, 0..40)).prop_map(|(bom, tokens)| {
        let start = if bom { "\u{feff}" } else { "" };
        [start, &tokens.concat()].concat().into_bytes()
    })
}

/// Streams of which some bytes are missing or wrong.
fn torn_streams() -> impl Strategy<Value = Vec<u8>> {
    let tears = proptest::collection::vec((any::<proptest::sample::Index>(), any::<Option<u8>>()), 0..8);
    (streams(), tears).prop_map(|(mut stream, tears)| {
        for (place, byte) in tears {
            if stream.is_empty() {
                break;
            }
            let place = place.index(stream.len());
            match byte {
                Some(byte) => stream[place] = byte | 0x80,
                None => drop(stream.remove(place)),
            }
        }
        stream
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn three_parsers_read_the_same_events(input in streams(), size in 1_usize..12) {
        let pieces = cut(&input, size);
        let ours = ours(&pieces);
        prop_assert_eq!(&ours, &with_data(by_sse_core(&pieces)), "sse-core");
        prop_assert_eq!(&ours, &with_data(by_sse_stream(&pieces).expect("UTF-8")), "sse-stream");
    }

    #[test]
    fn two_parsers_read_the_same_events_from_bytes_that_are_not_utf8(input in torn_streams(), size in 1_usize..12) {
        let pieces = cut(&input, size);
        let mut theirs = with_data(by_sse_core(&pieces));
        // See `exception_ours_has_no_name_that_is_not_utf8`.
        for (name, _) in &mut theirs {
            name.take_if(|name| name.contains('\u{fffd}'));
        }
        prop_assert_eq!(ours(&pieces), theirs);
    }
}

#[test]
fn three_parsers_read_the_events_of_a_chat_stream() {
    let input = "\u{feff}: hello\r\n\r\ndata: {\"choices\":[]}\n\nevent: error\ndata: {}\n\ndata: [DONE]\n\n";
    let expected = vec![event("", "{\"choices\":[]}"), event("error", "{}"), event("", "[DONE]")];
    for size in 1..input.len() {
        let pieces = cut(input.as_bytes(), size);
        assert_eq!(ours(&pieces), expected);
        assert_eq!(by_sse_core(&pieces), expected);
        assert_eq!(by_sse_stream(&pieces).unwrap(), expected);
    }
}

/// The standard dispatches an event with empty data for `data:` alone. To every wire format that is nothing, so a
/// frame says `None`; its raw bytes still leave.
#[test]
fn exception_ours_has_no_event_for_empty_data() {
    let pieces = [&b"data:\n\ndata\n\n"[..]];
    assert_eq!(ours(&pieces), []);
    assert_eq!(by_sse_core(&pieces), [event("", ""), event("", "")]);
    assert_eq!(by_sse_stream(&pieces).unwrap(), [event("", ""), event("", "")]);
}

/// The standard replaces what is not UTF-8. sse-core does too; sse-stream fails and ends.
#[test]
fn exception_sse_stream_refuses_bytes_that_are_not_utf8() {
    let pieces = [&b"data: a\xffb\n\n"[..]];
    assert_eq!(ours(&pieces), [event("", "a\u{fffd}b")]);
    assert_eq!(by_sse_core(&pieces), [event("", "a\u{fffd}b")]);
    assert_eq!(
        by_sse_stream(&pieces).unwrap_err().to_string(),
        "utf8 parse error: invalid utf-8 sequence of 1 bytes from index 1"
    );
}

/// The standard replaces what is not UTF-8 in an event's name. A name that no format can know is no name here.
#[test]
fn exception_ours_has_no_name_that_is_not_utf8() {
    let pieces = [&b"event: \xff\ndata: a\n\n"[..]];
    assert_eq!(ours(&pieces), [event("", "a")]);
    assert_eq!(by_sse_core(&pieces), [event("\u{fffd}", "a")]);
}
