//! The session of a request, and what a plan tells policies.

use http::{Request, StatusCode};
use stream_core::{Chunk, Context, Ending, Needs, Policy, PolicyError, SessionKey, StreamState, async_trait};
use stream_http::{Facts, Plan, PolicyLayer, Session, Settings};
use stream_testkit::WireKind;

use crate::kit::{CHAT, Gate, json, post, script};

/// Ends the answer with the session's name.
struct TellSession;

#[async_trait]
impl Policy for TellSession {
    fn needs(&self, _: &stream_core::Request) -> Needs {
        Needs::everything().session()
    }

    async fn on_chunk(
        &mut self,
        _: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let session = ctx.request().session().map_or("none", SessionKey::as_str).to_owned();
        ctx.terminate(Ending::error(session));
        Ok(())
    }
}

fn gate(settings: Settings, plan: impl Fn(&Facts) -> Plan + Send + Sync + 'static) -> Gate {
    Gate::new(PolicyLayer::with_settings(settings, plan), || json(script().whole(WireKind::OpenAiChat)))
}

/// The error with which the policy of these tests ends an answer.
fn error(message: &str) -> String {
    format!(
        r#"{{"error":{{"message":"{message}","type":"policy_error","param":null,"code":"blocked_by_policy"}}}}"#
    )
}

#[tokio::test]
async fn policies_see_the_session_that_the_settings_find() {
    let settings = Settings::new().session(Session::header("x-session").unwrap());
    let gate = gate(settings, |facts| {
        assert_eq!(
            facts.session().map(SessionKey::as_str),
            facts.headers().get("x-session").map(|_| "seven")
        );
        Plan::new().policy(TellSession)
    });
    let request = Request::post(CHAT).header("x-session", "seven").body("{}".into()).unwrap();
    let answer = gate.ask(request).await;
    assert_eq!(answer.text(), error("seven"));
    let answer = gate.post(CHAT).await;
    assert_eq!(answer.text(), error("none"));
}

#[tokio::test]
async fn an_extension_of_the_plan_is_the_word_that_counts() {
    let settings = Settings::new().session(Session::body(["/user"]).unwrap());
    let plan = |_: &Facts| Plan::new().policy(TellSession).extension(SessionKey::new("of the plan"));
    let answer = gate(settings, plan).ask(post(CHAT, r#"{"user":"of the body"}"#)).await;
    assert_eq!(answer.text(), error("of the plan"));
}

#[tokio::test]
async fn a_policy_that_counts_by_session_is_refused_where_nobody_tells_it() {
    let gate = gate(Settings::new(), |_| Plan::new().policy(TellSession));
    let answer = gate.post(CHAT).await;
    assert_eq!(answer.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(
        answer.text(),
        concat!(
            r#"{"error":{"message":"the gateway's policies cannot work together: expected a request that names its "#,
            r#"session, by which TellSession counts, or says that it has none; found neither","type":"server_error","#,
            r#""param":null,"code":null}}"#,
        )
    );
}

#[tokio::test]
async fn a_session_said_twice_gets_status_400_and_the_upstream_is_not_asked() {
    let settings = Settings::new().session(Session::body(["/user"]).unwrap());
    let gate = gate(settings, |_| Plan::new().policy(TellSession));
    let answer = gate.ask(post(CHAT, r#"{"user":"a","user":"b"}"#)).await;
    assert_eq!((answer.status, gate.asked().len()), (StatusCode::BAD_REQUEST, 0));
}
