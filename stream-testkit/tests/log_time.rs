//! Reading a log takes time in proportion to its length.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use std::time::Duration;

use cpu_time::ThreadTime;
use stream_testkit::{ChunkLog, Form};

/// A Gemini stream without `alt=sse`: one array, a line for each chunk.
fn array(chunks: usize) -> String {
    let chunk = r#"{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"one word"}]}}]}"#;
    format!("[{}]", vec![chunk; chunks].join(",\n"))
}

/// At best of three.
fn time(text: &str) -> Duration {
    let read = |_| {
        let started = ThreadTime::now();
        let log = ChunkLog::parse("gemini.json", text.as_bytes()).unwrap();
        assert_eq!(log.form(), Form::JsonArray);
        started.elapsed()
    };
    (0..3).map(read).min().unwrap()
}

/// 16 times the chunks may take 48 times as long; where every chunk counted the lines before it, they took 256 times.
#[test]
fn an_array_of_many_chunks_is_read_in_linear_time() {
    let (few, many) = (time(&array(1_000)), time(&array(16_000)));
    assert!(many < few * 48, "{few:?} for 1,000 chunks, {many:?} for 16,000");
}

#[test]
fn the_place_of_a_chunk_in_an_array_is_told() {
    let error =
        ChunkLog::parse("a.json", b"[\n  {\"candidates\":[]},\n  {\"candidates\":[]}, 7\n]").unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(3), Some(22)));
}
