//! The scripted upstream of the gateway that the official SDKs are run against.
//!
//! Prints where it listens and what can be asked for, as one line of JSON that is part of the drivers' environment, and runs
//! until standard input is closed.

mod fates;
mod scenario;
mod turn;
mod upstream;

use std::error::Error;
use std::io::Write as _;
use std::net::Ipv4Addr;

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use crate::upstream::Known;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let scenarios = scenario::all();
    let streamed: Vec<&str> = scenarios.iter().map(|scenario| scenario.name).collect();
    let whole: Vec<&str> =
        scenarios.iter().filter(|scenario| scenario.whole).map(|scenario| scenario.name).collect();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let known = Known::new(scenarios);
    let answers = Router::new()
        .route("/asked/{scenario}/{client}", get(asked))
        .route("/fate/{scenario}/{client}", get(fate))
        .fallback(upstream::answer)
        .with_state(known);
    tokio::spawn(axum::serve(listener, answers).into_future());

    let served = serde_json::json!({
        "UPSTREAM": format!("http://{address}"),
        "STREAMED": streamed.join(" "),
        "WHOLE": whole.join(" "),
    });
    writeln!(std::io::stdout(), "{served}")?;
    // Whoever started it holds the other end: it never outlives them.
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    Ok(())
}

async fn asked(State(known): State<Known>, Path((scenario, client)): Path<(String, String)>) -> String {
    known.fates.asked(&format!("{scenario}/{client}")).to_string()
}

async fn fate(State(known): State<Known>, Path((scenario, client)): Path<(String, String)>) -> &'static str {
    known.fates.of(&format!("{scenario}/{client}")).await
}
