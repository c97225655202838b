//! Cost per byte of looking for calls in text: long arguments, text made of openers, and prose.
//!
//! `cargo bench -p stream-text-calls --bench scanner`: each line gives nanoseconds per byte of text and per chunk (the median of
//! several runs). Flat means that the 4 MB line says the same as the 64 kB line.

#![allow(clippy::print_stdout)]

use std::time::Duration;

use cpu_time::ThreadTime;
use stream_text_calls::Tool;
use stream_text_calls::{DialectSet, ScanOptions, Scanner, known};

fn main() {
    println!("{:<52}{:>12}{:>14}", "scan", "ns per byte", "ns per chunk");
    for (size, name) in [(64 << 10, "64 kB"), (4 << 20, "4 MB")] {
        line(&format!("JSON argument of {name}, chunks of 4"), &json(size), 4);
        line(&format!("tagged argument of {name}, chunks of 4"), &tagged(size), 4);
    }
    for unit in ["{", "<", "`", "<tool_call>", "{\"name\":", "<tool_call>{\"a\":"] {
        for (size, name) in [(10_000, "10 kB"), (100_000, "100 kB")] {
            line(&format!("{name} of {unit}, chunks of 7"), &unit.repeat(size / unit.len()), 7);
        }
    }
    for (size, name) in [(64 << 10, "64 kB"), (4 << 20, "4 MB")] {
        let prose = "The quick brown fox jumps over the lazy dog, and 2 is more than 1. ".repeat(size / 67);
        line(&format!("prose of {name}, chunks of 7"), &prose, 7);
        let html = "<p>a &lt; b</p> <code>x</code>\n".repeat(size / 31);
        line(&format!("HTML of {name}, chunks of 7"), &html, 7);
    }
}

fn json(size: usize) -> String {
    format!(r#"<tool_call>{{"name":"write","arguments":{{"text":"{}"}}}}</tool_call>"#, "x".repeat(size))
}

fn tagged(size: usize) -> String {
    let text = "x < y; ".repeat(size / 7);
    format!("<tool_call><function=write><parameter=text>{text}</parameter></function></tool_call>")
}

fn dialects() -> DialectSet {
    DialectSet::for_model("qwen3-coder").with(known::bare_json()).with(known::anthropic())
}

fn line(name: &str, text: &str, chunk: usize) {
    let runs = (3_000_000 / text.len()).clamp(3, 50);
    let options = ScanOptions::new().tools(&[Tool::new("write")]);
    let set = dialects();
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let mut scanner = Scanner::new(&set, options.clone());
            // Time on the processor: what else the machine does does not count.
            let start = ThreadTime::now();
            for piece in text.as_bytes().chunks(chunk) {
                scanner.push(std::str::from_utf8(piece).unwrap_or_default()).for_each(drop);
            }
            scanner.end().for_each(drop);
            let time = start.elapsed();
            assert_eq!(scanner.decided(), text.len() as u64, "{name}: not all was reported");
            time
        })
        .collect();
    times.sort_unstable();
    #[allow(clippy::cast_precision_loss)]
    let cost = times[times.len() / 2].as_nanos() as f64 / text.len() as f64;
    #[allow(clippy::cast_precision_loss)]
    let per_chunk = cost * chunk as f64;
    println!("{name:<52}{cost:>12.1}{per_chunk:>14.1}");
}
