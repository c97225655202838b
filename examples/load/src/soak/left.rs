//! What a process has open: tasks, questions to judges, sockets.

use std::error::Error;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use axum::routing::get;
use http_body_util::BodyExt as _;
use tokio::runtime::Handle;

use super::policies::Judges;
use crate::child::Child;
use crate::process::Process;
use crate::{live, proxy};

/// What a process has open.
#[derive(Debug)]
pub(super) struct Left {
    tasks: usize,
    judges: usize,
    sockets: usize,
    live: Option<usize>,
    process: Process,
}

impl Left {
    /// Asks a process. The question is a task and a socket as well, each time.
    pub(super) async fn of(child: &Child) -> Result<Self, Box<dyn Error>> {
        let request = Request::get(format!("http://{}{PATH}", child.address()))
            .header(header::CONNECTION, "close")
            .body(Body::empty())?;
        let body = proxy::client().request(request).await?.into_body().collect().await?.to_bytes();
        let body = str::from_utf8(&body)?;
        let numbers: Vec<&str> = body.split(' ').collect();
        let [tasks, judges, live @ ..] = &numbers[..] else {
            return Err(format!("expected numbers, found {body}").into());
        };
        let process = child.process();
        Ok(Self {
            tasks: tasks.parse()?,
            judges: judges.parse()?,
            sockets: process.sockets().unwrap_or(0),
            live: live.first().map(|live| live.parse()).transpose()?,
            process,
        })
    }

    pub(super) fn is_no_more_than(&self, before: &Self) -> bool {
        self.rows(before).iter().all(|(_, now, before)| now <= before)
    }

    /// Each number of this and of the other.
    pub(super) fn rows(&self, other: &Self) -> [(&'static str, usize, usize); 3] {
        [
            ("tasks", self.tasks, other.tasks),
            ("questions to judges", self.judges, other.judges),
            ("sockets", self.sockets, other.sockets),
        ]
    }

    /// How many bytes of the process's heap are in use, if it counts them.
    pub(super) fn live(&self) -> Option<usize> {
        self.live
    }

    /// Whether as much of the heap is in use as before, but for what is set up once.
    pub(super) fn is_given_back(&self, before: &Self) -> bool {
        match (self.live, before.live) {
            (Some(now), Some(before)) => now <= before + ONCE,
            _ => true,
        }
    }

    /// How many bytes of memory the process has.
    pub(super) fn memory(&self) -> Option<u64> {
        self.process.resident()
    }
}

/// Answers [`Left::of`].
pub(super) fn router(judges: Judges) -> Router {
    Router::new().route(
        PATH,
        get(async move || {
            let tasks = Handle::current().metrics().num_alive_tasks();
            let live = live::bytes().map(|live| format!(" {live}")).unwrap_or_default();
            format!("{tasks} {}{live}", judges.load(Ordering::Relaxed))
        }),
    )
}

const PATH: &str = "/soak/left";
/// What a process may set up once and keep: tables of the runtime and of its connections, which grow with the most that was
/// open, by some bytes for each.
const ONCE: usize = 2_000_000;
