//! Scripts of whole answers.

use std::time::Duration;

use proptest::prelude::*;

use super::values::{arguments, names, texts};
use crate::{Finish, Fragments, Script};

/// What a model says and how it ends, valid in every format: reasoning, texts and up to four calls in one to three
/// choices, usage, fragments of any size.
pub fn scripts() -> impl Strategy<Value = Script> {
    (turns(), manners()).prop_map(|(turns, manners)| write(&turns, &manners))
}

/// Scripts like those of [`scripts`] that break off within the last item, report an error, or both.
pub fn broken_off_scripts() -> impl Strategy<Value = Script> {
    let how = prop_oneof![Just((true, None)), texts().prop_map(|message| (false, Some(message)))];
    let both = texts().prop_map(|message| (true, Some(message)));
    (scripts(), prop_oneof![3 => how, 1 => both]).prop_map(|(script, (cut, error))| {
        let script = if cut { script.cut() } else { script };
        error.into_iter().fold(script, Script::error)
    })
}

/// What one choice says.
#[derive(Debug, Clone)]
struct Turn {
    reasoning: Option<String>,
    text: Option<String>,
    calls: Vec<(String, String)>,
    /// Of the finish reasons that fit.
    cut_short: bool,
}

/// How all of it is sent.
#[derive(Debug, Clone)]
struct Manners {
    texts: Fragments,
    arguments: Fragments,
    packing: u8,
    usage: Option<(u64, u64)>,
    pings: bool,
    pace: u64,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let calls =
        prop_oneof![Just(Vec::new()).boxed(), prop::collection::vec((names(), arguments()), 1..=4).boxed(),];
    let turn = (prop::option::of(texts()), prop::option::of(texts()), calls, prop::bool::weighted(0.15));
    let turn = turn.prop_map(|(reasoning, text, calls, cut_short)| {
        // A turn that ends plainly says something.
        let text = text.or_else(|| calls.is_empty().then(|| "a".to_owned()));
        Turn { reasoning, text, calls, cut_short }
    });
    let turn = turn.boxed();
    prop_oneof![
        3 => prop::collection::vec(turn.clone(), 1..=1),
        1 => prop::collection::vec(turn, 2..=3),
    ]
}

fn manners() -> impl Strategy<Value = Manners> {
    let usage = prop::option::of((0..10_000_u64, 0..10_000_u64));
    (fragments(), fragments(), 0..4_u8, usage, any::<bool>(), 0..9_u64).prop_map(
        |(texts, arguments, packing, usage, pings, pace)| Manners {
            texts,
            arguments,
            packing,
            usage,
            pings,
            pace,
        },
    )
}

fn fragments() -> impl Strategy<Value = Fragments> {
    prop_oneof![
        Just(Fragments::Whole),
        (1..12_usize).prop_map(Fragments::Chars),
        (1..12_usize).prop_map(Fragments::Bytes)
    ]
}

fn write(turns: &[Turn], manners: &Manners) -> Script {
    let mut script = Script::new()
        .text_fragments(manners.texts)
        .argument_fragments(manners.arguments)
        .pace(Duration::from_millis(manners.pace));
    for (choice, turn) in (0..).zip(turns) {
        script = script.choice(choice);
        script = turn.reasoning.iter().fold(script, Script::reasoning);
        script = turn.text.iter().fold(script, Script::text);
        for (number, (name, arguments)) in turn.calls.iter().enumerate() {
            script = script.call(format!("call_{choice}{number}"), name, arguments);
        }
        if turn.cut_short {
            script = script.finish(Finish::Length);
        }
    }
    if let Some((input, output)) = manners.usage {
        script = script.usage(input, output);
    }
    if manners.pings {
        script = script.pings();
    }
    match manners.packing {
        1 => script.calls_in_one_chunk(),
        2 => script.in_one_chunk(),
        // Calls of one choice that alternate break the protocol (rule 5): only choices do.
        3 if turns.iter().all(|turn| turn.calls.len() < 2) => script.interleaved(),
        _ => script,
    }
}
