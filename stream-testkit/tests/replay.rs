//! Replays: time, faults, cuts.

use std::time::Duration;

use stream_core::Passthrough;
use stream_testkit::{Replay, Script, WireKind};

#[test]
fn what_is_sent_leaves_when_it_came() {
    for kind in WireKind::ALL {
        let log = Script::new().text("Hello.").pace(Duration::from_millis(40)).to_log(kind);
        let replayed = Replay::new(&log).policy(|| Passthrough).run();
        let recorded: Vec<_> = log.chunks().collect();
        assert_eq!(replayed.output, recorded, "{kind}");
    }
}
