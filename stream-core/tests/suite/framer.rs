//! The framer keeps every byte, cuts in the same places however the input was cut, and reads what the standard reads.

use std::time::Duration;

use bytes::Bytes;
use cpu_time::ThreadTime;
use proptest::prelude::*;
use stream_core::sse::{Frame, Framer, Framing};

const LIMIT: usize = 64 << 20;

/// Pushes the pieces one by one and takes every frame as soon as it is there.
fn frames<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Frame> {
    let mut framer = Framer::new(LIMIT);
    let mut frames = Vec::new();
    for piece in pieces {
        framer.push(piece);
        while let Some(frame) = framer.next_frame().expect("far below the limit") {
            frames.push(frame);
        }
    }
    frames.extend(framer.finish());
    assert_eq!(framer.pending(), 0);
    assert_eq!(framer.finish(), None, "what was left is given once");
    frames
}

fn whole(input: &[u8]) -> Vec<Frame> {
    frames([input])
}

/// The one frame of an input that holds one.
fn single(input: &[u8]) -> Frame {
    let mut frames = whole(input);
    assert_eq!(frames.len(), 1, "{frames:?}");
    frames.remove(0)
}

fn data(frame: &Frame) -> Option<&str> {
    frame.data_bytes().map(|data| std::str::from_utf8(data).expect("UTF-8"))
}

fn raws(frames: &[Frame]) -> Vec<&[u8]> {
    frames.iter().map(|frame| &frame.raw()[..]).collect()
}

/// Cuts at places drawn from a seed, empty pieces included.
fn random_cuts(input: &[u8], mut seed: u64) -> Vec<&[u8]> {
    let mut rest = input;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let size = usize::try_from(seed >> 60).expect("four bits").min(rest.len());
        let (piece, tail) = rest.split_at(size);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

/// Input made of what matters to a framer, with some noise.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        4 => Just(&b"\n"[..]),
        2 => Just(&b"\r\n"[..]),
        2 => Just(&b"\r"[..]),
        3 => Just(&b"data: "[..]),
        1 => Just(&b"data:"[..]),
        1 => Just(&b"data"[..]),
        1 => Just(&b" data: "[..]),
        1 => Just(&b"event: ping"[..]),
        1 => Just(&b"event"[..]),
        1 => Just(&b"id: 1"[..]),
        1 => Just(&b"error: no"[..]),
        1 => Just(&b":"[..]),
        1 => Just(&b" "[..]),
        1 => Just(&b"\xef\xbb\xbf"[..]),
        1 => Just(&b"\xff\xfe\0"[..]),
        2 => Just(&b"{\"a\":1}"[..]),
    ];
    proptest::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn raw_spans_are_the_input_and_frames_do_not_depend_on_the_cut(input in streams(), seed: u64) {
        let expected = whole(&input);
        prop_assert_eq!(raws(&expected).concat(), &input[..]);
        prop_assert_eq!(&frames(input.chunks(1)), &expected);
        prop_assert_eq!(&frames(random_cuts(&input, seed)), &expected);
    }

    #[test]
    fn any_bytes_come_out_as_they_went_in(input: Vec<u8>, seed: u64) {
        let frames = frames(random_cuts(&input, seed));
        prop_assert_eq!(raws(&frames).concat(), &input[..]);
        prop_assert!(frames.iter().all(|frame| !frame.raw().is_empty()));
        prop_assert!(frames.iter().rev().skip(1).all(Frame::is_terminated));
    }

    #[test]
    fn the_limit_is_met_at_the_same_frame_whatever_the_cut(input in streams(), seed: u64, limit in 1_usize..40) {
        let run = |pieces: Vec<&[u8]>| {
            let mut framer = Framer::new(limit);
            let mut frames = Vec::new();
            for piece in pieces {
                framer.push(piece);
                loop {
                    match framer.next_frame() {
                        Ok(Some(frame)) => frames.push(frame),
                        Ok(None) => break,
                        Err(error) => return (frames, Some(error.limit)),
                    }
                }
            }
            frames.extend(framer.finish());
            (frames, None)
        };
        let expected = run(vec![&input]);
        prop_assert!(expected.0.iter().all(|frame| frame.raw().len() <= limit));
        prop_assert_eq!(&run(input.chunks(1).collect()), &expected);
        prop_assert_eq!(&run(random_cuts(&input, seed)), &expected);
    }
}

#[test]
fn an_empty_input_has_no_frame() {
    assert_eq!(whole(b""), []);
}

#[test]
fn each_blank_line_ends_a_frame() {
    let frames = whole(b"data: a\n\n\n\r\ndata: b\n\n");
    assert_eq!(raws(&frames), [&b"data: a\n\n"[..], b"\n", b"\r\n", b"data: b\n\n"]);
    assert_eq!(frames.iter().map(data).collect::<Vec<_>>(), [Some("a"), None, None, Some("b")]);
    assert!(frames.iter().all(|frame| frame.is_terminated() && !frame.is_stray()));
}

#[test]
fn a_comment_is_a_frame_without_data() {
    let frame = single(b": OPENROUTER PROCESSING\n\n");
    assert_eq!((data(&frame), frame.event(), frame.lenient_data()), (None, None, None));
    assert!(!frame.is_stray());
}

#[test]
fn a_comment_beside_data_stays_in_the_frame_of_the_data() {
    let frame = single(b":\ndata: a\n: more\n\n");
    assert_eq!(data(&frame), Some("a"));
    assert_eq!(frame.raw(), ":\ndata: a\n: more\n\n");
}

#[test]
fn crlf_and_lone_cr_end_lines_as_lf_does() {
    for input in ["event: e\ndata: a\ndata: b\n\n", "event: e\r\ndata: a\r\ndata: b\r\n\r\n"] {
        let frame = single(input.as_bytes());
        assert_eq!((frame.event(), data(&frame)), (Some("e"), Some("a\nb")));
    }
    // A frame that ends with a lone CR is whole once the next byte, or the end, tells that no LF follows.
    let frames = whole(b"event: e\rdata: a\rdata: b\r\rdata: c\r\r");
    assert_eq!(raws(&frames), [&b"event: e\rdata: a\rdata: b\r\r"[..], b"data: c\r\r"]);
    assert_eq!(frames.iter().map(data).collect::<Vec<_>>(), [Some("a\nb"), Some("c")]);
    assert!(frames.iter().all(Frame::is_terminated));
}

#[test]
fn cr_at_the_end_of_the_buffer_waits_for_its_lf() {
    let mut framer = Framer::new(LIMIT);
    framer.push(b"data: a\r\n\r");
    assert_eq!(framer.next_frame(), Ok(None));
    assert_eq!(framer.pending(), 10);
    framer.push(b"\ndata: b");
    assert_eq!(framer.next_frame().unwrap().unwrap().raw(), "data: a\r\n\r\n");
    assert_eq!(framer.next_frame(), Ok(None));
    assert_eq!(framer.pending(), 7);
}

#[test]
fn cr_at_the_end_of_the_bytes_is_a_border() {
    let frame = single(b"data: a\n\r");
    assert_eq!((data(&frame), frame.is_terminated()), (Some("a"), true));
    let frame = single(b"data: a\r");
    assert_eq!((data(&frame), frame.is_terminated()), (Some("a"), false));
}

#[test]
fn a_bom_is_skipped_at_the_start_of_the_stream_only() {
    let frames = whole(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n");
    assert_eq!(frames[0].raw(), &b"\xef\xbb\xbfdata: a\n\n"[..]);
    assert_eq!((data(&frames[0]), frames[0].is_stray()), (Some("a"), false));
    assert_eq!((data(&frames[1]), frames[1].is_stray()), (None, true));
}

#[test]
fn a_bom_alone_on_its_line_leaves_the_line_blank() {
    let frames = whole(b"\xef\xbb\xbf\ndata: a\n\n");
    assert_eq!(raws(&frames), [&b"\xef\xbb\xbf\n"[..], b"data: a\n\n"]);
}

#[test]
fn a_bom_and_nothing_else_has_no_border() {
    assert!(!single(b"\xef\xbb\xbf").is_terminated());
}

#[test]
fn an_unterminated_last_event_is_given_at_the_end() {
    for input in ["data: a", "data: a\n", "data: a\r\n"] {
        let frame = single(input.as_bytes());
        assert_eq!(
            (data(&frame), frame.is_terminated(), &frame.raw()[..]),
            (Some("a"), false, input.as_bytes())
        );
    }
}

#[test]
fn finish_gives_whole_frames_first_when_they_were_not_taken() {
    let mut framer = Framer::new(LIMIT);
    framer.push(b"data: a\n\ndata: b\n\ndata: c");
    let frames: Vec<_> = std::iter::from_fn(|| framer.finish()).collect();
    assert_eq!(raws(&frames), [&b"data: a\n\n"[..], b"data: b\n\n", b"data: c"]);
}

#[test]
fn bytes_that_are_not_utf8_are_kept() {
    let frame = single(b"event: \xff\ndata: \xf0\x9f\n\n");
    assert_eq!(frame.data_bytes(), Some(&b"\xf0\x9f"[..]));
    assert_eq!(frame.event(), None);
    assert_eq!(frame.raw(), &b"event: \xff\ndata: \xf0\x9f\n\n"[..]);
}

#[test]
fn data_lines_are_joined_by_lf_and_lose_one_space() {
    assert_eq!(data(&single(b"data:a\ndata:  b\ndata\ndata:\ndata: c\n\n")), Some("a\n b\n\n\nc"));
    assert_eq!(data(&single(b"data\ndata\n\n")), Some("\n"));
}

#[test]
fn data_without_any_byte_is_no_data() {
    for input in ["data\n\n", "data:\n\n", "data: \n\n"] {
        let frame = single(input.as_bytes());
        assert_eq!((data(&frame), frame.is_stray()), (None, false), "{input:?}");
    }
}

#[test]
fn the_last_event_field_wins_and_an_empty_one_resets() {
    assert_eq!(single(b"event: a\nevent:b\ndata: x\n\n").event(), Some("b"));
    assert_eq!(single(b"event: a\nevent\ndata: x\n\n").event(), None);
}

#[test]
fn id_and_retry_are_fields_and_anything_else_is_stray() {
    assert!(!single(b"id: 1\nretry: 2\ndata: x\n\n").is_stray());
    for input in ["Data: x\n\n", "data : x\n\n", "datax\n\n", "\0\n\n"] {
        let frame = single(input.as_bytes());
        assert_eq!((data(&frame), frame.is_stray()), (None, true), "{input:?}");
    }
}

#[test]
fn data_with_white_space_before_it_is_read_leniently() {
    let frame = single(b" data: {\"a\":1}\n\n");
    assert_eq!((data(&frame), frame.is_stray()), (None, true));
    assert_eq!(frame.lenient_data(), Some(Bytes::from_static(b"{\"a\":1}")));
    let frame = single(b"\tdata:[1,\r\n  data: 2]\r\n\r\n");
    assert_eq!(frame.lenient_data(), Some(Bytes::from_static(b"[1,\n2]")));
}

#[test]
fn bare_json_is_read_leniently() {
    let frame = single(b"{\n  \"error\": {\"code\": 503}\n}\n\n");
    assert_eq!((data(&frame), frame.is_stray()), (None, true));
    assert_eq!(frame.lenient_data(), Some(Bytes::from_static(b"{\n  \"error\": {\"code\": 503}\n}")));
}

#[test]
fn an_error_line_is_stray_and_no_data() {
    let frame = single(b"error: {\"code\":500}\n\n");
    assert_eq!((data(&frame), frame.is_stray(), frame.lenient_data()), (None, true, None));
}

#[test]
fn a_frame_with_data_is_not_read_leniently() {
    let frame = single(b"data: a\n data: b\n\n");
    assert_eq!((data(&frame), frame.is_stray(), frame.lenient_data()), (Some("a"), true, None));
}

#[test]
fn a_whole_body_is_its_own_data() {
    let frame = Frame::whole(Bytes::from_static(b"{}"));
    assert_eq!((&frame.raw()[..], data(&frame), frame.is_terminated()), (&b"{}"[..], Some("{}"), true));
}

#[test]
fn a_frame_of_exactly_the_limit_passes() {
    let mut framer = Framer::new(9);
    framer.push(b"data: a\n\ndata: b\n\n");
    assert_eq!(framer.next_frame().unwrap().unwrap().raw(), "data: a\n\n");
    assert_eq!(framer.next_frame().unwrap().unwrap().raw(), "data: b\n\n");
    assert_eq!(framer.next_frame(), Ok(None));
}

#[test]
fn a_frame_one_byte_over_the_limit_is_refused() {
    let mut framer = Framer::new(9);
    framer.push(b"data: ab\n\n");
    let error = framer.next_frame().unwrap_err();
    assert_eq!((error.limit, error.found), (9, 10));
    assert_eq!(error.to_string(), "expected frames of at most 9 bytes, found one of at least 10");
}

#[test]
fn a_frame_over_the_limit_is_refused_before_its_border_has_come() {
    let mut framer = Framer::new(9);
    framer.push(b"data: abc");
    assert_eq!(framer.next_frame(), Ok(None));
    framer.push(b"d");
    let error = framer.next_frame().unwrap_err();
    assert_eq!((error.limit, error.found), (9, 10));
}

/// Time for a frame of `size` bytes that comes in pieces of 64 bytes, with a CR at the end of every `line`th.
fn time_for(size: usize, line: usize) -> Duration {
    let mut piece = [b'x'; 64];
    let mut framer = Framer::new(LIMIT);
    // The thread's own time: other work on the machine does not count.
    let start = ThreadTime::now();
    framer.push(b"data: ");
    for number in 0..size / 64 {
        piece[63] = if number % line == line - 1 { b'\r' } else { b'x' };
        framer.push(&piece);
        assert_eq!(framer.next_frame(), Ok(None));
    }
    framer.push(b"y\n\n");
    assert!(framer.next_frame().is_ok_and(|frame| frame.is_some()));
    start.elapsed()
}

#[test]
fn ten_megabytes_in_small_pieces_take_linear_time() {
    for line in [usize::MAX, 2] {
        let small = time_for(1 << 20, line).max(Duration::from_millis(1));
        let large = time_for(10 << 20, line);
        // Ten times the bytes; quadratic work would take a hundred times as long.
        assert!(large < small * 50, "{small:?} for 1 MiB, {large:?} for 10 MiB");
    }
}

/// Newline-delimited JSON: a frame is a line, in every cut, and raw spans are the input.
#[test]
fn lines_are_frames_of_their_own() {
    let input = "{\"a\":\"\u{2028}\"}\n\r\n {\"b\":\r1}\r\ndata: {}\n{\"c\":2}\r";
    let expected = [
        ("{\"a\":\"\u{2028}\"}\n", Some("{\"a\":\"\u{2028}\"}"), true),
        ("\r\n", None, true),
        (" {\"b\":\r1}\r\n", Some("{\"b\":\r1}"), true),
        ("data: {}\n", Some("data: {}"), true),
        ("{\"c\":2}\r", Some("{\"c\":2}"), false),
    ];
    for size in 1..=input.len() {
        let mut framer = Framer::of(Framing::Lines, 64);
        let mut frames = Vec::new();
        for piece in input.as_bytes().chunks(size) {
            framer.push(piece);
            while let Some(frame) = framer.next_frame().expect("short lines") {
                frames.push(frame);
            }
        }
        frames.extend(framer.finish());
        let found: Vec<_> = frames
            .iter()
            .map(|frame| {
                let text = |bytes| std::str::from_utf8(bytes).expect("text");
                (text(frame.raw()), frame.data_bytes().map(text), frame.is_terminated())
            })
            .collect();
        assert_eq!(found, expected, "in pieces of {size}");
        assert!(frames.iter().all(|frame| frame.odd().is_none() && !frame.is_stray()));
    }
}

#[test]
fn a_line_that_is_too_long_is_refused_before_its_end() {
    let mut framer = Framer::of(Framing::Lines, 5);
    framer.push(b"1234\n123456");
    assert_eq!(
        framer.next_frame().map(|frame| frame.map(|frame| frame.raw().clone())),
        Ok(Some("1234\n".into()))
    );
    let error = framer.next_frame().unwrap_err();
    assert_eq!((error.limit, error.found), (5, 6));
}
