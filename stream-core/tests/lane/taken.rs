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
    for chain in ["nothing", "gate", "content", "all", "two", "gate and look"] {
        let all = WireKind::ALL.map(|kind| pieces(chain, kind));
        assert_eq!(all, [(6, 23), (11, 28), (8, 25), (21, 21)], "{chain}");
    }
}

#[test]
fn text_that_somebody_may_hold_leaves_frame_by_frame() {
    for chain in ["waits", "monitor", "completed"] {
        let all = WireKind::ALL.map(|kind| pieces(chain, kind));
        assert_eq!(all.map(|(with, without)| with == without), [true; 4], "{chain}");
    }
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
