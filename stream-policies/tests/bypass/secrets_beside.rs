//! Secrets beside the answer: what the provider ran or made, annotations, ids, errors, fields nobody knows (rule 28).

use stream_core::{Action, Stage};
use stream_policies::{Pattern, Place, Redact, RedactSettings};

use crate::kit::{Ran, anthropic, chat, data, gemini, named, responses, run, whole};

/// A key as it is written, and as no text says it by chance.
const KEY: &str = "SECRET-1234";

fn settings() -> RedactSettings {
    RedactSettings::default().pattern(Pattern::regex("key", "SECRET-[0-9]{4}"))
}

fn redact() -> Redact {
    settings().build().unwrap()
}

/// Runs a stream in every cut: the key is gone, and the stream ended as it does without it.
#[track_caller]
fn assert_gone(what: &str, body: &str) -> Ran {
    assert!(body.contains("1234"), "{what} holds no key");
    let ran = run(redact, body);
    assert_eq!(ran.out.matches("1234").count(), 0, "{what}: {}", ran.out);
    assert_eq!(ran.error, None, "{what}");
    ran
}

/// The same stream with other words leaves as it came.
#[track_caller]
fn assert_gone_and_else_untouched(what: &str, body: &str) {
    assert_gone(what, body);
    let harmless = body.replace(KEY, "a word");
    assert_eq!(run(redact, &harmless).out, harmless, "{what}");
}

fn anthropic_block(block: &str) -> String {
    use anthropic::{end, open, start, stop};
    start() + &open(0, block) + &stop(0) + &end("end_turn")
}

#[test]
fn what_an_anthropic_server_ran_and_found_is_searched() {
    let result = format!(r#"{{"type":"web_search_result","title":"{KEY}","url":"https://x/{KEY}"}}"#);
    for block in [
        format!(r#"{{"type":"server_tool_use","id":"t1","name":"web_search","input":{{"query":"{KEY}"}}}}"#),
        format!(r#"{{"type":"server_tool_use","id":"{KEY}","name":"web_search","input":{{}}}}"#),
        format!(r#"{{"type":"web_search_tool_result","tool_use_id":"t1","content":[{result}]}}"#),
        format!(
            r#"{{"type":"mcp_tool_result","tool_use_id":"t1","content":[{{"type":"text","text":"{KEY}"}}]}}"#
        ),
        format!(r#"{{"type":"nobody_knows","deep":[[{{"er":"{KEY}"}}]]}}"#),
        r#"{"type":"nobody_knows","escaped":"\u0053ECRET-1234"}"#.to_owned(),
        r#"{"type":"nobody_knows","json":"{\"k\":\"\\u0053ECRET-1234\"}"}"#.to_owned(),
    ] {
        assert_gone(&block, &anthropic_block(&block));
        let harmless = block.replace("ECRET-1234", "ECRET");
        let body = anthropic_block(&harmless);
        assert_eq!(run(redact, &body).out, body, "{harmless}");
    }
}

#[test]
fn the_input_of_a_tool_that_the_provider_runs_is_searched_over_its_pieces() {
    use anthropic::{delta, end, open, start, stop, text};
    let piece = |json: &str| {
        let json = serde_json::Value::from(json);
        delta(0, &format!(r#"{{"type":"input_json_delta","partial_json":{json}}}"#))
    };
    let body = |pieces: &[&str]| {
        let opening = open(0, r#"{"type":"server_tool_use","id":"t1","name":"web_search","input":{}}"#);
        let pieces: String = pieces.iter().map(|json| piece(json)).collect();
        start() + &opening + &pieces + &stop(0) + &text(1, "ok") + &end("end_turn")
    };
    for pieces in [
        &[r#"{"query":"SECRET-1234"}"#][..],
        &[r#"{"query":"SECR"#, r#"ET-12"#, r#"34"}"#],
        &[r#"{"query":"\u0053ECR"#, r#"ET-1234"}"#],
    ] {
        let ran = run(redact, &body(pieces));
        assert_eq!(ran.out, body(&[]), "{pieces:?}");
        assert_eq!(ran.edits(), [(Action::Dropped, "found key in what the provider runs")]);
    }
    let harmless = body(&[r#"{"query":"SECR"#, r#"ET"}"#]);
    assert_eq!(run(redact, &harmless).out, harmless);
}

#[test]
fn what_responses_says_of_items_that_the_provider_ran_is_searched_in_every_copy() {
    for item in [
        r#"{"id":"x1","type":"code_interpreter_call","status":"completed","code":"print('SECRET-1234')","outputs":[{"type":"logs","logs":"SECRET-1234"}],"container_id":"c"}"#,
        r#"{"id":"x1","type":"web_search_call","status":"completed","action":{"type":"search","query":"SECRET-1234"}}"#,
        r#"{"id":"x1","type":"file_search_call","status":"completed","queries":["SECRET-1234"],"results":[{"text":"SECRET-1234"}]}"#,
        r#"{"id":"x1","type":"mcp_call","status":"completed","name":"look","arguments":"{\"k\":\"SECRET-1234\"}","output":"SECRET-1234","server_label":"s"}"#,
        r#"{"id":"x1","type":"image_generation_call","status":"completed","revised_prompt":"SECRET-1234","result":"aGk="}"#,
        r#"{"id":"x1","type":"nobody_knows","said":"SECRET-1234"}"#,
    ] {
        let body = |item: &str| {
            responses::created()
                + &responses::added(0, item)
                + &responses::done(0, item)
                + &responses::completed(item)
        };
        assert_gone_and_else_untouched(item, &body(item));
    }
}

#[test]
fn code_that_responses_writes_piece_by_piece_is_searched_over_its_pieces() {
    let event = |kind: &str, field: &str, said: &str| {
        named(&[&format!(
            r#"{{"type":"response.code_interpreter_call_code.{kind}","output_index":0,"item_id":"x1","{field}":"{said}"}}"#
        )])
    };
    let item = |code: &str| {
        format!(
            r#"{{"id":"x1","type":"code_interpreter_call","status":"completed","code":"{code}","outputs":[]}}"#
        )
    };
    let body = |pieces: &[&str]| {
        let code = pieces.concat();
        let deltas: String = pieces.iter().map(|piece| event("delta", "delta", piece)).collect();
        responses::created()
            + &responses::added(0, &item(""))
            + &deltas
            + &event("done", "code", &code)
            + &responses::done(0, &item(&code))
            + &responses::completed(&item(&code))
    };
    let ran = assert_gone("code", &body(&["print(SEC", "RET-12", "34)"]));
    assert_eq!(ran.out.matches("RET").count(), 0, "{}", ran.out);
    let harmless = body(&["print(SEC", "RET)"]);
    assert_eq!(run(redact, &harmless).out, harmless);
}

#[test]
fn what_gemini_ran_and_made_is_searched() {
    for part in [
        r#"{"executableCode":{"language":"PYTHON","code":"print('SECRET-1234')"}}"#,
        r#"{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"SECRET-1234"}}"#,
        r#"{"fileData":{"mimeType":"text/plain","fileUri":"https://x/SECRET-1234"}}"#,
        r#"{"nobodyKnows":{"said":["SECRET-1234"]}}"#,
        r#"{"text":"ok","partMetadata":{"note":"SECRET-1234"}}"#,
    ] {
        assert_gone(part, &(gemini::parts(part) + &gemini::last(r#"{"text":"."}"#, "STOP")));
    }
}

#[test]
fn annotations_that_ride_on_text_are_searched_in_every_format() {
    let cited = format!(r#"{{"type":"char_location","cited_text":"{KEY}","document_title":"{KEY}"}}"#);
    let citation = anthropic::start()
        + &anthropic::open(0, r#"{"type":"text","text":""}"#)
        + &anthropic::delta(0, r#"{"type":"text_delta","text":"ok"}"#)
        + &anthropic::delta(0, &format!(r#"{{"type":"citations_delta","citation":{cited}}}"#))
        + &anthropic::stop(0)
        + &anthropic::end("end_turn");
    let url = format!(
        r#"{{"type":"url_citation","title":"{KEY}","url":"https://x","start_index":0,"end_index":1}}"#
    );
    let part =
        |annotations: &str| format!(r#"{{"type":"output_text","text":"ok","annotations":[{annotations}]}}"#);
    let message = |parts: &str| {
        format!(
            r#"{{"id":"m","type":"message","status":"completed","role":"assistant","content":[{parts}]}}"#
        )
    };
    let of = |kind: &str, more: &str| {
        named(&[&format!(
            r#"{{"type":"response.{kind}","item_id":"m","output_index":0,"content_index":0,{more}}}"#
        )])
    };
    let annotated = responses::created()
        + &responses::added(0, &message(""))
        + &of("content_part.added", r#""part":{"type":"output_text","text":"","annotations":[]}"#)
        + &of("output_text.delta", r#""delta":"ok""#)
        + &of("output_text.annotation.added", &format!(r#""annotation_index":0,"annotation":{url}"#))
        + &of("output_text.done", r#""text":"ok""#)
        + &of("content_part.done", &format!(r#""part":{}"#, part(&url)))
        + &responses::done(0, &message(&part(&url)))
        + &responses::completed(&message(&part(&url)));
    let cited = format!(
        r#"{{"type":"url_citation","url_citation":{{"title":"{KEY}","url":"https://x","start_index":0,"end_index":1}}}}"#
    );
    let noted = chat::delta(&format!(r#"{{"content":"ok","annotations":[{cited}]}}"#)) + &chat::end("stop");
    let sources = data(&format!(
        r#"{{"id":"c","citations":["https://x/{KEY}"],"choices":[{{"index":0,"delta":{{"content":"ok"}},"finish_reason":null}}]}}"#
    )) + &chat::end("stop");
    let grounded = data(&format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"text":"ok"}}],"role":"model"}},"groundingMetadata":{{"webSearchQueries":["{KEY}"]}},"finishReason":"STOP","index":0}}]}}"#
    ));
    for (what, body) in [
        ("citation", citation),
        ("annotation", annotated),
        ("note", noted),
        ("sources", sources),
        ("grounding", grounded),
    ] {
        assert_gone_and_else_untouched(what, &body);
        assert_eq!(run(redact, &body).view.choices[0].content, "ok", "{what}");
    }
}

#[test]
fn tokens_that_spell_something_else_than_the_text_are_searched_together() {
    let body = |tokens: &[&str]| {
        let tokens: Vec<String> = tokens
            .iter()
            .map(|token| format!(r#"{{"token":"{token}","logprob":-0.1,"bytes":null,"top_logprobs":[]}}"#))
            .collect();
        data(&format!(
            r#"{{"id":"c","choices":[{{"index":0,"delta":{{"content":"ok"}},"logprobs":{{"content":[{}]}},"finish_reason":null}}]}}"#,
            tokens.join(",")
        )) + &chat::end("stop")
    };
    let ran = assert_gone("tokens", &body(&["SEC", "RET", "-", "1234"]));
    assert_eq!(ran.out.matches("RET").count(), 0, "{}", ran.out);
    let harmless = body(&["o", "k"]);
    assert_eq!(run(redact, &harmless).out, harmless);
}

#[test]
fn errors_of_the_upstream_are_searched() {
    let chat = chat::text("ok")
        + &data(&format!(
            r#"{{"error":{{"message":"no such key: {KEY}","type":"invalid","code":"{KEY}"}}}}"#
        ));
    let anthropic = anthropic::start()
        + &named(&[&format!(r#"{{"type":"error","error":{{"type":"api_error","message":"{KEY}"}}}}"#)]);
    let responses =
        responses::created() + &named(&[&format!(r#"{{"type":"error","code":"x","message":"{KEY}"}}"#)]);
    let gemini = gemini::parts(r#"{"text":"ok"}"#)
        + &data(&format!(r#"{{"error":{{"code":500,"message":"{KEY}","status":"INTERNAL"}}}}"#));
    for (what, body) in
        [("chat", chat), ("anthropic", anthropic), ("responses", responses), ("gemini", gemini)]
    {
        assert_gone_and_else_untouched(what, &body);
    }
}

#[test]
fn ids_models_and_other_lines_of_an_event_are_searched() {
    let chunk = |top: &str| {
        data(&format!(
            r#"{{{top},"choices":[{{"index":0,"delta":{{"content":"ok"}},"finish_reason":null}}]}}"#
        )) + &chat::end("stop")
    };
    for top in [
        format!(r#""id":"{KEY}""#),
        format!(r#""id":"c","model":"{KEY}""#),
        format!(r#""id":"c","system_fingerprint":"{KEY}","obfuscation":"{KEY}""#),
        format!(r#""id":"c","x":[1,{{"{KEY}":2}}]"#),
    ] {
        assert_gone_and_else_untouched(&top, &chunk(&top));
    }
    assert_gone("a comment", &format!(": {KEY}\n\n{}", chunk(r#""id":"c""#)));
    assert_gone("a comment behind", &format!("{}: {KEY}\n\n", chunk(r#""id":"c""#)));
    assert_gone("a line of an event", &format!("id: {KEY}\n{}", chunk(r#""id":"c""#)));
    assert_gone("a comment in an event", &format!(": {KEY}\n{}", chunk(r#""id":"c""#)));
}

#[test]
fn whole_responses_are_searched_string_by_string() {
    let bodies = [
        format!(
            r#"{{"id":"c","object":"chat.completion","model":"x","note":"{KEY}","choices":[{{"index":0,"message":{{"role":"assistant","content":"ok"}},"finish_reason":"stop"}}]}}"#
        ),
        format!(
            r#"{{"id":"m","type":"message","role":"assistant","model":"x","content":[{{"type":"web_search_tool_result","tool_use_id":"t","content":[{{"type":"web_search_result","title":"{KEY}"}}]}},{{"type":"text","text":"ok"}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        ),
        format!(
            r#"{{"id":"r","object":"response","status":"completed","instructions":"{KEY}","output":[{{"id":"x","type":"code_interpreter_call","status":"completed","code":"{KEY}","outputs":[]}},{{"id":"m","type":"message","status":"completed","role":"assistant","content":[{{"type":"output_text","text":"ok","annotations":[]}}]}}]}}"#
        ),
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"executableCode":{{"language":"PYTHON","code":"{KEY}"}}}},{{"text":"ok"}}],"role":"model"}},"finishReason":"STOP","index":0}}],"modelVersion":"x"}}"#
        ),
    ];
    for body in bodies {
        let ran = whole(redact, &body);
        assert_eq!(ran.out, body.replace(KEY, "[redacted]"));
        let harmless = body.replace(KEY, "a word");
        assert_eq!(whole(redact, &harmless).out, harmless);
    }
}

#[test]
fn words_of_the_protocol_are_no_secrets() {
    let redact = || -> Redact {
        let words = ["content", "type", "text", "message", "delta", "stop", "assistant"];
        let all = words
            .iter()
            .fold(RedactSettings::default(), |all, word| all.pattern(Pattern::literal(word, *word)));
        all.build().unwrap()
    };
    let body = anthropic::start() + &anthropic::text(0, "ok") + &anthropic::end("end_turn");
    assert_eq!(run(redact, &body).out, body);
    let body = chat::text("ok") + &chat::end("stop");
    assert_eq!(run(redact, &body).out, body);
}

#[test]
fn a_redactor_of_text_alone_and_one_that_watches_leave_what_is_beside_the_answer() {
    let body = chat::delta(&format!(r#"{{"content":"ok","note":"{KEY}"}}"#)) + &chat::end("stop");
    let text = || settings().places([Place::Content]).build().unwrap();
    assert_eq!(run(text, &body).out, body);
    let watching = run(|| Stage::new(redact()).monitor(), &body);
    assert_eq!((watching.out, watching.edits), (body, Vec::new()));
}

#[test]
fn encoded_bytes_hold_no_number_of_an_account_by_chance() {
    use stream_policies::Preset;
    let redact = || RedactSettings::default().preset(Preset::Iban).build().unwrap();
    let image = "A".repeat(120) + "/DE89370400440532013000/" + &"B".repeat(120);
    let body = gemini::parts(&format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{image}"}}}}"#))
        + &gemini::last(r#"{"text":"ok"}"#, "STOP");
    assert_eq!(run(redact, &body).out, body);
    let named = body.replace(&image, "DE89370400440532013000");
    assert_eq!(run(redact, &named).out, body.replace(&image, "[redacted]"));
}

/// As [`assert_gone`], for a whole response.
#[track_caller]
fn assert_gone_whole(body: &str) {
    let ran = whole(redact, body);
    assert_eq!(ran.out.matches("1234").count(), 0, "{body}: {}", ran.out);
    assert_eq!(ran.error, None, "{body}");
}

/// A string beside a block that says the same as the block: a match of values must not take the one for the other.
#[test]
fn a_secret_is_found_beside_a_block_that_says_the_same() {
    let message = format!(
        r#"{{"id":"m1","type":"message","status":"completed","role":"assistant","content":[{{"type":"output_text","text":"{KEY}","annotations":[]}}]}}"#
    );
    let search = format!(
        r#"{{"id":"w1","type":"web_search_call","status":"completed","action":{{"type":"search","query":"{KEY}"}}}}"#
    );
    let call = format!(
        r#"{{"id":"f1","type":"function_call","status":"completed","call_id":"c1","name":"ls","arguments":"{{\"p\":\"{KEY}\"}}"}}"#
    );
    let mcp = format!(
        r#"{{"id":"p1","type":"mcp_call","name":"q","server_label":"l","arguments":"{{\"p\":\"{KEY}\"}}","output":"{{\"p\":\"{KEY}\"}}"}}"#
    );
    let half = message.replace(KEY, "SECRET-");
    let rest = message.replace(KEY, "1234").replace("m1", "m2");
    for output in [
        format!("{message},{search}"),
        format!("{search},{message}"),
        format!("{half},{rest},{search}"),
        format!("{call},{mcp}"),
        format!("{mcp},{call}"),
    ] {
        let whole_body = format!(
            r#"{{"id":"r1","object":"response","status":"completed","model":"m","output":[{output}],"note":"{KEY}"}}"#
        );
        assert_gone_whole(&whole_body);
        let completed = format!(r#"{{"type":"response.completed","response":{whole_body}}}"#);
        assert_gone("Responses", &(responses::created() + &named(&[&completed])));
    }
    let candidate = |first: &str, parts: &str| {
        format!(
            r#"{{{first}"candidates":[{{"content":{{"role":"model","parts":[{parts}]}},"finishReason":"STOP","index":0}}]}}"#
        )
    };
    let code = format!(r#"{{"executableCode":{{"language":"PYTHON","code":"{KEY}"}}}}"#);
    for body in [
        candidate("", &format!(r#"{{"text":"{KEY}"}},{code}"#)),
        candidate("", &format!(r#"{code},{{"text":"{KEY}"}}"#)),
        candidate("", &format!(r#"{{"text":"SECRET-"}},{{"text":"1234"}},{code}"#)),
        candidate("", &format!(r#"{{"text":"{KEY}","thoughtSignature":"{KEY}"}}"#)),
        candidate(
            &format!(r#""note":{{"p":"{KEY}"}},"#),
            &format!(r#"{{"functionCall":{{"name":"ls","args":{{"p":"{KEY}"}}}}}}"#),
        ),
    ] {
        assert_gone_whole(&body);
        assert_gone("Gemini", &data(&body));
    }
    let block = format!(r#"{{"type":"text","text":"{KEY}"}},{{"type":"nobody_knows","said":"{KEY}"}}"#);
    let body = format!(
        r#"{{"id":"m1","type":"message","role":"assistant","model":"c","content":[{block}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
    );
    assert_gone_whole(&body);
    let message =
        format!(r#"{{"role":"assistant","content":"{KEY}","executed_tools":[{{"output":"{KEY}"}}]}}"#);
    let body = format!(
        r#"{{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{message},"finish_reason":"stop"}}],"note":"{KEY}"}}"#
    );
    assert_gone_whole(&body);
}

/// What a block showed in one frame is not taken for searched in the next, where no block shows it.
#[test]
fn a_secret_is_found_in_a_frame_behind_one_whose_block_said_the_same() {
    let note = format!(r#","note":"{KEY}"}}"#);
    let noted = |frame: &str, before: bool| {
        let (head, json) = frame.split_once('{').unwrap();
        match before {
            true => format!("{head}{{\"note\":\"{KEY}\",{json}"),
            false => format!("{head}{{{}{note}\n\n", json.trim_end().strip_suffix('}').unwrap()),
        }
    };
    for before in [false, true] {
        let body: String = [KEY, "a", "b"].map(|text| noted(&chat::text(text), before)).concat();
        assert_gone("chat", &(body + &chat::end("stop")));
        let body: String = [KEY, "a", "b"]
            .map(|text| noted(&gemini::parts(&format!(r#"{{"text":"{text}"}}"#)), before))
            .concat();
        assert_gone("Gemini", &(body + &gemini::last("", "STOP")));
        let texts: String = [KEY, "a", "b"]
            .map(|text| {
                let delta = anthropic::delta(0, &format!(r#"{{"type":"text_delta","text":"{text}"}}"#));
                noted(&delta, before)
            })
            .concat();
        let open = anthropic::open(0, r#"{"type":"text","text":""}"#);
        assert_gone(
            "Messages",
            &(anthropic::start() + &open + &texts + &anthropic::stop(0) + &anthropic::end("end_turn")),
        );
    }
}

/// The official SDKs put the strings of all fields of a delta together, those that they know and those that they do not.
#[test]
fn unknown_fields_of_a_delta_are_searched_over_the_chunks_of_a_stream() {
    for field in [
        r#""reasoning_text":"?""#,
        r#""thinking_blocks":[{"type":"thinking","thinking":"?"}]"#,
        r#""executed_tools":[{"index":0,"output":"?"}]"#,
        r#""name":"?""#,
        r#""reasoning_opaque":"?""#,
        r#""audio":{"note":"?"}"#,
        r#""reasoning_details":[{"type":"thinking","index":0,"note":"?"}]"#,
        r#""k":{"k":{"k":{"k":{"k":{"k":{"k":{"k":{"k":"?"}}}}}}}}"#,
    ] {
        let body = |pieces: &[&str]| {
            let chunk = |piece: &&str| chat::delta(&format!("{{{}}}", field.replace('?', piece)));
            pieces.iter().map(chunk).collect::<String>() + &chat::end("stop")
        };
        for pieces in [
            &["SECRET-", "1234"][..],
            &["a SEC", "RE", "T-12", "34 b"],
            &["x", "SECRET-1", "2", "3", "4", "5"],
        ] {
            let ran = run(redact, &body(pieces));
            // What clients end up with, chunk behind chunk.
            let joined: String = ran
                .out
                .lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .filter_map(|json| serde_json::from_str::<serde_json::Value>(json).ok())
                .flat_map(|chunk| strings(&chunk["choices"][0]["delta"]))
                .filter(|text| text != "thinking")
                .collect();
            assert_eq!(joined.find(KEY), None, "{field}: {joined}");
            assert!(joined.contains("[redacted"), "{field}: {joined}");
            assert_eq!(ran.error, None);
            assert_eq!(ran.edits().len(), 1, "{:?}", ran.edits());
        }
        let harmless = body(&["SECRET-", "12", "ab"]);
        assert_eq!(run(redact, &harmless).out, harmless);
        // What was found in one chunk by itself is not found again in the next.
        let ran = run(redact, &body(&[KEY, "a", "b"]));
        assert_eq!((ran.edits().len(), ran.out.matches(r#""b""#).count()), (1, 1), "{}", ran.out);
    }
}

/// openai for Python puts an item of a list behind the one at the position that its `index` says.
#[test]
fn strings_beside_a_call_and_in_lists_are_searched_over_the_chunks_of_a_stream() {
    let call = |rest: &str| chat::delta(&format!(r#"{{"tool_calls":[{{"index":0,{rest}}}]}}"#));
    let list = |items: &str| chat::delta(&format!(r#"{{"x":[{items}]}}"#));
    for [first, second] in [
        [
            call(r#""id":"c1","type":"function","note":"SECRET-","function":{"name":"ls","arguments":"{"}"#),
            call(r#""note":"1234","function":{"arguments":"}"}"#),
        ],
        [
            call(r#""id":"c1","type":"function","function":{"name":"ls","arguments":"{","note":"SECRET-"}"#),
            call(r#""function":{"arguments":"}","note":"1234"}"#),
        ],
        [list(r#"{"index":0,"t":"a"},{"index":1,"t":"SECRET-"}"#), list(r#"{"index":1,"t":"1234"}"#)],
        [list(r#"{"index":7,"t":"SECRET-"}"#), list(r#"{"index":0,"t":"1234"}"#)],
    ] {
        let ran = run(redact, &(first.clone() + &second + &chat::end("stop")));
        assert_eq!(ran.out.find(r#""1234""#), None, "{first}");
        assert_eq!((ran.error, ran.edits().len()), (None, 1), "{first}");
    }
}

#[test]
fn signatures_and_events_of_no_item_are_searched_over_their_pieces() {
    let event = |json: &str| {
        let kind = json.split('"').nth(3).unwrap_or_default();
        format!("event: {kind}\ndata: {json}\n\n")
    };
    let start = r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}"#;
    let open = r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"?"}}"#;
    let more =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"?"}}"#;
    let created = r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#;
    let thought = r#"{"type":"response.reasoning.delta","delta":"?"}"#;
    let nested = r#"{"type":"response.reasoning.delta","delta":{"text":"?"}}"#;
    for [head, first, second] in [
        [start, open, more],
        [&format!("{start}|{}", open.replace('?', "")), more, more],
        [created, thought, thought],
        [created, nested, nested],
    ] {
        let head: String = head.split('|').map(event).collect();
        let body = head + &event(&first.replace('?', "SECRET-")) + &event(&second.replace('?', "1234"));
        let ran = run(redact, &body);
        assert_eq!(ran.out.find(r#""1234""#), None, "{body}");
        assert_eq!((ran.error, ran.edits().len()), (None, 1), "{body}");
    }
}

/// All strings of a value.
fn strings(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => vec![text.clone()],
        serde_json::Value::Array(items) => items.iter().flat_map(strings).collect(),
        serde_json::Value::Object(members) => members.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Clients collect tokens over the frames of a stream: they do not spell there what no text says.
#[test]
fn tokens_are_searched_over_the_frames_of_a_stream() {
    let token = |token: &str| format!(r#"{{"token":"{token}","logprob":0,"top_logprobs":[]}}"#);
    let chat = |pieces: &[&str]| {
        let chunk = |piece: &&str| {
            data(&format!(
                r#"{{"id":"c","choices":[{{"index":0,"delta":{{"content":"x"}},"logprobs":{{"content":[{}]}},"finish_reason":null}}]}}"#,
                token(piece)
            ))
        };
        pieces.iter().map(chunk).collect::<String>() + &chat::end("stop")
    };
    let gemini = |pieces: &[&str]| {
        let chunk = |piece: &&str| {
            data(&format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"text":"x"}}],"role":"model"}},"index":0,"logprobsResult":{{"chosenCandidates":[{}]}}}}]}}"#,
                token(piece)
            ))
        };
        pieces.iter().map(chunk).collect::<String>() + &gemini::last("", "STOP")
    };
    let responses = |pieces: &[&str]| {
        let item = |text: &str| {
            format!(
                r#"{{"id":"m","type":"message","status":"completed","role":"assistant","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}"#
            )
        };
        let said = "x".repeat(pieces.len());
        let deltas: String = pieces
            .iter()
            .map(|piece| {
                named(&[&format!(
                    r#"{{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"x","logprobs":[{}]}}"#,
                    token(piece)
                )])
            })
            .collect();
        let opening = item("").replace(r#"{"type":"output_text","text":"","annotations":[]}"#, "");
        responses::created()
            + &responses::added(0, &opening)
            + &deltas
            + &responses::done(0, &item(&said))
            + &responses::completed(&item(&said))
    };
    for body in [&chat as &dyn Fn(&[&str]) -> String, &gemini, &responses] {
        let ran = run(redact, &body(&["SECRET", "-12", "34", "b"]));
        assert_eq!((ran.error, ran.out.find(r#""34""#)), (None, None), "{}", ran.out);
        assert_eq!(ran.edits().len(), 1, "{:?}", ran.edits());
        let harmless = body(&["SECRET", "-12", "ab"]);
        assert_eq!(run(redact, &harmless).out, harmless);
    }
}

/// Programs that go by the name of an event would show it.
#[test]
fn the_name_of_an_event_nobody_knows_is_searched() {
    use anthropic::{end, start};
    let odd = format!("event: {KEY}\ndata: {{\"type\":\"{KEY}\",\"index\":0}}\n\n");
    assert_gone("a name of Messages", &(start() + &odd + &end("end_turn")));
    let odd = format!("event: {KEY}\ndata: {{\"type\":\"response.{KEY}\",\"sequence_number\":1}}\n\n");
    assert_gone("a name of Responses", &(responses::created() + &odd + &responses::completed("")));
    let odd = format!("event: x{KEY}\ndata: {{\"type\":\"ping\"}}\n\n");
    assert_gone("a name beside a ping", &(start() + &odd + &end("end_turn")));
}

/// LangChain puts the strings of a delta together by the number of the block, and those of the message over its deltas.
#[test]
fn strings_of_anthropic_deltas_are_searched_behind_those_before() {
    use anthropic::{delta, end, open, start, stop};
    let input = |text: &str| {
        delta(0, &format!(r#"{{"type":"thinking_delta","thinking":"h","input":{{"a":"{text}"}}}}"#))
    };
    let thinking = open(0, r#"{"type":"thinking","thinking":"","signature":""}"#);
    assert_gone(
        "a field of deltas",
        &(start() + &thinking + &input("SECRET-") + &input("1234") + &stop(0) + &end("end_turn")),
    );
    for field in ["stop_reason", "stop_sequence", "nobody_knows"] {
        let message = |text: &str| {
            let delta = format!(r#"{{"{field}":"{text}"}}"#);
            named(&[&format!(r#"{{"type":"message_delta","delta":{delta},"usage":{{"output_tokens":1}}}}"#)])
        };
        let body = start() + &message("SECRET-") + &message("1234") + &end("end_turn");
        assert_gone(field, &body);
    }
}
