//! The right answers: those of the same layer over the same upstream, without a network.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use futures::future::try_join_all;
use http_body_util::BodyExt as _;
use tower_service::Service as _;

use super::case::Case;
use super::policies::{Judges, police};
use super::upstream;
use crate::check::Expected;

/// A case with its right answer.
#[derive(Debug)]
pub(super) struct Right {
    pub(super) case: Case,
    pub(super) status: StatusCode,
    pub(super) body: Arc<Expected>,
}

/// The right answers of all cases, in their order.
pub(super) async fn answers(idle: Duration) -> Result<Vec<Right>, Box<dyn Error>> {
    let service = police(upstream::router(Duration::ZERO), idle, Judges::default())?;
    let cases = Case::all().into_iter().enumerate();
    try_join_all(cases.map(|(number, case)| answer(service.clone(), number, case))).await
}

async fn answer(mut service: Router, number: usize, case: Case) -> Result<Right, Box<dyn Error>> {
    let response = service.call(case.request(number, "localhost")?).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    Ok(Right { case, status, body: Arc::new(Expected::plain(body.to_vec())) })
}

#[cfg(test)]
mod tests {
    use stream_testkit::WireKind;
    use stream_testkit::conformance::{Ended, View, check, check_whole};

    use super::super::fate::Fate;
    use super::super::policies::ALLOWED;
    use super::*;

    /// The text and the calls of an answer, and how it ended.
    fn said(view: &View) -> (String, Vec<(String, String)>, Ended) {
        let choice = view.choices.first().cloned().unwrap_or_default();
        let calls = choice.calls.into_iter().map(|call| (call.name, call.arguments)).collect();
        (choice.content, calls, view.ended)
    }

    /// What the policies let through of the case, as a client reads it.
    fn expected(case: Case) -> (String, Vec<(String, String)>, Ended) {
        let log = case.log(Duration::ZERO);
        let check = if case.fate == Fate::Whole { check_whole } else { check };
        let (sent, _, _) = said(check(case.kind, log.bytes()).view());
        let key = format!("sk-{}a1", "k3y9".repeat(7));
        let redacted = sent.replace(&key, "[redacted]");
        let call = (ALLOWED.to_owned(), r#"{"path":"notes.txt"}"#.to_owned());
        match case.fate {
            Fate::Complete | Fate::ClientLeaves | Fate::AtTheLimit | Fate::Whole => {
                (redacted, vec![call], Ended::Clean)
            }
            Fate::Denied | Fate::JudgeHangs => (redacted, Vec::new(), Ended::Clean),
            // The longest frame of Responses is its last one, which repeats the whole answer.
            Fate::OverTheLimit if case.kind == WireKind::OpenAiResponses => {
                (redacted, vec![call], Ended::Error)
            }
            Fate::OverTheLimit => (String::new(), Vec::new(), Ended::Error),
            Fate::UpstreamBreaks | Fate::UpstreamHangs | Fate::UpstreamEnds => {
                let last = match case.kind {
                    WireKind::OpenAiChat => "[redacted] from he",
                    WireKind::OpenAiResponses => "[redacted] from here on, but it is",
                    WireKind::AnthropicMessages | WireKind::Gemini => "[redacted]",
                };
                (format!("from here on, but it is well,  {last}"), Vec::new(), Ended::Error)
            }
        }
    }

    /// What a case is made for is in its answer: the comparison is with something that was looked at.
    #[tokio::test(start_paused = true)]
    async fn the_answers_show_the_fates() {
        let answers = answers(Duration::from_secs(5)).await.unwrap();
        assert_eq!(answers.len(), 40);
        for Right { case, status, body } in answers {
            assert_eq!(status, StatusCode::OK, "{case:?}");
            let check = if case.fate == Fate::Whole { check_whole } else { check };
            let report = check(case.kind, body.bytes());
            assert_eq!(report.to_string(), "", "{case:?}");
            assert_eq!(said(report.view()), expected(case), "{case:?}");
        }
    }
}
