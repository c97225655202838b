//! Answers within errors: a program that looks for one finds it wherever it stands, so that an error which holds one is
//! replaced by the API's own (rules 19 and 28). Errors of real providers leave as they came.

use std::sync::Arc;

use stream_core::wire::anthropic::Anthropic;
use stream_core::wire::gemini::Gemini;
use stream_core::wire::openai_chat::OpenAiChat;
use stream_core::wire::openai_responses::OpenAiResponses;
use stream_core::wire::{SharedFormat, WireFormat};
use stream_core::{Config, ErrorKind};
use stream_testkit::{ChunkLog, Replay};

use crate::kit::{Ran, anthropic, chat, data, gate, gemini, named, ran, responses, run};

/// What stands in the place of an error: its value, in each shape that hides a call of `bash`.
fn hidden() -> Vec<String> {
    let call = r#"{"index":0,"id":"e","type":"function","function":{"name":"bash","arguments":"{}"}}"#;
    let choices = format!(r#"{{"choices":[{{"message":{{"tool_calls":[{call}]}}}}]}}"#);
    let candidates = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"bash","args":{}}}]}}]}"#;
    let output = r#"{"output":[{"type":"function_call","name":"bash","arguments":"{}"}]}"#;
    let content = r#"{"role":"user","content":[{"type":"tool_use","name":"bash","input":{}}]}"#;
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut values: Vec<String> = [&choices, candidates, output, content]
        .iter()
        .flat_map(|answer| {
            let twice = quoted(&quoted(answer));
            [
                format!(r#"{{"message":"x","detail":{answer}}}"#),
                format!(r#"{{"message":"x","details":[1,[{{"deep":{answer}}}]]}}"#),
                format!(r#"{{"message":"x","metadata":{{"raw":{}}}}}"#, quoted(answer)),
                format!(r#"{{"message":{}}}"#, quoted(&format!("the upstream said {answer}"))),
                format!(r#"{{"message":{twice}}}"#),
                quoted(answer),
            ]
        })
        .collect();
    values.extend([
        r#"{"message":"x","detail":{"CHOICES":[{"message":"bash"}]}}"#.to_owned(),
        r#"{"message":"x","detail":{"choi\u0063es":[{"message":"bash"}]}}"#.to_owned(),
        r#"{"message":"x","detail":{"choices":[{"message":"bash"}]},"detail":1}"#.to_owned(),
        r#"{"message":"{\u0022choices\u0022 \n: [{\u0022message\u0022:\u0022bash\u0022}]}"}"#.to_owned(),
        r#"{"message":"x","detail":"{\u005cu005c\u0075005cu0022choices\u005c\u0022:\u005c\u0022bash"}"#
            .to_owned(),
        r#"{"message":"x","detail":{"role":"assistant","content":"bash"}}"#.to_owned(),
        r#"{"message":"{\"failed_generation\":\"bash\"}"}"#.to_owned(),
    ]);
    values
}

/// Errors as providers and routers send them. None of them holds what a model said.
fn real() -> Vec<&'static str> {
    vec![
        r#"{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}"#,
        r#"{"message":"Failed to call a function. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed"}"#,
        r#"{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"error\":{\"message\":\"slow \\\"down\\\"\",\"content\":null}}","provider_name":"x"}}"#,
        r#"{"message":"bad","detail":[{"type":"missing","loc":["body","messages",0,"content"],"msg":"Field required","input":{"messages":[{"role":"user","content":"hi"}]}}]}"#,
        r#"{"code":400,"message":"* GenerateContentRequest.contents: contents is not specified\n","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"contents[0].parts","description":"no \"parts\""}]}]}"#,
        r#"{"message":"C:\\new\\temp: no such \"file\": x","usage":{"output":0,"content":""},"choices":[]}"#,
        r#""overloaded""#,
    ]
}

/// The documents that say an error, in a stream and whole.
type Says = fn(&str) -> String;

#[track_caller]
fn assert_replaced(name: &str, opening: &str, says: &[Says], unreadable: &str) {
    for error in hidden() {
        for event in says.iter().map(|says| says(&error)) {
            let ran = run(gate, &(opening.to_owned() + &event));
            assert_eq!(ran.out, opening.to_owned() + unreadable, "{name}: {event}");
            assert_eq!(ran.error, Some(ErrorKind::Ambiguous), "{name}: {event}");
        }
    }
    for error in real() {
        for event in says.iter().map(|says| says(error)) {
            let body = opening.to_owned() + &event;
            assert_eq!(run(gate, &body).out, body, "{name}");
        }
    }
}

fn of(format: impl WireFormat + 'static) -> SharedFormat {
    Arc::new(format)
}

/// Runs a whole error of a client that asked this API.
fn whole(format: &SharedFormat, body: &str) -> Ran {
    let config = Config::default().format(format.clone());
    ran(&Replay::new(ChunkLog::from_whole("body", body.to_owned())).config(config).policy(gate).run())
}

#[track_caller]
fn assert_whole_replaced(format: &SharedFormat, says: &[Says], unreadable: &str) {
    for error in hidden() {
        for body in says.iter().map(|says| says(&error)) {
            let ran = whole(format, &body);
            assert_eq!((&*ran.out, ran.error), (unreadable, Some(ErrorKind::Ambiguous)), "{body}");
        }
    }
    for error in real() {
        for body in says.iter().map(|says| says(error)) {
            assert_eq!(whole(format, &body).out, body);
        }
    }
}

#[test]
fn an_error_of_chat_that_holds_an_answer_is_replaced() {
    let says: [Says; 4] = [
        |error| data(&format!(r#"{{"error":{error}}}"#)),
        |error| data(&format!(r#"{{"error":{{"message":"x"}},"detail":{error}}}"#)),
        |error| format!("event: error\ndata: {}\n\n", wrapped(error)),
        |error| {
            data(&format!(
                r#"{{"id":"c","error":{error},"choices":[{{"index":0,"delta":{{}},"finish_reason":"error"}}]}}"#
            ))
        },
    ];
    assert_replaced("chat", &chat::text("hi"), &says, chat::UNREADABLE);
}

#[test]
fn an_error_of_anthropic_that_holds_an_answer_is_replaced() {
    let says: [Says; 2] = [
        |error| named(&[&format!(r#"{{"type":"error","error":{error}}}"#)]),
        |error| named(&[&format!(r#"{{"type":"error","error":{{"message":"x"}},"detail":{error}}}"#)]),
    ];
    let opening = anthropic::start() + &anthropic::text(0, "hi");
    assert_replaced("anthropic", &opening, &says, &anthropic::unreadable());
}

#[test]
fn an_error_of_responses_that_holds_an_answer_is_replaced() {
    let says: [Says; 4] = [
        |error| named(&[&format!(r#"{{"type":"error","error":{error}}}"#)]),
        |error| named(&[&format!(r#"{{"type":"error","code":"x","message":"x","detail":{error}}}"#)]),
        |error| data(&format!(r#"{{"error":{error}}}"#)),
        |error| {
            named(&[&format!(
                r#"{{"type":"response.failed","response":{{"id":"r","object":"response","status":"failed","error":{error},"output":[]}}}}"#
            )])
        },
    ];
    assert_replaced("responses", &responses::created(), &says, &responses::unreadable());
}

#[test]
fn an_error_of_gemini_that_holds_an_answer_is_replaced() {
    let says: [Says; 2] = [
        |error| data(&format!(r#"{{"error":{error}}}"#)),
        |error| data(&format!(r#"{{"error":{{"code":500,"message":"x"}},"detail":{error}}}"#)),
    ];
    let error = "data: {\"error\":{\"code\":500,\"message\":\"the upstream's answer could not be read\",\"status\":\"INTERNAL\"}}\n\n";
    assert_replaced("gemini", &gemini::parts(r#"{"text":"hi"}"#), &says, error);
}

#[test]
fn a_whole_error_that_holds_an_answer_is_replaced() {
    let bare: Says = |error| format!(r#"{{"error":{error}}}"#);
    let beside: Says = |error| format!(r#"{{"error":{{"message":"x"}},"detail":{error}}}"#);
    let of_openai = r#"{"error":{"message":"the upstream's answer could not be read","type":"server_error","param":null,"code":null}}"#;
    assert_whole_replaced(&of(OpenAiChat), &[bare, beside], of_openai);
    let failed: Says =
        |error| format!(r#"{{"id":"r","object":"response","status":"failed","error":{error},"output":[]}}"#);
    assert_whole_replaced(&of(OpenAiResponses), &[bare, beside, failed], of_openai);
    let typed: Says = |error| format!(r#"{{"type":"error","error":{error}}}"#);
    let message: Says = |error| {
        format!(
            r#"{{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":null,"error":{error}}}"#
        )
    };
    let of_anthropic = r#"{"type":"error","error":{"type":"api_error","message":"the upstream's answer could not be read"}}"#;
    assert_whole_replaced(&of(Anthropic), &[bare, beside, typed, message], of_anthropic);
    let of_gemini =
        r#"{"error":{"code":500,"message":"the upstream's answer could not be read","status":"INTERNAL"}}"#;
    assert_whole_replaced(&of(Gemini), &[bare, beside], of_gemini);
}

/// An error that is an object, as the data of an `error` event.
fn wrapped(error: &str) -> String {
    match error.starts_with('{') {
        true => error.to_owned(),
        false => format!(r#"{{"message":{error}}}"#),
    }
}
