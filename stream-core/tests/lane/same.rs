//! The testkit's own logs, and the recordings, in every cut through every chain.

use bytes::Bytes;
use stream_core::{Config, Limits, Request};
use stream_testkit::{ChunkLog, Cut, Fragments, Script, WireKind, logs};

use crate::kit::{assert_same, chains, config};

fn cuts() -> Vec<Cut> {
    let random = (1..=2).map(|seed| Cut::Random { seed });
    let sizes = [97, 1000].map(|size| Cut::Size(size.try_into().unwrap()));
    [Cut::Whole, Cut::Event].into_iter().chain(random).chain(sizes).collect()
}

fn same(name: &str, log: &ChunkLog, cuts: &[Cut], config: &Config) {
    for cut in cuts {
        let reads: Vec<Bytes> = cut.apply(log).into_iter().map(|(_, bytes)| bytes).collect();
        for chain in chains() {
            assert_same(&format!("{name} cut {cut}"), &chain, &reads, config);
        }
    }
}

#[test]
fn every_log_is_the_same_with_the_lane_and_without() {
    quiet();
    for own in logs::own().unwrap() {
        if own.log().is_whole() {
            continue;
        }
        let asked = u32::try_from(own.expected().choices.len() + 1).unwrap();
        let config = config().request(Request::new().choices(asked));
        same(own.name(), own.log(), &cuts(), &config);
    }
}

/// Texts with escapes, characters of several bytes, blanks and line ends.
#[test]
fn every_script_is_the_same_with_the_lane_and_without() {
    quiet();
    let text = "One \"two\"\nthree\t\u{e9}\u{1f600} four \\ five  six/seven \u{2028} eight. ".repeat(3);
    let script = Script::new()
        .reasoning(text.as_str())
        .text(text.as_str())
        .call("call_1", "ls", r#"{"path":"/"}"#)
        .text_fragments(Fragments::Bytes(7));
    for kind in WireKind::ALL {
        same(kind.name(), &script.to_log(kind), &cuts(), &config());
    }
}

/// Blocks that differ in their names alone, and pieces of arguments.
#[test]
fn every_script_of_many_blocks_is_the_same_with_the_lane_and_without() {
    quiet();
    let argument = |word: &str| format!(r#"{{"text":"{}"}}"#, format!("{word} \"{word}\" ").repeat(6));
    let script = Script::new()
        .text("One two three four five. ".repeat(2))
        .call("call_1", "write", argument("one").replace('"', "'"))
        .call("call_2", "write", argument("w\u{f6}rd").replace(" \"", " \\\"").replace("\" ", "\\\" "))
        .call("call_3", "ls", r#"{"path":"/one/two/three/four/five"}"#)
        .text_fragments(Fragments::Bytes(7))
        .argument_fragments(Fragments::Bytes(5));
    for kind in WireKind::ALL {
        for script in [script.clone(), script.clone().interleaved(), script.clone().pings()] {
            same(kind.name(), &script.to_log(kind), &cuts(), &config());
        }
    }
}

/// Frames of two shapes, of which one says its text a second time: behind an edit that one is written anew.
#[test]
fn frames_of_two_shapes_are_the_same_with_the_lane_and_without() {
    quiet();
    let frame = |text: &str, more: &str| {
        format!(
            "data: {{\"id\":\"c\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}{more}}}]}}\n\n"
        )
    };
    let kinds: [fn(&str) -> String; 4] = [
        |_| String::new(),
        |text| format!(",\"message\":{{\"content\":\"{text}\"}}"),
        |_| ",\"logprobs\":null".to_owned(),
        |_| ",\"logprobs\":{\"content\":[]}".to_owned(),
    ];
    for (first, second) in (0..4).flat_map(|first| (0..4).map(move |second| (first, second))) {
        for every in 1..4 {
            let frames = (0..24).map(|at| {
                let text = format!("t{at} ");
                let kind = if at / every % 2 == 0 { first } else { second };
                Bytes::from(frame(&text, &kinds[kind](&text)))
            });
            let frames: Vec<Bytes> = frames.collect();
            let whole = Bytes::from(frames.concat());
            for chain in chains() {
                let name = format!("{first} and {second}, every {every}");
                assert_same(&name, &chain, &frames, &config());
                assert_same(&name, &chain, std::slice::from_ref(&whole), &config());
            }
        }
    }
}

#[test]
fn limits_are_the_same_with_the_lane_and_without() {
    quiet();
    let text = "word ".repeat(60);
    let script = Script::new().text(text.as_str()).text_fragments(Fragments::Bytes(5));
    for kind in WireKind::ALL {
        let log = script.to_log(kind);
        for limits in
            [Limits::default().block(100), Limits::default().frame(200), Limits::default().held(300)]
        {
            same(kind.name(), &log, &[Cut::Whole, Cut::Event], &config().limits(limits));
        }
    }
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn every_recording_is_the_same_with_the_lane_and_without() {
    quiet();
    for recorded in logs::corpus().expect("recorded streams: STREAM_CORPUS names their folder") {
        let log = recorded.load().unwrap();
        if !log.is_whole() && log.bytes().len() < 400_000 {
            same(&recorded.file, &log, &[Cut::Event, Cut::Size(1000.try_into().unwrap())], &config());
        }
    }
}

/// Panics of policies are a part of these tests.
pub(crate) fn quiet() {
    std::panic::set_hook(Box::new(|info| {
        if info.payload().downcast_ref::<&str>() != Some(&"no more") {
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{info}\n"));
        }
    }));
}
