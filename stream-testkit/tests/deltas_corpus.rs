//! Recorded streams say the same however their deltas are split or merged.
//!
//! Where the streams lie is found by `stream_testkit::logs`; the test that needs them is ignored by name.

use stream_testkit::conformance::{Format, check};
use stream_testkit::{ChunkLog, Replay};

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn recorded_streams_say_the_same_with_split_and_merged_deltas() {
    let root = stream_testkit::logs::root().expect("recorded streams: STREAM_CORPUS names their folder");
    let manifest = std::fs::read_to_string(root.join("MANIFEST.tsv")).unwrap();
    let (mut streams, mut split, mut merged) = (0, 0, 0);
    for file in manifest.lines().skip(1).filter_map(|line| line.split('\t').next()) {
        let log = ChunkLog::load(root.join(file)).unwrap();
        let Some(format) = log.kind().map(|kind| kind.name().parse::<Format>().unwrap()) else { continue };
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
    println!("{streams} streams: {split} with deltas to split, {merged} with deltas to merge");
}
