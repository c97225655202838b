//! `Redact` does the same with the lane and without: bytes and records, in every format, wherever a secret stands and however it is
//! split.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]
#![cfg(feature = "patterns")]

use std::time::Duration;

use bytes::Bytes;
use stream_core::{Chain, Config, Request, Verdict, each_call};
use stream_policies::{
    Inject, InjectSettings, Pattern, Place, Preset, Redact, RedactSettings, StopOnSettings,
};
use stream_testkit::{ChunkLog, Cut, Fragments, Replay, Replayed, Script, WireKind, logs};

/// A key, an account of an e-mail and a card, none of which is anybody's.
const KEY: &str = "sk-proj-abcdefghij0123456789ABCDEFGHIJ";
const ADDRESS: &str = "jane@example.com";
const CARD: &str = "378282246310005";

fn keys() -> Redact {
    RedactSettings::default().preset(Preset::ApiKey).preset(Preset::CardNumber).build().unwrap()
}

fn all() -> Redact {
    Preset::ALL.into_iter().fold(RedactSettings::default(), RedactSettings::preset).build().unwrap()
}

fn other() -> Redact {
    let settings = RedactSettings::default().preset(Preset::ApiKey).preset(Preset::CardNumber);
    settings.places([Place::Other]).build().unwrap()
}

fn inject() -> Inject {
    InjectSettings::default().before("[a] ").after(" [b]").build().unwrap()
}

/// A chain by its name.
type Made = (&'static str, fn() -> Chain);

/// Every chain that is tried.
fn chains() -> [Made; 6] {
    [
        ("keys", || Chain::new().then(keys())),
        ("all presets", || Chain::new().then(all())),
        ("strings alone", || Chain::new().then(other())),
        ("a gate and keys", || Chain::new().then(each_call(|_, _| Verdict::Release)).then(keys())),
        ("keys and a notice", || Chain::new().then(keys()).then(inject())),
        ("two of them", || {
            let word = RedactSettings::default().pattern(Pattern::regex("word", "f[a-z]{3}"));
            let stop = StopOnSettings::default().pattern(Pattern::literal("end", "never said"));
            Chain::new().then(keys()).then(word.build().unwrap()).then(stop.build().unwrap())
        }),
    ]
}

fn replayed(log: &ChunkLog, cut: Cut, chain: fn() -> Chain, config: Config) -> Replayed {
    Replay::new(log).cut(cut).config(config).policy(chain).run()
}

/// Asserts that a stream is the same with the lane and without. What left.
#[track_caller]
fn assert_same(name: &str, log: &ChunkLog, cut: Cut, chain: Made, config: &Config) -> Replayed {
    let run = |allowed| replayed(log, cut, chain.1, config.clone().lane(allowed));
    let told = |ran: &Replayed| (text(ran), format!("{:?} {:?}", ran.decisions, ran.outcome));
    let (with, without) = (run(true), run(false));
    assert_eq!(told(&with), told(&without), "{name}, cut {cut:?}, {}", chain.0);
    with
}

fn text(ran: &Replayed) -> String {
    String::from_utf8_lossy(&ran.bytes()).into_owned()
}

fn cuts() -> [Cut; 3] {
    [Cut::Whole, Cut::Event, Cut::Random { seed: 7 }]
}

#[test]
fn every_log_is_the_same_with_the_lane_and_without() {
    for own in logs::own().unwrap().iter().filter(|own| !own.log().is_whole()) {
        let asked = u32::try_from(own.expected().choices.len() + 1).unwrap();
        let config = Config::default().request(Request::new().choices(asked));
        for cut in cuts() {
            for chain in chains() {
                assert_same(own.name(), own.log(), cut, chain, &config);
            }
        }
    }
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn every_recording_is_the_same_with_the_lane_and_without() {
    for recorded in logs::corpus().expect("recorded streams: STREAM_CORPUS names their folder") {
        let log = recorded.load().unwrap();
        if !log.is_whole() && log.bytes().len() < 400_000 {
            for chain in chains() {
                assert_same(&recorded.file, &log, Cut::Event, chain, &Config::default());
            }
        }
    }
}

/// Secrets in texts, split over as many frames as they have letters, or none, with much text before and behind them.
#[test]
fn secrets_that_are_split_over_frames_are_the_same_with_the_lane_and_without() {
    let text = |key: &str, address: &str, card: &str| {
        let (before, between, behind) = ("Some words. ".repeat(8), "more ".repeat(9), "Rest. ".repeat(9));
        format!("{before}{key} and {address}, {between}{card}. {behind}")
    };
    let put = "[redacted]";
    let said = text(KEY, ADDRESS, CARD);
    for kind in WireKind::ALL {
        for size in [1, 2, 3, 5, 8, 13, 40] {
            let script = Script::new().reasoning(&*said).text(&*said).call("call_1", "ls", r#"{"path":"/"}"#);
            let log = script.text_fragments(Fragments::Bytes(size)).to_log(kind);
            for chain in chains() {
                for cut in cuts() {
                    let name = format!("{kind} in fragments of {size}");
                    let ran = assert_same(&name, &log, cut, chain, &Config::default());
                    let expected = match chain.0 {
                        "strings alone" => said.clone(),
                        "all presets" => text(put, put, put),
                        // Anthropic allows no text behind a call.
                        "keys and a notice" if kind == WireKind::AnthropicMessages => {
                            format!("[a] {}", text(put, ADDRESS, put))
                        }
                        "keys and a notice" => format!("[a] {} [b]", text(put, ADDRESS, put)),
                        _ => text(put, ADDRESS, put),
                    };
                    assert_eq!(ran.view().choices[0].content, expected, "{name}, {}", chain.0);
                }
            }
        }
    }
}

/// The values of a frame that differ from frame to frame: text, word, id and number.
type Values = [String; 4];

/// A frame with these values.
type MakeFrame = fn(&Values) -> String;

const CHAT: MakeFrame = |[text, word, id, number]| {
    format!(
        "data: {{\"id\":\"{id}\",\"model\":\"m\",\"created\":{number},\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\
         \"logprobs\":null,\"finish_reason\":null}}],\"obfuscation\":\"{word}\"}}\n\n"
    )
};

const TWICE: MakeFrame = |[text, word, id, _]| {
    format!(
        "data: {{\"id\":\"{id}\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"reasoning\":\"{text}\",\
         \"reasoning_content\":\"{text}\"}}}}],\"obfuscation\":\"{word}\"}}\n\n"
    )
};

const RESPONSES: MakeFrame = |[text, word, _, number]| {
    format!(
        "event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\
         \"output_index\":0,\"content_index\":0,\"sequence_number\":{number},\"delta\":\"{text}\",\"logprobs\":[],\
         \"obfuscation\":\"{word}\"}}\n\n"
    )
};

const RESPONSES_OPENING: &str = "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":\
    {\"id\":\"r\",\"model\":\"m\",\"status\":\"in_progress\",\"output\":[]}}\n\n\
    event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":1,\"output_index\":0,\
    \"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"in_progress\",\"role\":\"assistant\",\"content\":[]}}\n\n\
    event: response.content_part.added\ndata: {\"type\":\"response.content_part.added\",\"sequence_number\":2,\"item_id\":\"msg_1\",\
    \"output_index\":0,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"text\":\"\",\"annotations\":[]}}\n\n";

/// A value for a place of a frame, by their numbers.
type Change<'a> = (usize, usize, &'a str);

/// Secrets in values that nobody reads, in frames behind others that leave by the lane: nothing of them leaves.
#[test]
fn secrets_in_holes_do_not_leave() {
    let escaped: String = KEY.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect();
    let again = KEY.replacen('s', "\\\\u0073", 1);
    let (first, last) = KEY.split_at(20);
    let changes: Vec<(&str, Vec<Change<'_>>)> = vec![
        ("a word", vec![(8, 1, KEY)]),
        ("a word with escapes", vec![(8, 1, &*escaped)]),
        ("a word with escapes twice", vec![(8, 1, &*again)]),
        ("an id", vec![(8, 2, KEY)]),
        ("a number", vec![(8, 3, CARD)]),
        ("a number before the lane is taken", vec![(1, 3, CARD)]),
        ("a word in each", (0..12).map(|at| (at, 1, KEY)).collect()),
        ("a text", vec![(8, 0, KEY)]),
        ("a text with escapes", vec![(8, 0, &*escaped)]),
        ("a text in two frames", vec![(8, 0, first), (9, 0, last)]),
        ("a text in two frames, and a word between", vec![(8, 0, first), (8, 1, KEY), (9, 0, last)]),
        ("a text and a word", vec![(8, 0, KEY), (8, 1, KEY)]),
    ];
    for (name, make, opening) in
        [("chat", CHAT, ""), ("said twice", TWICE, ""), ("responses", RESPONSES, RESPONSES_OPENING)]
    {
        for (what, changes) in &changes {
            let mut frames: Vec<Values> = (0..12)
                .map(|at| [format!(" t{at} "), format!("w{at}x"), format!("id-{at}"), (10 + at).to_string()])
                .collect();
            for (at, place, value) in changes {
                frames[*at][*place] = (*value).to_owned();
            }
            let body = opening.to_owned() + &frames.iter().map(make).collect::<String>();
            let log = ChunkLog::from_chunks("body", [(Duration::ZERO, Bytes::from(body))]);
            for chain in chains() {
                for cut in cuts() {
                    let name = format!("{name}: {what}");
                    let out = text(&assert_same(&name, &log, cut, chain, &Config::default()));
                    let texts_stay = chain.0 == "strings alone" && what.contains("text");
                    let is_there =
                        [KEY, &*escaped, &*again, last, CARD].iter().any(|secret| out.contains(secret));
                    assert!(texts_stay || !is_there, "{name}, {}: {out}", chain.0);
                }
            }
        }
    }
}
