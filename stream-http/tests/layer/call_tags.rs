//! The tags around calls for which a request asks.

use http::{Request, StatusCode};
use stream_core::{CallTags, Passthrough};
use stream_http::{Facts, Plan, PolicyLayer, Session, Settings};
use stream_testkit::WireKind;

use crate::kit::{CHAT, Gate, json, post, script};

/// What a policy is told for a request.
async fn told(
    place: Session,
    request: Request<http_body_util::Full<bytes::Bytes>>,
) -> (StatusCode, Option<String>) {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(None));
    let told = std::sync::Arc::clone(&seen);
    let plan = move |facts: &Facts| {
        *told.lock().unwrap() = facts.request().get::<CallTags>().map(|tags| tags.as_str().to_owned());
        Plan::new().policy(Passthrough)
    };
    let layer = PolicyLayer::with_settings(Settings::new().call_tags(place), plan);
    let answer = Gate::new(layer, || json(script().whole(WireKind::OpenAiChat))).ask(request).await;
    let seen = seen.lock().unwrap().clone();
    (answer.status, seen)
}

#[tokio::test]
async fn policies_see_the_tags_that_a_request_asks_for() {
    let header = || Session::header("x-call-tags").unwrap();
    let asked = Request::post(CHAT).header("x-call-tags", "ojlk,dfsd").body("{}".into()).unwrap();
    assert_eq!(told(header(), asked).await, (StatusCode::OK, Some("ojlk,dfsd".to_owned())));
    assert_eq!(told(header(), post(CHAT, "{}")).await, (StatusCode::OK, None));
    let body = || Session::body(["/metadata/tags"]).unwrap();
    let asked = post(CHAT, r#"{"metadata":{"tags":"<a>,</a>"}}"#);
    assert_eq!(told(body(), asked).await, (StatusCode::OK, Some("<a>,</a>".to_owned())));
    // What could be read in two ways is refused.
    let twice = post(CHAT, r#"{"metadata":{"tags":"a,b","tags":"c,d"}}"#);
    assert_eq!(told(body(), twice).await.0, StatusCode::BAD_REQUEST);
}
