//! Logs of every form are read and written; what is no log is refused with its place.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use stream_testkit::{ChunkLog, Form, WireKind};

const CHAT: [&str; 3] = [
    r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"größe"}}]}"#,
    r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    r#"{"object":"chat.completion.chunk","choices":[],"usage":{"total_tokens":3}}"#,
];

fn parse(name: &str, content: &str) -> ChunkLog {
    ChunkLog::parse(name, content.as_bytes()).expect("a log")
}

fn refused(name: &str, content: impl AsRef<[u8]>) -> String {
    ChunkLog::parse(name, content.as_ref()).expect_err("no log").to_string()
}

fn text(log: &ChunkLog) -> &str {
    std::str::from_utf8(log.bytes()).expect("UTF-8")
}

fn chunks(log: &ChunkLog) -> Vec<(u128, String)> {
    log.chunks().map(|(at, bytes)| (at.as_millis(), String::from_utf8_lossy(&bytes).into_owned())).collect()
}

/// A folder of its own for one test.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn a_raw_body_keeps_every_byte_and_is_cut_after_each_event() {
    let body = ": hi\r\n\r\ndata: {\"choices\":[]}\r\n\r\ndata: [DONE]";
    let log = parse("a.sse", body);
    assert_eq!((log.form(), log.kind(), log.is_whole()), (Form::Sse, Some(WireKind::OpenAiChat), false));
    assert_eq!(text(&log), body);
    assert!(!log.has_recorded_cuts());
    let expected = [(0, ": hi\r\n\r\n"), (0, "data: {\"choices\":[]}\r\n\r\n"), (0, "data: [DONE]")];
    assert_eq!(chunks(&log), expected.map(|(at, text)| (at, text.to_owned())));
}

#[test]
fn chat_chunks_on_lines_get_the_done_marker_if_they_finish() {
    let log = parse("a.jsonl", &CHAT.join("\n"));
    assert_eq!((log.form(), log.kind()), (Form::JsonLines, Some(WireKind::OpenAiChat)));
    let expected = format!("data: {}\n\ndata: {}\n\ndata: {}\n\ndata: [DONE]\n\n", CHAT[0], CHAT[1], CHAT[2]);
    assert_eq!(text(&log), expected);
    assert_eq!(text(&parse("a.jsonl", CHAT[0])), format!("data: {}\n\n", CHAT[0]));
}

#[test]
fn nothing_is_added_to_lines_with_times() {
    let log = parse("a.jsonl", &format!("{{\"t_ms\":1.5,\"chunk\":{}}}\r\n\r\n", CHAT[1]));
    assert_eq!(text(&log), format!("data: {}\n\n", CHAT[1]));
    assert_eq!(log.chunks().next().unwrap().0, Duration::from_micros(1500));
}

#[test]
fn both_spellings_of_a_line_with_its_time_are_read() {
    let first = format!("{{\"ms\":1,\"data\":{}}}\n{{\"t_ms\":4,\"chunk\":\"[DONE]\"}}\n", CHAT[0]);
    let log = parse("a", &first);
    assert_eq!(chunks(&log), [(1, format!("data: {}\n\n", CHAT[0])), (4, "data: [DONE]\n\n".to_owned())]);
}

#[test]
fn events_of_apis_that_name_them_get_their_names() {
    let log =
        parse("a.jsonl", "{\"type\":\"message_start\"}\n{\"type\":\"ping\"}\n{\"type\":\"message_stop\"}\n");
    assert_eq!(log.kind(), Some(WireKind::AnthropicMessages));
    assert_eq!(
        text(&log),
        "event: message_start\ndata: {\"type\":\"message_start\"}\n\n\
         event: ping\ndata: {\"type\":\"ping\"}\n\n\
         event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
    );
    let log = parse("a.jsonl", "{\"type\":\"response.created\",\"response\":{}}");
    assert_eq!(
        text(&log),
        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n"
    );
}

#[test]
fn an_array_may_be_spread_over_lines() {
    let log = parse(
        "a.json",
        "[\n  {\n    \"candidates\": [\n      {\"index\": 0}\n    ]\n  },\n  {\"candidates\":[]}\n]\n",
    );
    assert_eq!((log.form(), log.kind()), (Form::JsonArray, Some(WireKind::Gemini)));
    assert_eq!(
        text(&log),
        "data: {\"candidates\": [{\"index\": 0}]}\r\n\r\ndata: {\"candidates\":[]}\r\n\r\n"
    );
}

#[test]
fn a_whole_response_stays_as_it_is() {
    for (body, kind) in [
        ("{\n \"object\": \"chat.completion\", \"choices\": []\n}\n", Some(WireKind::OpenAiChat)),
        ("{\"object\":\"response\",\"output\":[]}", Some(WireKind::OpenAiResponses)),
        ("{\"type\":\"message\",\"content\":[]}", Some(WireKind::AnthropicMessages)),
        ("{\"candidates\":[]}", Some(WireKind::Gemini)),
        ("{\"error\":{\"code\":500}}", None),
    ] {
        let log = parse("a.json", body);
        assert_eq!((log.is_whole(), log.form(), log.kind()), (true, Form::Whole, kind), "{body}");
        assert_eq!(chunks(&log), [(0, body.to_owned())]);
    }
}

#[test]
fn a_chunk_alone_in_its_file_is_a_stream() {
    assert_eq!(parse("a.json", CHAT[0]).form(), Form::JsonLines);
    assert_eq!(parse("a", "{\"t_ms\":1,\"chunk\":{\"candidates\":[]}}").form(), Form::JsonLines);
    // Gemini's chunks look like its responses; the name decides.
    assert_eq!(parse("a.jsonl", "{\"candidates\":[]}").form(), Form::JsonLines);
}

#[test]
fn an_sse_body_is_known_without_its_ending() {
    assert_eq!(parse("recording", "event: ping\ndata: {}\n\n").form(), Form::Sse);
    assert_eq!(parse("recording", ": keep-alive\n\n").form(), Form::Sse);
}

#[test]
fn cuts_and_times_go_through_the_sidecar() {
    let path = folder("cuts_and_times").join("log.sse");
    let pieces = [(2_u64, "data: gr\u{f6}"), (2, "\u{df}e\n\nd"), (30, "ata: x\n\n")];
    let log = ChunkLog::from_chunks(
        path.display().to_string(),
        pieces.map(|(at, text)| (Duration::from_millis(at), Bytes::from(text))),
    );
    log.save(&path, Form::Sse).unwrap();
    let sidecar = std::fs::read_to_string(path.with_extension("splits.json")).unwrap();
    assert_eq!(sidecar, "{\"chunk_bytes\":[10,6,8],\"chunk_timings_ms\":[2.0,0.0,28.0]}");
    assert_eq!(ChunkLog::load(&path).unwrap(), log);
}

#[test]
fn events_and_times_go_through_json_lines() {
    let sse = format!(": hi\n\ndata: {}\n\ndata: {}\n\ndata: [DONE]\n\n", CHAT[0], CHAT[1]);
    let cut = sse.len() - 20;
    let log = ChunkLog::from_chunks(
        "log",
        [(3, &sse[..cut]), (8, &sse[cut..])]
            .map(|(at, text)| (Duration::from_millis(at), text.to_owned().into())),
    );
    let lines = log.to_form(Form::JsonLines).unwrap();
    let expected = format!(
        "{{\"t_ms\":3,\"chunk\":{}}}\n{{\"t_ms\":8,\"chunk\":{}}}\n{{\"t_ms\":8,\"chunk\":\"[DONE]\"}}\n",
        CHAT[0], CHAT[1]
    );
    assert_eq!(String::from_utf8(lines.clone()).unwrap(), expected);
    let back = ChunkLog::parse("log.jsonl", &lines).unwrap();
    assert_eq!(text(&back), sse.strip_prefix(": hi\n\n").unwrap());
    assert_eq!(back.to_form(Form::JsonLines).unwrap(), lines);
}

#[test]
fn events_go_through_an_array() {
    let log = parse("a.jsonl", &CHAT.join("\n"));
    let array = log.to_form(Form::JsonArray).unwrap();
    assert_eq!(String::from_utf8(array.clone()).unwrap(), format!("[\n{}\n]\n", CHAT.join(",\n")));
    assert_eq!(ChunkLog::parse("a.json", &array).unwrap().bytes(), log.bytes());
}

#[test]
fn a_log_has_not_every_form() {
    let whole = parse("w.json", "{\"candidates\":[]}");
    for form in [Form::Sse, Form::JsonLines, Form::JsonArray] {
        let error = whole.to_form(form).unwrap_err().to_string();
        assert_eq!(error, "w.json: expected a stream, found a whole response");
    }
    assert_eq!(whole.to_form(Form::Whole).unwrap(), b"{\"candidates\":[]}");
    let stream = parse("s.sse", "data: x\n\n");
    assert_eq!(
        stream.to_form(Form::Whole).unwrap_err().to_string(),
        "s.sse: expected a whole response, found a stream"
    );
    assert_eq!(
        stream.to_form(Form::JsonArray).unwrap_err().to_string(),
        "s.sse: expected chunks that are JSON, found \"x\""
    );
    assert_eq!(stream.to_form(Form::JsonLines).unwrap(), b"{\"t_ms\":0,\"chunk\":\"x\"}\n");
}

const FORMS: &str = "an SSE body, JSON lines, an array of chunks or a whole response";

#[test]
fn an_empty_file_is_refused() {
    for content in ["", " \r\n\t\n", "\u{feff}"] {
        assert_eq!(refused("a.sse", content), format!("a.sse:1:1: expected {FORMS}, found an empty file"));
    }
}

#[test]
fn a_binary_file_is_refused() {
    assert_eq!(
        refused("a.sse", b"\x1f\x8b\x08\0\0"),
        format!("a.sse:1:4: expected {FORMS}, found a binary file")
    );
    assert_eq!(
        refused("a.json", b"{\"a\":\n\"\xff\"}"),
        "a.json:2:2: expected JSON, found bytes that are not UTF-8"
    );
}

#[test]
fn a_text_that_is_no_log_is_refused() {
    assert_eq!(
        refused("a.txt", "\n  <!DOCTYPE html>\n<html></html>"),
        format!("a.txt:2:3: expected {FORMS}, found \"<!DOCTYPE html>\"")
    );
    let names = "openai-chat, openai-responses, anthropic-messages, gemini";
    for content in ["{\"a\":1}", "{\"a\":1}\n{\"a\":2}", "[{\"a\":1}]", "[]"] {
        let expected =
            format!("a.json:1:1: expected chunks of one of {names}, found none that tells its API");
        assert_eq!(refused("a.json", content), expected, "{content}");
    }
}

#[test]
fn truncated_json_is_refused_where_it_ends() {
    assert_eq!(
        refused("a.jsonl", format!("{}\n{{\"choices\":[{{", CHAT[0])),
        "a.jsonl:2:13: expected one chunk per line, as a JSON object, found an end inside of it"
    );
    assert_eq!(
        refused("a.json", "[\n{\"candidates\":[]},\n{\"candi"),
        "a.json:3:7: expected an array of chunks, found an end inside of it"
    );
    assert_eq!(
        refused("a.json", "{\"candidates\":\n[{"),
        "a.json:2:2: expected a JSON object, found an end inside of it"
    );
}

#[test]
fn what_is_no_json_is_refused_where_it_goes_wrong() {
    assert_eq!(
        refused("a.jsonl", format!("{}\n{{\"choices\":[] \"x\":1}}", CHAT[0])),
        "a.jsonl:2:15: expected one chunk per line, as a JSON object, found what is no JSON (expected `,` or `}`)"
    );
    assert_eq!(
        refused("a.jsonl", format!("{}\ndata: {{}}\n", CHAT[0])),
        "a.jsonl:2:1: expected one chunk per line, as a JSON object, found what is no JSON (expected value)"
    );
    assert_eq!(
        refused("a.jsonl", format!("{}\n  [1]\n", CHAT[0])),
        "a.jsonl:2:3: expected one chunk per line, as a JSON object, found an array"
    );
    assert_eq!(
        refused("a.json", "[{\"candidates\":[]},\n 7]"),
        "a.json:2:2: expected a chunk, as a JSON object, found a number"
    );
}

#[test]
fn mixed_formats_are_refused() {
    assert_eq!(
        refused("a.jsonl", format!("\n{}\n{{\"type\":\"message_stop\"}}", CHAT[0])),
        "a.jsonl:3:1: expected a chunk of openai-chat, as on line 2, found one of anthropic-messages"
    );
    assert_eq!(
        refused("a.json", "[{\"candidates\":[]},{\"type\":\"response.created\"}]"),
        "a.json:1:20: expected a chunk of gemini, as on line 1, found one of openai-responses"
    );
    assert_eq!(
        refused("a.sse", format!("data: {{\"candidates\":[]}}\n\ndata: {}\n\n", CHAT[0])),
        "a.sse:3:1: expected an event of gemini, as on line 1, found one of openai-chat"
    );
}

#[test]
fn times_are_on_all_lines_or_none_and_never_go_back() {
    let timed = |at: f64| format!("{{\"t_ms\":{at},\"chunk\":{}}}", CHAT[0]);
    for (content, message) in [
        (format!("{}\n{}", timed(1.0), CHAT[0]), "a chunk with its time, as before, found one without"),
        (format!("{}\n{}", CHAT[0], timed(1.0)), "a chunk without a time, as before, found one with"),
        (format!("{}\n{}", timed(5.5), timed(5.0)), "a time of at least 5.5 ms, found 5 ms"),
        (format!("\n{}", timed(-1.0)), "a time of at least 0 ms, found -1 ms"),
    ] {
        assert_eq!(refused("a.jsonl", content), format!("a.jsonl:2:1: expected {message}"));
    }
}

#[test]
fn a_sidecar_that_does_not_fit_is_refused() {
    let path = folder("a_sidecar_that_does_not_fit").join("log.sse");
    let beside = path.with_extension("splits.json");
    std::fs::write(&path, "data: x\n\n").unwrap();
    for (sidecar, message) in [
        (
            "{\"chunk_bytes\":[4,4]}",
            "1:1: expected chunk_bytes that add up to the 9 bytes of the log, found 8",
        ),
        (
            "{\"chunk_bytes\":[4,5],\"chunk_timings_ms\":[1]}",
            "1:1: expected 2 chunk_timings_ms, one for each of chunk_bytes, found 1",
        ),
        (
            "{\"chunk_bytes\":[9],\"chunk_timings_ms\":[-1]}",
            "1:1: expected chunk_timings_ms that are milliseconds, found -1",
        ),
        (
            "{\"chunk_bytes\":[4,",
            "1:18: expected {\"chunk_bytes\":[…],\"chunk_timings_ms\":[…]}, found an end inside of it",
        ),
        (
            "{}",
            "1:2: expected {\"chunk_bytes\":[…],\"chunk_timings_ms\":[…]}, found missing field `chunk_bytes`",
        ),
    ] {
        std::fs::write(&beside, sidecar).unwrap();
        let error = ChunkLog::load(&path).unwrap_err();
        assert_eq!(error.to_string(), format!("{}:{message}", beside.display()));
    }
}

#[test]
fn a_file_that_is_not_there_is_an_io_error() {
    let error = ChunkLog::load("no/such.sse").unwrap_err();
    assert!(error.is_io());
    assert_eq!((error.file(), error.line(), error.column()), ("no/such.sse", None, None));
    assert_eq!(error.to_string(), "no/such.sse: cannot be read: No such file or directory (os error 2)");
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn recordings_are_read_and_keep_their_bytes() {
    let corpus = stream_testkit::logs::root().expect("recorded streams: STREAM_CORPUS names their folder");
    let mut with_cuts = 0;
    for kind in WireKind::ALL {
        for recorded in stream_testkit::logs::recorded(kind) {
            let path = corpus.join(&recorded.file);
            let log = ChunkLog::load(&path).unwrap();
            assert_eq!(log.kind(), Some(kind), "{}", path.display());
            let pieces: Vec<_> = log.chunks().map(|(_, bytes)| bytes).collect();
            assert_eq!(pieces.concat(), std::fs::read(&path).unwrap());
            with_cuts += usize::from(log.has_recorded_cuts());
            assert!(
                log.to_form(Form::JsonLines).is_ok_and(|lines| ChunkLog::parse("a.jsonl", &lines).is_ok())
            );
        }
    }
    assert_ne!(with_cuts, 0);
}
