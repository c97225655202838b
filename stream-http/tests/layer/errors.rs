//! Errors of the upstream: their own words leave, an answer within them does not, nor does what a policy takes out of every string.

use bytes::Bytes;
use http::{Response, StatusCode};
use stream_core::{Action, Decision, Needs, Observer, Policy, Replacement, Scrub, Stage, policy_fn};
use stream_http::{Api, Facts, Plan, PolicyLayer};
use stream_testkit::WireKind;

use crate::kit::{Gate, UpstreamBody, json, path, reply, script};
use std::sync::{Arc, Mutex};

const STATUSES: [StatusCode; 3] =
    [StatusCode::BAD_REQUEST, StatusCode::UNPROCESSABLE_ENTITY, StatusCode::INTERNAL_SERVER_ERROR];

fn with_status(status: StatusCode, mut response: Response<UpstreamBody>) -> Response<UpstreamBody> {
    *response.status_mut() = status;
    response
}

fn api(kind: WireKind) -> Api {
    let name = kind.to_string();
    Api::ALL.into_iter().find(|api| api.name() == name).unwrap()
}

/// Bodies that hold the whole answer of an API, in no place that its clients know.
fn hidden(answer: &str) -> Vec<String> {
    let quoted = serde_json::Value::from(answer).to_string();
    vec![
        format!(r#"{{"detail":{answer}}}"#),
        format!(r#"{{"error":{{"message":"x","details":[{{"deep":[{answer}]}}]}}}}"#),
        format!(r#"{{"error":{{"message":{quoted}}}}}"#),
        format!(r#"{{"error":{answer}}}"#),
        format!(r#"{{"detail":{quoted}}}"#),
        format!("[1,{quoted}]"),
        quoted,
    ]
}

/// Errors as servers send them.
const REAL: [&str; 6] = [
    r#"{"error":{"message":"no such model","type":"invalid_request_error","param":"model","code":"model_not_found"}}"#,
    r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#,
    r#"{"detail":[{"type":"missing","loc":["body","messages",0,"content"],"msg":"Field required","input":{"role":"user","content":"hi"}}]}"#,
    r#"[{"error":{"code":400,"message":"bad \"contents\": none","status":"INVALID_ARGUMENT"}}]"#,
    r#"{"message":"Not Found"}"#,
    r#""overloaded""#,
];

#[tokio::test]
async fn an_answer_anywhere_in_an_error_is_replaced_by_the_apis_own_error() {
    for kind in WireKind::ALL {
        for of in WireKind::ALL {
            let answer = String::from_utf8(script().whole(of).to_vec()).unwrap();
            for (number, body) in hidden(&answer).into_iter().enumerate() {
                let status = STATUSES[number % STATUSES.len()];
                let came = body.clone();
                let gate = Gate::no_rm(move || with_status(status, json(came.clone())));
                let left = gate.post(path(kind, false)).await;
                let found = match body.starts_with('"') {
                    true => "text in another encoding, or with parts of an answer in it",
                    false => "JSON with parts of an answer in it",
                };
                let message =
                    format!("the upstream's error could not be read by the gateway's policies: {found}");
                let expected = api(kind).error_body(status, &message);
                assert_eq!((left.status, left.text()), (status, &*expected), "{kind}: {body}");
            }
        }
    }
}

#[tokio::test]
async fn an_error_without_an_answer_passes_as_it_came() {
    for kind in WireKind::ALL {
        for body in REAL {
            for status in STATUSES {
                let gate = Gate::no_rm(move || with_status(status, json(body)));
                let left = gate.post(path(kind, false)).await;
                assert_eq!((left.status, left.text()), (status, body), "{kind}");
            }
        }
    }
}

/// A body of success that is an error is no place for an answer either.
#[tokio::test]
async fn an_answer_in_the_error_of_a_success_is_refused() {
    for kind in WireKind::ALL {
        let answer = String::from_utf8(script().whole(kind).to_vec()).unwrap();
        for error in [format!(r#"{{"message":"x","detail":{answer}}}"#), answer.clone()] {
            let body = match kind {
                WireKind::AnthropicMessages => format!(r#"{{"type":"error","error":{error}}}"#),
                _ => format!(r#"{{"error":{error}}}"#),
            };
            let gate = Gate::no_rm(move || json(body.clone()));
            let left = gate.post(path(kind, false)).await;
            let message =
                "the upstream's answer could not be read by the gateway's policies: a malformed answer";
            let expected = api(kind).error_body(StatusCode::BAD_GATEWAY, message);
            assert_eq!((left.status, left.text()), (StatusCode::BAD_GATEWAY, &*expected), "{kind}");
        }
    }
}

/// Takes a word out of every string that no block shows.
fn without() -> impl Policy {
    policy_fn(|chunk, _, ctx| {
        ctx.send(chunk);
        Ok(())
    })
    .needing(Needs::nothing().scrub(Word))
}

#[derive(Debug)]
struct Word;

impl Scrub for Word {
    fn scrub(&self, text: &str) -> Option<Replacement> {
        let left = text.replace("SECRET", "***");
        (left != text).then(|| Replacement::text(left).because("a secret"))
    }
}

#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<Edit>>>);

/// What was done, whether it was, and why.
type Edit = (Action, bool, Option<String>);

impl Observer for Log {
    fn decision(&mut self, decision: &Decision) {
        let Decision { action, enforced, reason, .. } = decision;
        self.0.lock().unwrap().push((*action, *enforced, reason.clone()));
    }
}

fn scrubbing(stage: fn() -> Stage, log: Log, reply: fn() -> Response<UpstreamBody>) -> Gate {
    Gate::new(PolicyLayer::new(move |_: &Facts| Plan::new().policy(stage()).observer(log.clone())), reply)
}

#[tokio::test]
async fn what_a_policy_takes_out_of_every_string_leaves_in_no_error() {
    let log = Log::default();
    let gate = scrubbing(
        || without().into(),
        log.clone(),
        || {
            let body = r#"{"error":{"message":"no \u0053ECRET","x":{"SECRET-1":[1,"SECRET"]},"type":"t"}}"#;
            with_status(StatusCode::BAD_REQUEST, json(body))
        },
    );
    for kind in WireKind::ALL {
        let left = gate.post(path(kind, false)).await;
        let expected = r#"{"error":{"message":"no ***","x":{"***-1":[1,"***"]},"type":"t"}}"#;
        assert_eq!((left.status, left.text()), (StatusCode::BAD_REQUEST, expected));
        assert_eq!(left.header("content-type"), Some("application/json"));
        let logged = std::mem::take(&mut *log.0.lock().unwrap());
        assert_eq!(logged, [(Action::Edited, true, Some("a secret".to_owned()))]);
    }
}

#[tokio::test]
async fn what_a_policy_takes_out_of_every_string_leaves_in_no_page() {
    let gate = scrubbing(
        || without().into(),
        Log::default(),
        || with_status(StatusCode::BAD_GATEWAY, reply("text/html", "<html>SECRET</html>")),
    );
    let left = gate.post("/v1/messages").await;
    assert_eq!((left.status, left.text()), (StatusCode::BAD_GATEWAY, "<html>***</html>"));
    assert_eq!(left.header("content-type"), Some("text/html"));
}

#[tokio::test]
async fn an_error_with_nothing_to_take_out_keeps_its_bytes_and_its_digest() {
    let gate = scrubbing(
        || without().into(),
        Log::default(),
        || {
            let mut response = json(Bytes::from_static(br#" {"error" : {"message":"\u0041"}} "#));
            response.headers_mut().insert("etag", "\"1\"".parse().unwrap());
            with_status(StatusCode::NOT_FOUND, response)
        },
    );
    let left = gate.post("/v1/responses").await;
    assert_eq!(left.text(), r#" {"error" : {"message":"\u0041"}} "#);
    assert_eq!(left.header("etag"), Some("\"1\""));
}

#[tokio::test]
async fn a_policy_that_only_watches_takes_nothing_out_of_an_error() {
    let log = Log::default();
    let gate = scrubbing(
        || Stage::new(without()).monitor(),
        log.clone(),
        || with_status(StatusCode::BAD_REQUEST, json(r#"{"error":{"message":"SECRET"}}"#)),
    );
    assert_eq!(gate.post("/v1/messages").await.text(), r#"{"error":{"message":"SECRET"}}"#);
    assert_eq!(*log.0.lock().unwrap(), [(Action::Edited, false, Some("a secret".to_owned()))]);
}
