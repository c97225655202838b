use std::ops::Range;

use proptest::prelude::*;

use super::oracle::{Oracle, source, spans, streamed};
use super::{Hit, Matcher, OVER_LIMIT, Pattern, Patterns};

fn regex_source() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        6 => prop_oneof![Just("a"), Just("b"), Just("c"), Just(" "), Just("é")],
        3 => prop_oneof![Just("[ab]"), Just("[^a]"), Just("."), Just("[a-cé]")],
        1 => prop_oneof![Just(r"(?-u:\b)"), Just(r"\A"), Just(r"\z"), Just("(?m:^)"), Just("(?m:$)")],
    ]
    .prop_map(str::to_owned);
    atom.prop_recursive(4, 12, 3, |inner| {
        let suffix = prop_oneof![
            Just("*"),
            Just("+"),
            Just("?"),
            Just("*?"),
            Just("+?"),
            Just("??"),
            Just("{2}"),
            Just("{1,3}"),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 2..3).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (inner, suffix).prop_map(|(part, suffix)| format!("(?:{part}){suffix}")),
        ]
    })
}

fn pattern() -> impl Strategy<Value = Pattern> {
    let literal = "[abcAé ]{1,4}";
    prop_oneof![
        3 => regex_source().prop_map(|regex| Pattern::regex("regex", regex)),
        1 => literal.prop_map(|text| Pattern::literal("literal", text)),
        1 => literal.prop_map(|text| Pattern::literal("any case", text).ignore_case()),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "A", " ", "é", "\n"]), 0..40)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_piece_by_piece_is_what_is_found_in_the_whole(
        patterns in prop::collection::vec(pattern(), 1..4),
        text in text(),
        cuts in prop::collection::vec(0_usize..80, 0..8),
    ) {
        let compiled = Patterns::new(&patterns);
        prop_assume!(compiled.is_ok());
        let compiled = compiled.unwrap();
        let expected = Oracle::new(&patterns).find(&text);
        let sources: Vec<String> = patterns.iter().map(source).collect();
        prop_assert_eq!(spans(&compiled.find_all(&text)), &expected[..], "whole {:?} of {:?}", sources, text);
        let every: Vec<usize> = (0..=text.len()).collect();
        for cuts in [&cuts, &every] {
            let (hits, _) = streamed(&compiled, &text, cuts, usize::MAX);
            prop_assert_eq!(spans(&hits), &expected[..], "{:?} of {:?}", sources, text);
        }
    }

    #[test]
    fn what_is_withheld_over_the_limit_does_not_depend_on_the_pieces(
        patterns in prop::collection::vec(pattern(), 1..4),
        text in text(),
        limit in 0_usize..12,
        cuts in prop::collection::vec(0_usize..80, 0..8),
    ) {
        let compiled = Patterns::new(&patterns);
        prop_assume!(compiled.is_ok());
        let compiled = compiled.unwrap();
        let joined = |cuts: &[usize]| {
            let mut joined: Vec<(usize, Range<usize>)> = Vec::new();
            for hit in streamed(&compiled, &text, cuts, limit).0 {
                match joined.last_mut() {
                    Some((_, range)) if hit.continues && range.end == hit.start => range.end = hit.end,
                    _ => joined.push((hit.rule, hit.start..hit.end)),
                }
            }
            joined
        };
        let every: Vec<usize> = (0..=text.len()).collect();
        let whole = joined(&[]);
        prop_assert_eq!(joined(&cuts), &whole[..]);
        prop_assert_eq!(joined(&every), &whole[..]);
        for (_, range) in &whole {
            prop_assert!(text.is_char_boundary(range.start) && text.is_char_boundary(range.end));
        }
    }
}

/// Pieces of text in which secrets begin, end, overlap and nearly are.
fn secrets() -> impl Strategy<Value = String> {
    let key = "abcdefghijklmnopqrstuvwx";
    let pieces = vec![
        "the words ".to_owned(),
        " ".to_owned(),
        "_".to_owned(),
        ".".to_owned(),
        "\\n".to_owned(),
        "%3D".to_owned(),
        "é".to_owned(),
        "x".to_owned(),
        "9".to_owned(),
        "X".to_owned(),
        format!("sk-{key}"),
        "sk-".to_owned(),
        "sk_live_abcdefghijklmnop".to_owned(),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        "AKIA".to_owned(),
        format!("AIza{}", "b".repeat(35)),
        "ghp_".to_owned(),
        "a1".repeat(18),
        "eyJhbGciOiJI.eyJzdWIiOi.c2ln".to_owned(),
        "eyJ".to_owned(),
        "jane@example.com".to_owned(),
        "@".to_owned(),
        ".co".to_owned(),
        "4111 1111 1111 1111".to_owned(),
        "4111".to_owned(),
        "1111 ".to_owned(),
        "DE89 3704 0044 0532 0130 00".to_owned(),
        "GB82".to_owned(),
        "-----BEGIN PRIVATE KEY-----".to_owned(),
        "-----END PRIVATE KEY-----".to_owned(),
        "-----".to_owned(),
        "aws_secret_access_key = ".to_owned(),
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..14).prop_map(|parts| parts.concat())
}

/// The patterns of all presets, compiled once.
fn presets() -> &'static (Vec<Pattern>, Patterns, Oracle) {
    static ALL: std::sync::LazyLock<(Vec<Pattern>, Patterns, Oracle)> = std::sync::LazyLock::new(|| {
        let patterns = crate::redact::all_presets();
        let (compiled, oracle) = (compiled(&patterns), Oracle::new(&patterns));
        (patterns, compiled, oracle)
    });
    &ALL
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_presets_find_in_any_pieces_is_what_they_find_in_the_whole(
        text in secrets(),
        cuts in prop::collection::vec(0_usize..400, 0..8),
    ) {
        let (_, compiled, oracle) = presets();
        let expected = oracle.find(&text);
        prop_assert_eq!(spans(&compiled.find_all(&text)), &expected[..], "{:?}", text);
        let every: Vec<usize> = (0..=text.len()).collect();
        for cuts in [&cuts, &every] {
            let (hits, _) = streamed(compiled, &text, cuts, usize::MAX);
            prop_assert_eq!(spans(&hits), &expected[..], "{:?}", text);
        }
    }
}

#[test]
fn tables_of_all_presets_are_small_and_built_soon() {
    let start = cpu_time::ThreadTime::now();
    let patterns = compiled(&crate::redact::all_presets());
    let took = start.elapsed();
    assert!(patterns.memory() <= 2 << 20, "{} bytes", patterns.memory());
    assert!(took.as_secs_f64() < 5.0, "{took:?}");
}

#[test]
fn overlapping_matches_of_several_patterns_are_all_found() {
    let patterns = compiled(&[
        Pattern::literal("first", "abcd"),
        Pattern::literal("second", "cdef"),
        Pattern::regex("third", "f[0-9]+"),
    ]);
    for text in ["xabcdef12 y", "xabcdef12"] {
        assert_eq!(spans(&patterns.find_all(text)), [(0, 1..9)]);
        let every: Vec<usize> = (0..=text.len()).collect();
        assert_eq!(spans(&streamed(&patterns, text, &every, usize::MAX).0), [(0, 1..9)]);
    }
}

#[test]
fn a_chunk_of_prose_is_held_only_where_a_secret_can_have_begun() {
    let (patterns, _, _) = presets();
    let keys: Vec<Pattern> = patterns.iter().filter(|pattern| pattern.name() != "email").cloned().collect();
    let mut matcher = Matcher::new(compiled(&keys), usize::MAX);
    let mut hits = Vec::new();
    for (piece, held) in
        [("The task", 0), ("s as", 2), ("k for", 0), (" s", 1), ("uch a", 1), (" DE", 2), ("N", 0)]
    {
        matcher.push(piece, &mut hits);
        assert_eq!(matcher.end() - matcher.decided(), held, "{piece:?}");
    }
    assert_eq!(hits, []);
}

fn compiled(patterns: &[Pattern]) -> Patterns {
    Patterns::new(patterns).unwrap()
}

#[test]
fn text_is_decided_as_soon_as_no_match_can_be_under_way() {
    let patterns = compiled(&[
        Pattern::regex("key", r"(?-u:\b)sk-[a-z]{3,}"),
        Pattern::regex("mail", "[a-z]+@[a-z]+"),
        Pattern::literal("name", "blue bird"),
    ]);
    let mut matcher = Matcher::new(patterns, usize::MAX);
    let mut hits = Vec::new();
    for (piece, decided) in
        [("1, 2", 4), (" sk", 5), (" is", 8), (" no", 11), (" blue", 14), (" ", 14), ("x ", 21)]
    {
        matcher.push(piece, &mut hits);
        assert_eq!(matcher.decided(), decided, "{piece:?}");
    }
    assert_eq!(hits, []);
}

#[test]
fn a_lazy_match_is_decided_at_its_end() {
    let patterns = compiled(&[Pattern::regex("tag", "(?s)<x>.*?</x>")]);
    let (hits, _) = streamed(&patterns, "a<x>b</x>c</x>", &[], usize::MAX);
    assert_eq!(spans(&hits), [(0, 1..9)]);
    let mut matcher = Matcher::new(patterns, usize::MAX);
    matcher.push("a<x>b</x>c", &mut Vec::new());
    assert_eq!(matcher.decided(), 10);
}

#[test]
fn limited_patterns_hold_no_more_than_their_length() {
    let patterns = compiled(&[Pattern::regex("four", "a{3}b"), Pattern::literal("five", "aaaac")]);
    let mut matcher = Matcher::new(patterns, usize::MAX);
    matcher.push(&"a".repeat(100), &mut Vec::new());
    assert_eq!(matcher.decided(), 95);
}

#[test]
fn over_the_limit_everything_is_withheld_until_no_match_is_under_way() {
    let patterns = compiled(&[Pattern::regex("key", "(?s)BEGIN.*?END")]);
    let text = format!("x BEGIN{}END y", "k".repeat(50));
    let (hits, _) = streamed(&patterns, &text, &[20, 40], 10);
    assert_eq!(hits, [Hit::new(OVER_LIMIT, 2, text.len() - 1)]);
    assert_eq!(&text[text.len() - 1..], "y");
}

#[test]
fn work_is_linear_in_the_text() {
    let presets = crate::redact::all_presets();
    let patterns = compiled(&presets);
    let machines = presets.len() as u64;
    for sample in [
        "The quick brown fox jumps over jane@example.com, 4111 1111 1111 1111 and sk-abcdefghijklmnopqrstuvwx. ",
        "1234 5678 9012 3456 7890 ",
        "AB12 CD34 EF56 GH78 IJ90 KL12 MN34 OP56 ",
        "a.b.c@d.e.f@g.h.i@",
        "-----BEGIN PRIVATE KEY-----",
        "eyJeyJeyJeyJ.eyJeyJeyJ.",
    ] {
        let steps = |copies: usize| {
            let text = sample.repeat(copies);
            let every: Vec<usize> = (0..text.len()).step_by(7).collect();
            streamed(&patterns, &text, &every, 64 << 10).1.steps()
        };
        let (short, long) = (steps(200), steps(1600));
        assert!(long <= short * 9, "{sample:?}: {short} steps, then {long} for eight times as much");
        assert!(short <= machines * 40 * 200 * sample.len() as u64, "{sample:?}: {short} steps");
    }
}

#[test]
fn patterns_that_cannot_be_used_are_refused_with_the_reason() {
    for (pattern, message) in [
        (
            Pattern::regex("p", "a*"),
            "pattern \"p\": expected a regex that matches something, found one that also matches the empty text, \
             which is everywhere",
        ),
        (
            Pattern::regex("p", r"\bcat\b"),
            r#"pattern "p": expected the word boundary of ASCII, `(?-u:\b)`, found that of Unicode, `\b`"#,
        ),
        (
            Pattern::regex("p", "[a&&b]"),
            "pattern \"p\": expected a regex that matches something, found one that never matches",
        ),
        (
            Pattern::regex("p", r"(\w{50}|\w{60}x){20}"),
            "pattern \"p\": expected a regex that compiles to at most 16 MiB, found a larger one: use [0-9] for \\d, \
             [A-Za-z0-9_] for \\w, smaller repetitions",
        ),
        (
            Pattern::literal("p", ""),
            "pattern \"p\": expected a literal, found an empty one, which would match everywhere",
        ),
    ] {
        assert_eq!(Patterns::new(&[pattern]).unwrap_err().to_string(), message);
    }
    let broken = Patterns::new(&[Pattern::regex("p", "a(")]).unwrap_err().to_string();
    assert!(broken.starts_with("pattern \"p\": expected a regex, found regex parse error"), "{broken}");
}

#[test]
fn patterns_are_read_from_settings() {
    let read = |json: &str| serde_json::from_str::<Pattern>(json).map_err(|error| error.to_string());
    assert_eq!(read(r#"{"name":"t","regex":"a+"}"#), Ok(Pattern::regex("t", "a+")));
    assert_eq!(
        read(r#"{"name":"t","literal":"a","ignore_case":true}"#),
        Ok(Pattern::literal("t", "a").ignore_case())
    );
    let message = |json: &str| read(json).unwrap_err();
    assert_eq!(message(r#"{"name":"t"}"#), "pattern \"t\": expected `regex` or `literal`, found neither");
    assert_eq!(
        message(r#"{"name":"t","regex":"a","literal":"b"}"#),
        "pattern \"t\": expected `regex` or `literal`, found both"
    );
    assert_eq!(
        message(r#"{"name":"t","regex":"a","ignore_case":true}"#),
        "pattern \"t\": expected `(?i)` in the regex to ignore case, found `ignore_case`"
    );
}
