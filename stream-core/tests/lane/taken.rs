//! Which frames the lane takes: they leave together.

use bytes::Bytes;
use stream_testkit::{Fragments, Script, WireKind};

use crate::kit::{chains, config, run};

/// How many pieces leave of a text of twenty deltas that comes in one read.
fn pieces(chain: &str, kind: WireKind) -> (usize, usize) {
    let script = Script::new().text("word ".repeat(20)).text_fragments(Fragments::Bytes(5));
    let reads = [script.bytes(kind)];
    let chain = chains().into_iter().find(|(name, ..)| name == chain).unwrap();
    let count = |config| run(&chain, &reads, config).1.len();
    (count(config()), count(config().lane(false)))
}

#[test]
fn text_that_nobody_holds_leaves_together() {
    for chain in [
        "nothing",
        "gate",
        "content",
        "all",
        "two",
        "gate and look",
        "strings",
        "strings alone",
        "strings of two",
    ] {
        let all = WireKind::ALL.map(|kind| pieces(chain, kind));
        assert_eq!(all, [(6, 23), (11, 28), (8, 25), (21, 21)], "{chain}");
    }
}

#[test]
fn text_that_somebody_may_hold_leaves_frame_by_frame() {
    for chain in ["waits", "monitor", "completed", "strings in a dry run"] {
        let all = WireKind::ALL.map(|kind| pieces(chain, kind));
        assert_eq!(all.map(|(with, without)| with == without), [true; 4], "{chain}");
    }
}

/// What leaves of a text of twenty deltas that comes in one read, in how many pieces, of all formats.
fn taken(chain: &str) -> [usize; 4] {
    WireKind::ALL.map(|kind| pieces(chain, kind).0)
}

/// Every seventh text of the second policy is held until the next one: both go the general way, and the lane is taken again behind
/// them at once.
#[test]
fn the_lane_is_taken_again_behind_a_hold() {
    assert_eq!(taken("second HoldOne"), [12, 17, 14, 21]);
}

/// The frame that is edited goes the general way, and so does the next one. Responses numbers all events behind an edit anew.
#[test]
fn the_lane_is_taken_again_behind_an_edit() {
    let taken =
        ["Shout", "Empty", "Drop", "SayBefore", "SayBehind"].map(|act| taken(&format!("second {act}")));
    let (edited, emptied, said) = ([12, 25, 14, 21], [10, 23, 12, 19], [14, 25, 16, 21]);
    assert_eq!(taken, [edited, emptied, emptied, said, said]);
}

/// The third text of a block is the first that leaves by the lane: from two that were read it learns what they have in common.
#[test]
fn the_third_text_is_the_first_that_leaves_by_the_lane() {
    let frame = |text: &str| {
        format!(
            "data: {{\"id\":\"c\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"
        )
    };
    let texts = ["one", "two", "three", "four", "five"];
    let body: String = texts.iter().map(|text| frame(text)).collect();
    let chain = chains().remove(0);
    let (_, sizes) = run(&chain, &[Bytes::from(body)], config());
    let len = |text| frame(text).len();
    assert_eq!(sizes, [len("one"), len("two"), len("three") + len("four") + len("five")]);
}
