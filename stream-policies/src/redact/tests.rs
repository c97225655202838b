use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use stream_core::Action;
use stream_testkit::conformance::Ended;
use stream_testkit::{ChunkLog, Cut, Finish, Fragments, Replay, Script, WireKind, laws};

use super::arguments::{self, Redacted};
use super::{AtLimit, Place, Preset, Redact, RedactSettings, all_presets};
use crate::matcher::{BlockEnds, Pattern, Patterns};
use crate::testing::{assert_lawful, assert_says, everywhere, run, seen};

const KEY: &str = "sk-abcdefghijklmnopqrstuvwx";

/// All presets, compiled once.
fn all() -> Redact {
    static ALL: LazyLock<Redact> = LazyLock::new(|| {
        Preset::ALL.into_iter().fold(RedactSettings::default(), RedactSettings::preset).build().unwrap()
    });
    ALL.clone()
}

fn words() -> Redact {
    RedactSettings::default().pattern(Pattern::literal("word", "secret")).build().unwrap()
}

/// Text in these pieces.
fn pieces(text: &str, chars: usize) -> Script {
    Script::new()
        .text_fragments(Fragments::Chars(chars))
        .argument_fragments(Fragments::Chars(chars))
        .text(text)
}

#[test]
fn secrets_are_found_across_any_border_in_every_format() {
    let text =
        format!("Key {KEY}, mail jané jane@example.com. Card 4111 1111 1111 1111 or 4111 1111 1111 1112!");
    let clean = "Key [redacted], mail jané [redacted]. Card [redacted] or 4111 1111 1111 1112!";
    for chars in [1, 2, 3, 7, 1000] {
        assert_says(&all(), &pieces(&text, chars), &pieces(clean, chars));
    }
}

#[test]
fn reasoning_that_is_not_signed_and_refusals_are_redacted_too() {
    let script = |said: &str| {
        Script::new().text_fragments(Fragments::Chars(4)).reasoning(said).text(said).refusal(said)
    };
    let log = script("It is secret.").to_log(WireKind::OpenAiChat);
    let clean = script("It is [redacted].").to_log(WireKind::OpenAiChat);
    assert_eq!(seen("chat", &run(&words(), &log)), seen("clean", &Replay::new(&clean).run()));
}

#[test]
fn signed_reasoning_is_emptied_as_a_whole_or_left_as_it_came_rule_22() {
    for kind in [WireKind::AnthropicMessages, WireKind::OpenAiResponses] {
        let script = Script::new()
            .text_fragments(Fragments::Chars(3))
            .reasoning("All of this is secret, even this.")
            .text("Hello.");
        let replayed = run(&words(), &script.to_log(kind));
        let choice = &seen("emptied", &replayed).choices[0];
        assert_eq!((choice.reasoning.as_str(), choice.content.as_str()), ("", "Hello."), "{kind}");

        let script =
            Script::new().text_fragments(Fragments::Chars(3)).reasoning("Nothing here.").text("Hello.");
        let log = script.to_log(kind);
        assert_eq!(run(&words(), &log).bytes(), *log.bytes(), "{kind}");
    }
}

#[test]
fn text_without_a_hit_leaves_as_the_bytes_that_came() {
    let script = Script::new()
        .text_fragments(Fragments::Chars(2))
        .reasoning("Thinking of sec and sk-abc.")
        .text("A sec, se cret, jane@ example.")
        .call("call_1", "look", r#"{"path":"sec\u0020ret"}"#)
        .usage(3, 4);
    for (kind, log) in everywhere(&script) {
        for policy in [words(), all()] {
            assert_eq!(run(&policy, &log).bytes(), *log.bytes(), "{kind}, {}", log.name());
        }
    }
}

#[test]
fn a_match_may_go_on_behind_a_finish() {
    // Rule 8: clients put a choice's text together across a finish.
    let chunk = |delta: &str, finish: &str| {
        format!(
            r#"data: {{"object":"chat.completion.chunk","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}"#
        )
    };
    let body = [
        chunk(r#"{"role":"assistant","content":"a sec"}"#, "null"),
        chunk("{}", r#""stop""#),
        chunk(r#"{"content":"ret b"}"#, "null"),
        chunk("{}", r#""stop""#),
        "data: [DONE]".to_owned(),
    ];
    let body = body.iter().map(|line| format!("{line}\n\n")).collect::<String>();
    let log = ChunkLog::parse("finishes.sse", body.as_bytes()).unwrap();
    let out = String::from_utf8(run(&words(), &log).bytes().to_vec()).unwrap();
    let said: Vec<&str> =
        out.split(r#""content":""#).skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(said.concat(), "a [redacted] b");
}

#[test]
fn a_match_may_go_on_in_the_next_block() {
    let split = Script::new().text("a sec").call("call_1", "look", "{}").text("ret b");
    for kind in [WireKind::OpenAiChat, WireKind::OpenAiResponses, WireKind::Gemini] {
        let view = seen("split", &run(&words(), &split.to_log(kind)));
        assert_eq!(view.choices[0].content, "a [redacted] b", "{kind}");
    }
}

#[test]
fn a_block_that_decides_at_its_end_does_not_wait_and_the_rest_is_found() {
    let policy = RedactSettings::default()
        .pattern(Pattern::literal("word", "secret"))
        .block_ends(BlockEnds::Decide)
        .build()
        .unwrap();
    let split = Script::new().text("a sec").call("call_1", "look", "{}").text("ret b");
    let view = seen("split", &run(&policy, &split.to_log(WireKind::OpenAiChat)));
    assert_eq!(view.choices[0].content, "a sec[redacted] b");
    let whole = Script::new().text("a secret").call("call_1", "look", "{}").text(" b");
    let view = seen("whole", &run(&policy, &whole.to_log(WireKind::OpenAiChat)));
    assert_eq!(view.choices[0].content, "a [redacted] b");
}

#[test]
fn an_answer_does_not_wait_for_the_reasoning_before_it() {
    let log = Script::new()
        .reasoning("Well, a sec")
        .text("Now. ")
        .pause(std::time::Duration::from_secs(5))
        .text("Then.")
        .to_log(WireKind::OpenAiChat);
    let replayed = run(&words(), &log);
    let early = replayed.output.iter().take_while(|(at, _)| at.is_zero());
    let early: Vec<u8> = early.flat_map(|(_, bytes)| bytes.to_vec()).collect();
    assert!(String::from_utf8(early).unwrap().contains("Now. "));
}

#[test]
fn arguments_are_matched_decoded_and_stay_json() {
    let input =
        r#"{"s\u0065cret":[1,"a \u0073ecret\n\"b\"",4111111111111111,true],"n":-1.50e3,"ok":"\u0041"}"#;
    let clean = r#"{"[redacted]":[1,"a [redacted]\n\"b\"","[redacted]",true],"n":-1.50e3,"ok":"\u0041"}"#;
    let policy = RedactSettings::default()
        .preset(Preset::CardNumber)
        .pattern(Pattern::literal("word", "secret"))
        .build()
        .unwrap();
    let script = |arguments: &str| {
        Script::new()
            .argument_fragments(Fragments::Chars(5))
            .text("Look.")
            .call("call_1", "look", arguments)
            .call("call_2", "list", "{}")
    };
    assert_says(&policy, &script(input), &script(clean));
}

#[test]
fn arguments_that_are_no_json_and_hold_a_secret_are_not_sent() {
    let patterns = Patterns::new(&[Pattern::literal("word", "secret")]).unwrap();
    let redact = |arguments: &str| arguments::redact(arguments, &patterns, |_| "x".to_owned());
    assert_eq!(redact(""), Redacted::Clean);
    assert_eq!(redact(r#"{"a":"sec"#), Redacted::Clean);
    assert_eq!(redact(r#"{"a":"\u0073ecret"#), Redacted::Unreadable { rules: vec![0] });
    assert_eq!(redact("look secret"), Redacted::Unreadable { rules: vec![0] });
    assert_eq!(
        redact(r#"{"a":"\ud800secret"}"#),
        Redacted::Changed { arguments: "{\"a\":\"\u{fffd}x\"}".to_owned(), rules: vec![0] }
    );

    let script = Script::new().text("Look.").call("call_1", "look", "look secret");
    let replayed = run(&words(), &script.to_log(WireKind::OpenAiChat));
    let view = seen("dropped", &replayed);
    assert_eq!((view.choices[0].calls.len(), view.choices[0].finish.as_deref()), (0, Some("stop")));
    let reasons: Vec<_> = replayed.decisions.iter().filter_map(|d| d.reason.as_deref()).collect();
    assert_eq!(reasons, ["found word in arguments that are no JSON"]);
}

#[test]
fn every_copy_of_the_text_is_redacted_in_responses_rule_19() {
    let script = Script::new().text_fragments(Fragments::Chars(3)).text("It is secret.").call(
        "call_1",
        "look",
        r#"{"a":"secret"}"#,
    );
    let replayed = run(&words(), &script.to_log(WireKind::OpenAiResponses));
    seen("copies", &replayed);
    let out = String::from_utf8(replayed.bytes().to_vec()).unwrap();
    assert!(!out.contains("secret"), "{out}");
    // Done event, part, item, response; deltas come in pieces.
    assert_eq!(out.matches("It is [redacted].").count(), 4, "{out}");
}

#[test]
fn log_probabilities_do_not_spell_what_was_redacted_rule_19() {
    let chunk = |text: &str, token: &str| {
        format!(
            r#"data: {{"object":"chat.completion.chunk","choices":[{{"index":0,"delta":{{"content":"{text}"}},"logprobs":{{"content":[{{"token":"{token}","logprob":-0.1,"bytes":null,"top_logprobs":[]}}]}},"finish_reason":null}}]}}"#
        )
    };
    let mut body: String =
        ["It is ", "sec", "ret", "."].iter().map(|piece| format!("{}\n\n", chunk(piece, piece))).collect();
    body.push_str("data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    let log = ChunkLog::parse("logprobs.sse", body.as_bytes()).unwrap();
    let out = String::from_utf8(run(&words(), &log).bytes().to_vec()).unwrap();
    assert!(!out.contains("sec") && !out.contains("ret"), "{out}");
    assert!(out.contains("[redacted]"), "{out}");
}

#[test]
fn decisions_name_the_pattern_and_never_what_it_found() {
    let policy = RedactSettings::default().preset(Preset::ApiKey).replacement("<{name}>").build().unwrap();
    let log = pieces(&format!("Key {KEY}!"), 5).to_log(WireKind::OpenAiChat);
    let replayed = run(&policy, &log);
    assert_eq!(seen("named", &replayed).choices[0].content, "Key <api_key>!");
    assert!(replayed.decisions.iter().all(|decision| {
        decision.action == Action::Edited && decision.reason.as_deref() == Some("found api_key")
    }));
    let told = format!("{:?}", replayed.decisions);
    assert!(!told.contains("abcdef"), "{told}");
}

#[test]
fn over_the_hold_limit_text_is_redacted_or_the_stream_ends() {
    let settings = RedactSettings::default().pattern(Pattern::regex("key", "(?s)BEGIN.*?END"));
    let text = format!("a BEGIN{}END b", "k".repeat(100));
    let log = pieces(&text, 9).to_log(WireKind::AnthropicMessages);

    let redact = settings.clone().hold_limit(32, AtLimit::Redact).build().unwrap();
    assert_eq!(seen("redact", &run(&redact, &log)).choices[0].content, "a [redacted]b");

    let terminate = settings.hold_limit(32, AtLimit::Terminate).build().unwrap();
    let view = seen("terminate", &run(&terminate, &log));
    assert_eq!((view.choices[0].content.as_str(), view.ended), ("", Ended::Error));
}

#[test]
fn it_says_what_it_looks_at() {
    use stream_core::{Attention, Channel, Request, SyncPolicy};
    let content = RedactSettings::default().preset(Preset::Jwt).places([Place::Content]).build().unwrap();
    let needs = SyncPolicy::needs(&content, &Request::new());
    let channels =
        [Channel::Content, Channel::Reasoning, Channel::Refusal].map(|channel| needs.of_channel(channel));
    assert_eq!(channels, [Attention::Chunks, Attention::Nothing, Attention::Nothing]);
    assert_eq!((needs.of_calls(), needs.of_opaque()), (Attention::Nothing, Attention::Nothing));
}

#[test]
fn presets_find_what_they_say() {
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl";
    let azure = format!("AccountKey={}==", "a".repeat(86));
    let github = format!("ghp_{}", "a1".repeat(18));
    let google = format!("AIza{}", "b".repeat(35));
    let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE+x/é\n-----END RSA PRIVATE KEY-----";
    let patterns = all_presets();
    let compiled = Patterns::new(&patterns).unwrap();
    for (secret, preset) in [
        ("AKIAIOSFODNN7EXAMPLE", Preset::CloudKey),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", Preset::CloudKey),
        (google.as_str(), Preset::CloudKey),
        (azure.as_str(), Preset::CloudKey),
        (KEY, Preset::ApiKey),
        (github.as_str(), Preset::ApiKey),
        ("xoxb-123456789012-abcdef", Preset::ApiKey),
        ("sk_live_abcdefghijklmnop", Preset::ApiKey),
        (pem, Preset::PrivateKey),
        (jwt, Preset::Jwt),
        ("jane.doe+x@mail.example.com", Preset::Email),
        ("4111-1111-1111-1111", Preset::CardNumber),
        ("378282246310005", Preset::CardNumber),
        ("DE89 3704 0044 0532 0130 00", Preset::Iban),
        ("GB82WEST12345698765432", Preset::Iban),
    ] {
        for text in [secret.to_owned(), format!("x {secret} y"), format!("x\n{secret}.")] {
            let start = text.find(secret).unwrap();
            let hits = compiled.find_all(&text);
            let found: Vec<_> =
                hits.iter().map(|hit| (compiled.name(hit.rule), hit.start..hit.end)).collect();
            assert_eq!(found, [(preset.name(), start..start + secret.len())], "{text:?}");
        }
    }
    for harmless in
        ["AKIA is a prefix", "sk-learn", "a@b", "1234 5678 9012 3456", "-----BEGIN CERTIFICATE-----"]
    {
        assert_eq!(compiled.find_all(harmless), [], "{harmless:?}");
    }
}

#[test]
fn a_private_key_that_is_cut_off_does_not_leave() {
    let script = pieces("Here: -----BEGIN PRIVATE KEY-----\nMIIE", 4);
    let clean = pieces("Here: [redacted]", 4);
    assert_says(&all(), &script, &clean);
    let cut = script.cut().to_log(WireKind::OpenAiChat);
    let replayed = Replay::new(&cut).policy(all).run();
    assert!(!String::from_utf8_lossy(&replayed.bytes()).contains("MIIE"));
}

#[test]
fn all_laws_hold() {
    // Other words in the arguments: the law takes a call's words for its own.
    let policy = RedactSettings::default()
        .pattern(Pattern::literal("word", "secret"))
        .pattern(Pattern::literal("argument", "hidden"))
        .build()
        .unwrap();
    let script = Script::new()
        .text_fragments(Fragments::Chars(5))
        .argument_fragments(Fragments::Chars(5))
        .reasoning("The secret is out, jane@example.com.")
        .text("It is secret. Or sec. Write to jane@example.com!")
        .call("call_1", "look", r#"{"a":"hidden","b":1}"#)
        .usage(1, 2);
    assert_lawful(&policy, &script, &[]);
    for kind in WireKind::ALL {
        let log = script.to_log(kind);
        if let Err(broken) = laws::Laws::of(all).cut(Cut::Event).check(&log) {
            panic!("{kind}: {broken}");
        }
    }
}

#[test]
fn settings_are_read_and_wrong_ones_refused() {
    let read = |json: &str| serde_json::from_str::<RedactSettings>(json).map_err(|error| error.to_string());
    let settings = read(
        r#"{"presets":["api_key","card_number"],"patterns":[{"name":"t","regex":"TCK-[0-9]+"}],
            "places":["content","arguments"],"replacement":"*","block_ends":"wait","hold_limit":9,"at_limit":"terminate"}"#,
    );
    let expected = RedactSettings::default()
        .preset(Preset::ApiKey)
        .preset(Preset::CardNumber)
        .pattern(Pattern::regex("t", "TCK-[0-9]+"))
        .places([Place::Content, Place::Arguments])
        .replacement("*")
        .block_ends(BlockEnds::Wait)
        .hold_limit(9, AtLimit::Terminate);
    assert_eq!(settings, Ok(expected));
    let unknown = read(r#"{"presets":["keys"]}"#).unwrap_err();
    assert!(
        unknown.starts_with("unknown variant `keys`, expected one of `cloud_key`, `api_key`"),
        "{unknown}"
    );
    assert!(read(r#"{"at_limit":"release"}"#).is_err());
    assert!(read(r#"{"limit":1}"#).is_err());
    let empty = RedactSettings::default().build().unwrap_err();
    assert_eq!(empty.to_string(), "redact: expected a preset or a pattern, found none");
}

#[test]
fn a_turn_of_reasoning_is_not_empty_because_a_chunk_of_it_is() {
    // Rule 21: the notice stands in for a turn of which nothing is left, however its text was split.
    for chars in [2, 100] {
        let input = Script::new()
            .text_fragments(Fragments::Chars(chars))
            .reasoning("A secret")
            .finish(Finish::Length);
        for kind in [WireKind::OpenAiChat, WireKind::Gemini] {
            let view = seen(&kind.to_string(), &run(&words(), &input.to_log(kind)));
            let choice = &view.choices[0];
            assert_eq!(
                (choice.reasoning.as_str(), choice.content.as_str()),
                ("A [redacted]", ""),
                "{kind}, {chars}"
            );
        }
    }
}

/// Rule 21: what a client does not read is no answer.
#[test]
fn a_turn_whose_only_call_is_dropped_for_its_name_is_not_left_empty_beside_a_message() {
    let chunk = |members: &str, finish: &str| {
        let choice = format!("{{\"index\":0,{members},\"finish_reason\":{finish}}}");
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{choice}]}}\n\n"
        )
    };
    let twice = |delta: &str| format!("\"delta\":{delta},\"message\":{delta}");
    let opens = r#"{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"tell-secret","arguments":"{}"}}]}"#;
    let ends = r#"{"role":"assistant","content":null,"tool_calls":null}"#;
    let body = chunk(&twice(opens), "null") + &chunk(&twice(ends), "\"tool_calls\"");
    let log = ChunkLog::from_chunks("message", [(Duration::ZERO, Bytes::from(body))]);
    let expected = [
        chunk(r#""delta":{"role":"assistant"}"#, "null"),
        chunk(r#""delta":{"content":"[withheld by policy]"}"#, "null"),
        chunk(r#""delta":{}"#, "\"stop\""),
    ];
    assert_eq!(String::from_utf8_lossy(&run(&words(), &log).bytes()), expected.concat());
}
