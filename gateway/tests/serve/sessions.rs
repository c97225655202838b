//! Budgets over several requests of one session.

use http::StatusCode;
use stream_testkit::conformance::Ended;
use stream_testkit::server::Server;
use stream_testkit::{Script, WireKind};

use crate::doors::{answer, known};
use crate::kit::{Answer, Directory, Gateway, question};

/// An upstream whose every answer, in every API, is an invalid call.
async fn upstream() -> Server {
    let log = |kind| Script::new().text("So.").call("call_1", "shell", "{}").to_log(kind);
    WireKind::ALL
        .into_iter()
        .fold(Server::builder(), |server, kind| {
            let (path, _) = question(kind, true);
            server.on(path.split('?').next().unwrap(), log(kind))
        })
        .start()
        .await
        .unwrap()
}

fn config(session: &str) -> String {
    format!(
        "session = {session}\n[[policy]]\nkind = \"validate-parameters\"\nbudget = 2\n[policy.tools.shell]\nrequired = [\"command\"]\n"
    )
}

fn ended(answer: &Answer, kind: WireKind) -> Ended {
    assert_eq!(answer.status, StatusCode::OK, "{kind}: {}", answer.text());
    answer.report(kind, true).view().ended
}

/// Issue: a budget works in the program, with sessions from a header.
#[tokio::test]
async fn a_budget_counts_over_the_requests_of_a_session_named_by_a_header() {
    let (server, directory) = (upstream().await, Directory::new("session-header"));
    let file = directory.file("gateway.toml", &config(r#"{ header = "X-Session" }"#));
    let gateway = Gateway::start(&["--config", &file, "--upstream", &server.url("")]);
    for kind in WireKind::ALL {
        let (path, body) = question(kind, true);
        let ask = async |session: Option<&str>| {
            let headers: Vec<(&str, &str)> =
                session.map(|session| ("x-session", session)).into_iter().collect();
            ended(&gateway.post_with(path, &body, &headers).await, kind)
        };
        let (one, two) = (format!("{kind}-1"), format!("{kind}-2"));
        assert_eq!(ask(Some(&one)).await, Ended::Clean, "{kind}");
        assert_eq!(ask(Some(&two)).await, Ended::Clean, "{kind}: another session has a row of its own");
        assert_eq!(ask(Some(&one)).await, Ended::Refused, "{kind}: the second in a row");
        for _ in 0..3 {
            assert_eq!(ask(None).await, Ended::Clean, "{kind}: without a session nothing is counted");
        }
    }
}

#[tokio::test]
async fn a_budget_counts_over_the_requests_of_a_session_named_in_the_body() {
    let (server, directory) = (upstream().await, Directory::new("session-body"));
    let session = r#"{ body = ["/metadata/user_id", "/safety_identifier", "/labels/session"] }"#;
    let file = directory.file("gateway.toml", &config(session));
    let gateway = Gateway::start(&["--config", &file, "--upstream", &server.url("")]);
    for kind in WireKind::ALL {
        let (path, body) = question(kind, true);
        let named = match kind {
            WireKind::AnthropicMessages => format!(r#"{{"metadata":{{"user_id":"{kind}"}},"#),
            WireKind::Gemini => format!(r#"{{"labels":{{"session":"{kind}"}},"#),
            _ => format!(r#"{{"safety_identifier":"{kind}","#),
        };
        let body = body.replacen('{', &named, 1);
        assert_eq!(ended(&gateway.post(path, &body).await, kind), Ended::Clean, "{kind}");
        assert_eq!(ended(&gateway.post(path, &body).await, kind), Ended::Refused, "{kind}");
    }
}

#[tokio::test]
async fn a_session_that_is_required_and_not_named_gets_status_400_in_the_shape_of_the_api() {
    let (server, directory) = (upstream().await, Directory::new("session-required"));
    let file = directory.file("gateway.toml", &config(r#"{ header = "x-session", required = true }"#));
    let gateway = Gateway::start(&["--config", &file, "--upstream", &server.url("")]);
    let answer = gateway.ask(WireKind::AnthropicMessages, true).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(
        answer.text(),
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"expected a session in the header x-session, found none"}}"#
    );
    let (path, body) = question(WireKind::AnthropicMessages, true);
    let answer = gateway.post_with(path, &body, &[("x-session", "a")]).await;
    assert_eq!(ended(&answer, WireKind::AnthropicMessages), Ended::Clean);
}

/// Asks twice with the keys of two clients, in turn; how each answer ended.
async fn in_turn(session: &str, name: &str, headers: &[(&str, &str)]) -> Vec<Ended> {
    let (server, directory) = (upstream().await, Directory::new(name));
    let clients = known("one", "") + &known("two", "");
    let text = config(session).replacen("[[policy]]", &format!("{clients}[[policy]]"), 1);
    let file = directory.file("gateway.toml", &text);
    let gateway = Gateway::start(&["--config", &file, "--upstream", &server.url("")]);
    let kind = WireKind::OpenAiChat;
    let (path, body) = question(kind, true);
    let mut fared = Vec::new();
    for key in ["key-of-one", "key-of-two", "key-of-one", "key-of-two"] {
        let mut request = http::Request::post(gateway.url(path)).header("x-api-key", key);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = answer(request.body(http_body_util::Full::from(body.clone())).unwrap()).await;
        fared.push(ended(&answer, kind));
    }
    fared
}

#[tokio::test]
async fn all_requests_of_a_client_are_one_session_where_the_file_says_so() {
    let fared = in_turn("{ client = true }", "session-client", &[]).await;
    assert_eq!(fared, [Ended::Clean, Ended::Clean, Ended::Refused, Ended::Refused]);
}

#[tokio::test]
async fn clients_that_name_the_same_session_do_not_share_it() {
    let fared = in_turn("{ header = \"x-session\" }", "session-of-clients", &[("x-session", "a")]).await;
    assert_eq!(fared, [Ended::Clean, Ended::Clean, Ended::Refused, Ended::Refused]);
}

/// `replay` reads the same file, with the session from its arguments.
#[test]
fn a_replay_counts_in_the_session_that_it_is_told() {
    let directory = Directory::new("session-replay");
    let budget = config(r#"{ header = "x-session" }"#).replace("budget = 2", "budget = 1");
    let file = directory.file("gateway.toml", &budget);
    for kind in WireKind::ALL {
        let bytes = Script::new().text("So.").call("call_1", "shell", "{}").bytes(kind);
        let log = directory.file(&format!("{kind}.sse"), std::str::from_utf8(&bytes).unwrap());
        let replay = |more: &[&str]| {
            let out = std::process::Command::new(env!("CARGO_BIN_EXE_gateway"))
                .args(["replay", &log, "--config", &file])
                .args(more)
                .output()
                .unwrap();
            stream_testkit::conformance::check(kind, &out.stdout).view().ended
        };
        assert_eq!(replay(&["--session", "a"]), Ended::Refused, "{kind}");
        assert_eq!(replay(&[]), Ended::Clean, "{kind}");
    }
}
