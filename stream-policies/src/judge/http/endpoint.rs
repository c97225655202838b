//! One question to a service, with attempts and a deadline.

use std::fmt;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy as Redirects;
use reqwest::{Client, StatusCode, Url};
use tokio::time::{sleep, timeout};

use super::settings::EndpointSettings;
use crate::settings_error::SettingsError;

/// A service that is asked by POST of JSON.
#[derive(Clone)]
pub(super) struct Endpoint {
    client: Client,
    url: Url,
    headers: HeaderMap,
    deadline: Duration,
    attempts: u32,
    pause: Duration,
}

/// Why there is no answer. It never says what was asked or answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// The deadline passed.
    TooLate(Duration),
    /// The connection could not be made, or broke.
    Connection,
    /// The service refused to answer.
    Status(StatusCode),
    /// The answer was too long.
    TooLong,
}

impl Endpoint {
    pub(super) fn new(settings: &EndpointSettings) -> Result<Self, SettingsError> {
        let url = Url::parse(&settings.url)
            .map_err(|error| SettingsError::new("url", "a URL", error.to_string()))?;
        match url.scheme() {
            "http" => {}
            "https" if cfg!(feature = "https") => {}
            "https" => return Err(SettingsError::new("url", "http, without the feature `https`", "https")),
            other => return Err(SettingsError::new("url", "http or https", other)),
        }
        if settings.attempts == 0 {
            return Err(SettingsError::new("attempts", "at least 1", "0"));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.headers {
            let at = format!("headers.{name}");
            let name = HeaderName::try_from(name)
                .map_err(|_| SettingsError::new(&at, "the name of a header", "something else"))?;
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| SettingsError::new(&at, "the value of a header", "something else"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let client = Client::builder()
            .redirect(Redirects::none())
            .build()
            .map_err(|error| SettingsError::new("", "an HTTP client", error.to_string()))?;
        let EndpointSettings { deadline, attempts, pause, .. } = *settings;
        Ok(Self { client, url, headers, deadline, attempts, pause })
    }

    /// Asks, as often as the settings allow.
    pub(super) async fn ask(&self, question: String) -> Result<Vec<u8>, NoAnswer> {
        timeout(self.deadline, self.try_all(question)).await.unwrap_or(Err(NoAnswer::TooLate(self.deadline)))
    }

    async fn try_all(&self, question: String) -> Result<Vec<u8>, NoAnswer> {
        let mut pause = self.pause;
        for _ in 1..self.attempts {
            match self.try_once(question.clone()).await {
                Err(failure) if failure.may_pass() => {
                    sleep(pause).await;
                    pause = pause.saturating_mul(2);
                }
                done => return done,
            }
        }
        self.try_once(question).await
    }

    async fn try_once(&self, question: String) -> Result<Vec<u8>, NoAnswer> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(question);
        let mut response = request.send().await.map_err(|_| NoAnswer::Connection)?;
        if response.status() != StatusCode::OK {
            return Err(NoAnswer::Status(response.status()));
        }
        let mut answer = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|_| NoAnswer::Connection)? {
            if answer.len() + piece.len() > LONGEST {
                return Err(NoAnswer::TooLong);
            }
            answer.extend_from_slice(&piece);
        }
        Ok(answer)
    }
}

impl NoAnswer {
    /// Whether another attempt may find an answer.
    fn may_pass(self) -> bool {
        match self {
            Self::Connection => true,
            Self::Status(status) => status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error(),
            Self::TooLate(_) | Self::TooLong => false,
        }
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an answer, found ")?;
        match self {
            Self::TooLate(deadline) => write!(f, "none within {deadline:?}"),
            Self::Connection => f.write_str("no connection"),
            Self::Status(status) => write!(f, "the status {}", status.as_u16()),
            Self::TooLong => write!(f, "more than {LONGEST} bytes"),
        }
    }
}

impl std::error::Error for NoAnswer {}

/// A verdict is short; more is something else.
const LONGEST: usize = 64 << 10;
