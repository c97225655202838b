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
    use super::super::fate::Fate;
    use super::super::policies::{DENIED, HANGS};
    use super::*;

    /// What a case is made for is in its answer: the comparison is with something that was looked at.
    #[tokio::test(start_paused = true)]
    async fn the_answers_show_the_fates() {
        let answers = answers(Duration::from_secs(5)).await.unwrap();
        assert_eq!(answers.len(), 40);
        for Right { case, status, body } in answers {
            let text = str::from_utf8(body.bytes()).unwrap();
            let sent = String::from_utf8(case.log(Duration::ZERO).bytes().to_vec()).unwrap();
            let has_call = text.contains("read_file");
            assert_eq!(status, StatusCode::OK, "{case:?}");
            assert!(
                !text.contains("k3y9") && !text.contains(DENIED) && !text.contains(HANGS),
                "{case:?}: {text}"
            );
            match case.fate {
                Fate::Complete | Fate::ClientLeaves | Fate::AtTheLimit | Fate::Whole => {
                    assert!(has_call && text.contains("[redacted]"), "{case:?}: {text}");
                }
                Fate::Denied | Fate::JudgeHangs => assert!(text.contains("[redacted]"), "{case:?}: {text}"),
                Fate::OverTheLimit | Fate::UpstreamBreaks | Fate::UpstreamHangs | Fate::UpstreamEnds => {
                    assert!(text.contains("error") && text.len() < sent.len(), "{case:?}: {text}");
                }
            }
        }
    }
}
