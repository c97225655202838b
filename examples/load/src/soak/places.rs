//! The client: as many places as streams are open at once, one stream after another in each.

use std::error::Error;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::counts::Counts;
use super::fate::Fate;
use super::right::Right;
use crate::check::Check;
use crate::client::OPENING;
use crate::open::Gauge;
use crate::proxy;

/// Streams to be opened until it is time to stop.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) target: SocketAddr,
    /// How many streams are open at once.
    pub(super) streams: usize,
    /// When no stream is opened any more.
    pub(super) end: Instant,
    /// The time over which the first streams are spread.
    pub(super) pace: Duration,
    /// The longest that a stream may take.
    pub(super) longest: Duration,
    pub(super) right: Arc<Vec<Right>>,
}

impl Places {
    /// Opens streams, and reads all of them to their ends.
    pub(super) async fn run(self) -> Counts {
        let streams = self.streams;
        let shared = Arc::new(Shared {
            places: self,
            client: proxy::client(),
            opening: Semaphore::new(OPENING),
            open: Gauge::default(),
        });
        let mut places = JoinSet::new();
        for place in 0..streams {
            places.spawn(occupy(Arc::clone(&shared), place));
        }
        let mut counts = Counts::default();
        while let Some(place) = places.join_next().await {
            match place {
                Ok(place) => counts.merge(place),
                Err(error) => {
                    counts.note(shared.places.right[0].case, Err(error.to_string()));
                }
            }
        }
        counts.open = shared.open.most();
        counts
    }
}

#[derive(Debug)]
struct Shared {
    places: Places,
    client: Client<HttpConnector, Body>,
    opening: Semaphore,
    open: Gauge,
}

/// The case of a place's stream of this number, by chance but the same in every run. Places that went through the cases in one order would
/// move together: memory would rise and fall with them, over more than a quarter of an hour.
fn case_of(place: usize, stream: usize, cases: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    (place, stream).hash(&mut hasher);
    (hasher.finish() % cases as u64) as usize
}

/// One stream after another.
async fn occupy(shared: Arc<Shared>, place: usize) -> Counts {
    let Places { streams, end, pace, longest, right, .. } = &shared.places;
    let mut counts = Counts::default();
    sleep(pace.mul_f64(place as f64 / *streams as f64)).await;
    for turn in 0.. {
        if Instant::now() >= *end {
            break;
        }
        let number = case_of(place, turn, right.len());
        let outcome = match timeout(*longest, stream(&shared, number)).await {
            Ok(outcome) => outcome.map_err(|error| error.to_string()),
            Err(_) => Err("no end".to_owned()),
        };
        counts.note(right[number].case, outcome);
    }
    counts
}

/// One stream: how many bytes arrived, if all of them are right.
async fn stream(shared: &Shared, number: usize) -> Result<usize, Box<dyn Error + Send + Sync>> {
    let Shared { places, client, opening, .. } = shared;
    let Right { case, status, body: expected } = &places.right[number];
    let request = case.request(number, &places.target.to_string())?;
    let permit = opening.acquire().await?;
    let response = client.request(request).await?;
    drop(permit);
    let _open = shared.open.enter();
    if response.status() != *status {
        return Err(format!("status {}", response.status()).into());
    }
    let leaves_at = if case.fate == Fate::ClientLeaves { expected.bytes().len() / 2 } else { usize::MAX };
    let mut body = response.into_body();
    let mut check = Check::new(Arc::clone(expected));
    let mut bytes = 0;
    while bytes < leaves_at
        && let Some(frame) = body.frame().await
    {
        let Ok(data) = frame?.into_data() else { continue };
        bytes += data.len();
        if !check.take(&data, 0, &mut Vec::new()) {
            return Err("wrong bytes".into());
        }
    }
    match check.is_complete() || bytes >= leaves_at {
        true => Ok(bytes),
        false => Err("cut short".into()),
    }
}
