//! Recording live streams.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use bytes::Bytes;
use futures::{FutureExt as _, Stream, StreamExt as _, stream};
use stream_testkit::{ChunkLog, Replay, Tap};
use tokio::time::sleep;

const HELLO: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n";
const DONE: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// A directory of one test, which goes when the test is over.
struct Directory(PathBuf);

impl Directory {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stream-testkit-{}-{test}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn upstream(pieces: &[&'static str]) -> impl Stream<Item = Result<Bytes, io::Error>> + use<> {
    stream::iter(pieces.to_vec()).map(|piece| Ok(Bytes::from_static(piece.as_bytes())))
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(future)
}

#[test]
fn a_recorded_stream_is_replayed_as_it_came() {
    let directory = Directory::new("replayed");
    let path = directory.file("hello.sse");
    let (tap, passed) = run(async {
        let tap = Tap::new(&path);
        let recording = tap.recording();
        let slow = upstream(&[HELLO, "data: {\"choi", &DONE[12..]]).then(|piece| async {
            sleep(Duration::from_millis(30)).await;
            piece
        });
        let passed: Vec<_> = tap.on(slow).map(Result::unwrap).collect().await;
        (recording, passed)
    });
    assert_eq!(passed, [HELLO, "data: {\"choi", &DONE[12..]]);
    let saved = tap.wait();
    let saved = saved.as_ref().as_ref().unwrap();
    assert_eq!((&saved.path, saved.bytes, saved.truncated), (&path, HELLO.len() + DONE.len(), false));
    let splits = fs::read_to_string(directory.file("hello.splits.json")).unwrap();
    let [one, two, three] = [HELLO.len(), 12, DONE.len() - 12];
    assert_eq!(
        splits,
        format!("{{\"chunk_bytes\":[{one},{two},{three}],\"chunk_timings_ms\":[30.0,30.0,30.0]}}")
    );
    let log = ChunkLog::load(&path).unwrap();
    assert!(!log.is_truncated());
    assert_eq!(log.chunks().map(|(_, bytes)| bytes).collect::<Vec<_>>(), passed);
    assert_eq!(Replay::new(&log).run().view().choices[0].content, "Hello");
}

#[test]
fn a_stream_behind_a_policy_is_recorded_too() {
    let directory = Directory::new("behind");
    let path = directory.file("out.sse");
    let tap = Tap::new(&path);
    let recording = tap.recording();
    let passed: Vec<Bytes> = run(tap.on(stream::iter([Bytes::from(HELLO), Bytes::from(DONE)])).collect());
    assert_eq!(passed, [HELLO, DONE]);
    assert!(recording.wait().is_ok());
    assert_eq!(ChunkLog::load(&path).unwrap().bytes(), &[HELLO, DONE].concat());
}

#[test]
fn errors_pass_and_are_not_recorded() {
    let directory = Directory::new("errors");
    let tap = Tap::new(directory.file("broken.sse"));
    let recording = tap.recording();
    let broken = upstream(&[HELLO]).chain(stream::iter([Err(io::Error::other("reset"))]));
    let passed: Vec<String> = run(tap
        .on(broken)
        .map(|item| item.map_or_else(|error| error.to_string(), |bytes| format!("{} bytes", bytes.len())))
        .collect());
    assert_eq!(passed, [format!("{} bytes", HELLO.len()), "reset".to_owned()]);
    assert_eq!(recording.wait().as_ref().as_ref().unwrap().bytes, HELLO.len());
}

#[test]
fn too_much_stops_the_recording_and_not_the_stream() {
    let directory = Directory::new("too-much");
    let path = directory.file("long.sse");
    let tap = Tap::new(&path).max_bytes(HELLO.len() + 3);
    let recording = tap.recording();
    let passed: Vec<_> = run(tap.on(upstream(&[HELLO, DONE, "\n"])).map(Result::unwrap).collect());
    assert_eq!(passed, [HELLO, DONE, "\n"]);
    assert!(recording.wait().as_ref().as_ref().unwrap().truncated);
    let log = ChunkLog::load(&path).unwrap();
    assert_eq!((log.bytes(), log.is_truncated()), (&Bytes::from(HELLO), true));
}

#[test]
fn a_dropped_stream_is_truncated_unless_its_ending_has_come() {
    let directory = Directory::new("dropped");
    for (pieces, truncated) in [(1, true), (2, false)] {
        let path = directory.file(&format!("{pieces}.sse"));
        let tap = Tap::new(&path);
        let recording = tap.recording();
        let mut tapped = tap.on(upstream(&[HELLO, DONE]).chain(stream::pending()));
        for _ in 0..pieces {
            assert!(tapped.next().now_or_never().unwrap().is_some());
        }
        assert!(recording.outcome().is_none());
        drop(tapped);
        assert_eq!(recording.wait().as_ref().as_ref().unwrap().truncated, truncated);
        assert_eq!(ChunkLog::load(&path).unwrap().is_truncated(), truncated);
    }
}

#[test]
fn what_cannot_be_written_is_told_and_harms_nothing() {
    let directory = Directory::new("unwritable");
    let path = directory.file("no/such/directory/log.sse");
    let (tell, told) = mpsc::channel();
    let tap = Tap::new(&path).on_saved(move |outcome| {
        tell.send(outcome.as_ref().map_err(|error| (error.is_io(), error.file().to_owned())).cloned())
            .unwrap();
    });
    let recording = tap.recording();
    let passed: Vec<_> = run(tap.on(upstream(&[HELLO])).map(Result::unwrap).collect());
    assert_eq!(passed, [HELLO]);
    assert_eq!(told.recv().unwrap(), Err((true, path.display().to_string())));
    assert!(recording.wait().is_err());
}

#[test]
fn a_whole_response_is_a_json_file_without_cuts() {
    let directory = Directory::new("whole");
    let path = directory.file("answer.json");
    let body = r#"{"object":"chat.completion","choices":[{"index":0,"message":{"content":"Hi"}}]}"#;
    let tap = Tap::new(&path);
    let recording = tap.recording();
    let passed: Vec<_> = run(tap.on(upstream(&[&body[..9], &body[9..]])).collect());
    assert_eq!(passed.len(), 2);
    assert!(recording.wait().is_ok());
    let log = ChunkLog::load(&path).unwrap();
    assert!(log.is_whole());
    assert_eq!(log.bytes(), body);
    assert!(!directory.file("answer.splits.json").exists());
}
