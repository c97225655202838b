//! Harmless answers of real providers leave byte for byte, however they are cut, under a gate that allows their calls
//! and a redactor that finds nothing in them.

use std::num::NonZeroUsize;

use stream_core::Config;
use stream_testkit::{ChunkLog, Cut, Replay, logs};

use crate::kit::{gate, redactor};
use crate::shapes;

/// Rule 28: the shapes of real providers are plain, but for a few, which the testkit's own tests hold against every client.
#[test]
fn harmless_shapes_leave_byte_for_byte() {
    let mut own = logs::own().unwrap();
    own.retain(|own| !own.expected().normalised);
    let mut wrong = String::new();
    for own in &own {
        wrong.push_str(&changed(&format!("{}/{}", own.kind(), own.name()), own.log()));
    }
    let shapes = shapes::all();
    for shape in &shapes {
        wrong.push_str(&changed(shape.name(), shape));
    }
    assert!(own.len() + shapes.len() >= 126);
    assert_eq!(wrong, "");
}

/// The events of a body. Those of a choice keep their order; one choice may pass another (rule 11).
fn events(body: &[u8]) -> Vec<String> {
    let text = String::from_utf8(body.to_vec()).unwrap();
    let mut events: Vec<String> = text.split_inclusive("\n\n").map(str::to_owned).collect();
    if text.contains("\"index\":1,\"delta\"") {
        events.sort();
    }
    events
}

/// What a gate or a redactor made of a log that neither has anything to say of.
fn changed(name: &str, log: &ChunkLog) -> String {
    let cuts = [
        Cut::Event,
        Cut::Whole,
        Cut::Byte,
        Cut::Random { seed: 3 },
        Cut::Size(NonZeroUsize::new(7).unwrap()),
    ];
    let redactor = redactor();
    for cut in cuts {
        // A stream with several choices is harmless where several were asked for.
        let replay = || Replay::new(log).config(log.asked_for(Config::default())).cut(cut);
        let gated = replay().policy(|| gate(&["rm"])).run();
        let redactor = redactor.clone();
        let redacted = replay().policy(move || redactor.clone()).run();
        for (policy, run) in [("gate", gated), ("redactor", redacted)] {
            if events(&run.bytes()) != events(log.bytes()) {
                let error = run.outcome.and_then(|outcome| outcome.error).map(|error| error.to_string());
                return format!(
                    "{name}, {policy}, cut {cut}: {} {:?}\n",
                    error.unwrap_or_default(),
                    run.decisions
                );
            }
        }
    }
    String::new()
}
