//! Borders, line ends and names of what is written.

use crate::sse::{Frame, Framer};
use crate::wire::sink::Sink;

fn torn(bytes: &str) -> Frame {
    let mut framer = Framer::new(usize::MAX);
    framer.push(bytes.as_bytes());
    framer.finish().unwrap()
}

fn behind(mut sink: Sink, frame: &str) -> String {
    let (frame, mut out) = (torn(frame), Vec::new());
    sink.learn(&torn("data: {}\r\n\r\n"), Some(b"{}"));
    sink.raw(&frame, &mut out);
    assert_eq!(sink.is_at_border(), frame.is_terminated());
    sink.event(None, "1", &mut out);
    assert!(sink.is_at_border());
    String::from_utf8(out.concat()).unwrap()
}

#[test]
fn an_event_stands_behind_the_border_that_the_last_frame_lacked() {
    for frame in ["data: {}", "data: {}\n", "data: {}\n\n"] {
        assert_eq!(behind(Sink::default(), frame), "data: {}\n\ndata: 1\n\n");
    }
    for frame in ["data: {}", "data: {}\r", "data: {}\r\n", "data: {}\r\n\r\n"] {
        assert_eq!(behind(Sink::following(), frame), "data: {}\r\n\r\ndata: 1\r\n\r\n");
    }
}

#[test]
fn other_data_takes_the_place_of_the_data_alone() {
    let mut out = Vec::new();
    let mut sink = Sink::default();
    sink.patched(&torn(": a\r\nevent:x\r\ndata:  [1] \r\n"), "2", &mut out);
    sink.patched(&torn("event: x\ndata: [\ndata: 1]\n\n"), "3", &mut out);
    assert_eq!(out.concat(), b": a\r\nevent:x\r\ndata: 2\r\n\nevent: x\ndata: 3\n\n");
}
