//! The client: many streams at once, each held against what should arrive.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::check::{Check, Expected};
use crate::open::Gauge;
use crate::proxy;
use crate::tally::Tally;
use crate::traffic::now;
use crate::upstream::PACE;

/// Streams to be opened.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) target: SocketAddr,
    /// How many at once.
    pub(crate) streams: usize,
    /// How many after one another, in the place of each.
    pub(crate) each: usize,
    /// The time between two chunks.
    pub(crate) pace: Duration,
    /// What should arrive.
    pub(crate) expected: Arc<Expected>,
}

impl Load {
    /// Opens all of them and reads them to their ends.
    pub(crate) async fn run(self) -> Tally {
        let (streams, start) = (self.streams, Instant::now());
        let shared = Arc::new(Shared {
            load: self,
            client: proxy::client(),
            opening: Semaphore::new(OPENING),
            open: Gauge::default(),
        });
        let mut places = JoinSet::new();
        for _ in 0..streams {
            places.spawn(place(Arc::clone(&shared)));
        }
        let mut tally = Tally::default();
        while let Some(place) = places.join_next().await {
            match place {
                Ok(place) => tally.merge(place),
                Err(error) => tally.fail(error.to_string(), 1),
            }
        }
        tally.open = shared.open.most();
        tally.elapsed = start.elapsed();
        tally
    }
}

#[derive(Debug)]
struct Shared {
    load: Load,
    client: Client<HttpConnector, Body>,
    opening: Semaphore,
    open: Gauge,
}

async fn place(shared: Arc<Shared>) -> Tally {
    let mut tally = Tally::default();
    for _ in 0..shared.load.each {
        match stream(&shared, &mut tally).await {
            Ok(()) => tally.streams += 1,
            Err(error) => tally.fail(error.to_string(), 1),
        }
    }
    tally
}

async fn stream(shared: &Shared, tally: &mut Tally) -> Result<(), Box<dyn Error + Send + Sync>> {
    let Shared { load, client, .. } = shared;
    let request = Request::post(format!("http://{}/v1/chat/completions", load.target))
        .header(header::CONTENT_TYPE, "application/json")
        .header(PACE, load.pace.as_millis().to_string())
        .body(Body::from(REQUEST))?;
    let mut opening = Some(shared.opening.acquire().await?);
    let start = Instant::now();
    let response = client.request(request).await?;
    if response.status() != StatusCode::OK {
        return Err(format!("status {}", response.status()).into());
    }
    let mut body = response.into_body();
    let mut check = Check::new(Arc::clone(&load.expected));
    let mut open = None;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if opening.take().is_some() {
            tally.first_bytes.push(u32::try_from(start.elapsed().as_micros()).unwrap_or(u32::MAX));
            open = Some(shared.open.enter());
        }
        tally.bytes += data.len();
        if !check.take(&data, now(), &mut tally.delays) {
            return Err("wrong bytes".into());
        }
    }
    drop(open);
    if check.is_complete() { Ok(()) } else { Err("cut short".into()) }
}

/// How many streams may wait for their first byte at once: more than a listener's queue are not turned away, but come
/// a second later.
pub(crate) const OPENING: usize = 512;

const REQUEST: &str = r#"{"model":"some-model","stream":true,"messages":[{"role":"user","content":"What is in my notes?"}],"tools":[{"type":"function","function":{"name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]}"#;
