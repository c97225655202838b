//! Policies that look at every string: what stands in the holes of a frame is searched, and what is found there never leaves.

use bytes::Bytes;

use crate::kit::{Made, assert_same, chains, config, run};
use crate::same::quiet;

/// The values of a frame that differ from frame to frame.
#[derive(Debug, Clone)]
struct Values {
    text: String,
    /// The text where the frame says it again.
    twin: String,
    word: String,
    id: String,
    number: String,
}

/// A format's frame with these values.
type MakeFrame = fn(&Values) -> String;

const FRAMES: [(&str, MakeFrame); 5] = [
    ("chat", |Values { text, word, id, number, .. }| {
        format!(
            "data: {{\"id\":\"{id}\",\"model\":\"m\",\"created\":{number},\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\
             \"{text}\"}},\"logprobs\":null,\"finish_reason\":null}}],\"obfuscation\":\"{word}\"}}\n\n"
        )
    }),
    ("chat, said twice", |Values { text, twin, word, .. }| {
        format!(
            "data: {{\"id\":\"{word}\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"reasoning\":\"{text}\",\
             \"reasoning_content\":\"{twin}\"}}}}]}}\n\n"
        )
    }),
    ("responses", |Values { text, word, number, .. }| {
        format!(
            "event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\
             \"output_index\":0,\"content_index\":0,\"sequence_number\":{number},\"delta\":\"{text}\",\"logprobs\":[],\
             \"obfuscation\":\"{word}\"}}\n\n"
        )
    }),
    ("messages", |Values { text, .. }| {
        format!(
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":\
             {{\"type\":\"text_delta\",\"text\":\"{text}\"}}   }}\n\n"
        )
    }),
    ("gemini", |Values { text, id, .. }| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}],\"role\":\"model\"}},\"index\":0}}],\
             \"responseId\":\"{id}\",\"modelVersion\":\"m\"}}\n\n"
        )
    }),
];

/// What comes before the first text.
fn opening(name: &str) -> &'static str {
    match name {
        "responses" => {
            "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"r\",\
             \"model\":\"m\",\"status\":\"in_progress\",\"output\":[]}}\n\n\
             event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":1,\
             \"output_index\":0,\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"in_progress\",\"role\":\
             \"assistant\",\"content\":[]}}\n\n\
             event: response.content_part.added\ndata: {\"type\":\"response.content_part.added\",\"sequence_number\":2,\
             \"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"text\":\"\",\
             \"annotations\":[]}}\n\n"
        }
        "messages" => {
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m_1\",\"type\":\"message\",\"role\":\
             \"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":\
             {\"input_tokens\":1,\"output_tokens\":1}}}\n\n\
             event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":\
             {\"type\":\"text\",\"text\":\"\"}}\n\n"
        }
        _ => "",
    }
}

/// The values of plain frames: every hole has another one each time.
fn plain() -> Vec<Values> {
    let values = |at: usize| Values {
        text: format!("t{at} "),
        twin: format!("t{at} "),
        word: format!("w{at}x"),
        id: format!("id-{at}"),
        number: (10 + at).to_string(),
    };
    (0..12).map(values).collect()
}

/// A stream of these frames, and how many bytes each has.
fn stream(name: &str, make: MakeFrame, values: &[Values]) -> (Bytes, Vec<usize>) {
    let frames: Vec<String> = values.iter().map(make).collect();
    let body = opening(name).to_owned() + &frames.concat();
    (body.into(), frames.iter().map(String::len).collect())
}

fn with_strings() -> Vec<Made> {
    chains().into_iter().filter(|(name, ..)| name.starts_with("strings")).collect()
}

fn chain(name: &str) -> Made {
    chains().into_iter().find(|(of, ..)| of == name).unwrap()
}

/// What is changed in a frame, by its name.
type Change = (&'static str, fn(&mut Values));

/// Each of these in one frame behind others that leave by the lane.
fn changes() -> Vec<Change> {
    vec![
        ("a word", |values| values.word = "a secret word".to_owned()),
        ("a word with escapes", |values| values.word = "a \\u0073ecre\\u0074 word".to_owned()),
        ("a word of escapes twice", |values| values.word = "a \\\\u0073ecret word".to_owned()),
        ("an empty word", |values| values.word = String::new()),
        ("a word like the text", |values| values.word.clone_from(&values.text)),
        ("an id", |values| values.id = "SECRET".to_owned()),
        ("a long number", |values| values.number = "411111111111".to_owned()),
        ("a number of eleven digits", |values| values.number = "41111111111".to_owned()),
        ("a number of fifteen digits", |values| values.number = "411111111111111".to_owned()),
        ("a number that is too long", |values| values.number = "4111111111111111".to_owned()),
        ("a long number of no kind", |values| values.number = "511111111111".to_owned()),
        ("a text", |values| values.text = "a secret text".to_owned()),
        ("a twin", |values| values.twin = "a secret text".to_owned()),
        ("a text and its twin", |values| {
            values.text = "a secret text".to_owned();
            values.twin = "a secret text".to_owned();
        }),
        ("a text and its twin, one with escapes", |values| {
            values.text = "a secret text".to_owned();
            values.twin = "a \\u0073ecret text".to_owned();
        }),
        ("a text and a word that say the same", |values| {
            values.text = "a secret text".to_owned();
            values.word = "a secret text".to_owned();
        }),
    ]
}

#[test]
fn a_value_in_a_hole_is_the_same_with_the_lane_and_without() {
    quiet();
    for (name, make) in FRAMES {
        for (what, change) in changes() {
            for at in 0..plain().len() {
                let mut values = plain();
                change(&mut values[at]);
                let (whole, frames) = stream(name, make, &values);
                let mut rest = whole.clone();
                let first = rest.split_to(whole.len() - frames.iter().sum::<usize>());
                let by_frame: Vec<Bytes> =
                    [first].into_iter().chain(frames.iter().map(|len| rest.split_to(*len))).collect();
                for chain in with_strings() {
                    let name = format!("{name}: {what} in frame {at}");
                    assert_same(&name, &chain, std::slice::from_ref(&whole), &config());
                    assert_same(&name, &chain, &by_frame, &config());
                }
            }
        }
    }
}

/// Nothing that is searched leaves, wherever it stands: what is left are the texts, which no scrub looks at.
#[test]
fn what_is_found_in_a_hole_does_not_leave() {
    for (name, make) in FRAMES {
        for (what, change) in changes() {
            let mut values = plain();
            change(&mut values[8]);
            let (whole, _) = stream(name, make, &values);
            let (ran, _) = run(&chain("strings alone"), &[whole], config());
            let out = String::from_utf8(ran.out).unwrap();
            let is_word = |out: &str| out.contains("secret word") || out.contains("\\u0074 word");
            assert!(!is_word(&out) && !out.contains("SECRET"), "{name}: {what}: {out}");
            assert!(!out.contains(":411111111111,"), "{name}: {what}: {out}");
        }
    }
}

/// Frames with nothing in their holes leave together, before and behind one that has something.
#[test]
fn frames_without_a_find_leave_by_the_lane() {
    let pieces = |change: fn(&mut Values)| {
        FRAMES.map(|(name, make)| {
            let mut values = plain();
            change(&mut values[8]);
            let (whole, _) = stream(name, make, &values);
            run(&chain("strings"), &[whole], config()).1.len()
        })
    };
    assert_eq!(pieces(|_| {}), [3, 3, 6, 5, 12]);
    assert_eq!(pieces(|values| values.word = "a secret word".to_owned()), [6, 6, 9, 5, 12]);
}

/// Of frames whose strings are put together over frames, all are searched.
#[test]
fn strings_that_are_put_together_over_frames_are_the_same_with_the_lane_and_without() {
    quiet();
    let frame = |text: &str, piece: &str| {
        format!(
            "data: {{\"id\":\"c\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\",\"note\":\"{piece}\"}}}}]}}\n\n"
        )
    };
    let tokens = |text: &str, token: &str| {
        format!(
            "data: {{\"id\":\"c\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"logprobs\":{{\"content\":[{{\"token\":\"{token}\"}}]}}}}]}}\n\n"
        )
    };
    // The same piece in every frame: it is no hole, and no two frames differ in it.
    let same: String = ["one", "two", "three", "four", "five"].map(|text| frame(text, "etsecr")).concat();
    let last: String =
        [("one", ""), ("two", ""), ("three", ""), ("four", "sec"), ("five", "ret"), ("six", "")]
            .map(|(text, piece)| frame(text, piece))
            .concat();
    let spelled: String = ["one", "two", "three", "four"].map(|text| tokens(text, "etsecr")).concat();
    for body in [same, last, spelled] {
        let body = Bytes::from(body);
        for chain in with_strings() {
            assert_same("put together", &chain, std::slice::from_ref(&body), &config());
        }
        let (ran, _) = run(&chain("strings alone"), &[body], config());
        let out = String::from_utf8(ran.out).unwrap();
        let values = |key: &str| -> String {
            out.split(key).skip(1).filter_map(|rest| rest.split('"').next()).collect()
        };
        let joined = [values("\"note\":\""), values("\"token\":\"")].concat();
        assert!(!joined.contains("secret"), "{joined}");
    }
}

/// The text of another choice, as those read it who put all texts together, behind two blocks of which the second is short and
/// leaves by the lane.
#[test]
fn texts_of_several_choices_are_the_same_with_the_lane_and_without() {
    quiet();
    let frame = |choice: usize, delta: &str| {
        format!(
            "data: {{\"id\":\"c\",\"model\":\"m\",\"choices\":[{{\"index\":{choice},\"delta\":{{{delta}}}}}]}}\n\n"
        )
    };
    let text = |choice: usize, text: &str| frame(choice, &format!("\"content\":\"{text}\""));
    let call = "\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]";
    let body = [
        text(0, "one "),
        text(0, "two "),
        text(0, "three s"),
        frame(0, call),
        text(0, "e"),
        text(0, "c"),
        text(0, "r"),
        text(1, "et"),
        text(0, "s"),
        text(1, "ecr"),
        text(1, "et"),
        text(0, " end"),
    ];
    let body = Bytes::from(body.concat());
    let config = config().request(stream_core::Request::new().choices(2));
    for chain in with_strings() {
        assert_same("several choices", &chain, std::slice::from_ref(&body), &config);
    }
    let (ran, _) = run(&chain("strings"), &[body], config);
    let out = String::from_utf8(ran.out).unwrap();
    let texts = out.split("\"content\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    assert_eq!(texts.collect::<String>(), "one two three secr[w]secr[w] end");
}

/// A piece of arguments that begins as its frame does is not taken for the frame's own JSON.
#[test]
fn a_piece_of_arguments_hides_no_string_of_its_frame() {
    quiet();
    let frame = |id: &str, arguments: &str| {
        format!(
            "data: {{\"id\":\"{id}\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\
             \"id\":\"call_1\",\"type\":\"function\",\"function\":{{\"name\":\"ls\",\"arguments\":\"{arguments}\"}}}}]}}}}]}}\n\n"
        )
    };
    let more = |id: &str, arguments: &str| {
        format!(
            "data: {{\"id\":\"{id}\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\
             \"function\":{{\"arguments\":\"{arguments}\"}}}}]}}}}]}}\n\n"
        )
    };
    let first = frame("a secret", "{\\\"id\\\":\\\"a");
    let (ran, _) = run(&chain("strings alone"), &[Bytes::from(first.clone())], config());
    assert_eq!(String::from_utf8(ran.out).unwrap(), first.replace("secret", "[w]"));
    let pieces =
        ["{\\\"id\\\":\\\"", "x1", "y2", "z3 secret", "{}", "[\\\"secret\\\"]", "{\\\"id\\\":\\\"a", "\\\"}"];
    for id in ["a", "a1 secret"] {
        let mut body = frame("a", "");
        for (at, piece) in pieces.iter().enumerate() {
            body.push_str(&more(if at == 5 { id } else { "a" }, piece));
        }
        for chain in with_strings() {
            assert_same("pieces of arguments", &chain, &[Bytes::from(body.clone())], &config());
        }
    }
}
