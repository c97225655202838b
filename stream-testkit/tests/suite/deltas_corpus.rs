//! Recorded streams say the same however their deltas are split or merged.
//!
//! Where the streams lie is found by `stream_testkit::logs`; the test that needs them is ignored by name.

use stream_testkit::conformance::check;
use stream_testkit::{Replay, WireKind};

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn recorded_streams_say_the_same_with_split_and_merged_deltas() {
    let (mut streams, mut split, mut merged) = (0, 0, 0);
    for recorded in WireKind::ALL.into_iter().flat_map(stream_testkit::logs::recorded) {
        let (file, log) = (&recorded.file, recorded.load().unwrap());
        let Some(format) = log.kind() else { continue };
        if log.is_whole() {
            continue;
        }
        streams += 1;
        let said = check(format, log.bytes());
        for (replay, count) in
            [(Replay::new(&log).split_deltas(1), &mut split), (Replay::new(&log).merge_deltas(), &mut merged)]
        {
            let says = check(format, replay.log().bytes());
            assert_eq!(says.view(), said.view(), "{file}");
            // A deviation may be merged away, but none is added.
            assert!(says.deviations().is_subset(&said.deviations()), "{file}:\n{says}\nbefore:\n{said}");
            assert!(says.is_clean() || !said.is_clean(), "{file}:\n{says}");
            *count += usize::from(replay.log().bytes() != log.bytes());
        }
    }
    assert!(split > 0 && merged > 0, "{streams} streams");
    println!("{streams} streams: {split} with deltas to split, {merged} with deltas to merge");
}
