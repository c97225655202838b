//! A process that serves until the one that started it is gone.

use std::error::Error;
use std::io::{self, Write as _};
use std::net::Ipv4Addr;

use axum::Router;
use axum::serve::ListenerExt as _;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

/// Serves a router.
pub(crate) async fn serve(router: Router) -> Result<(), Box<dyn Error>> {
    run(async |listener: TcpListener| {
        // A connection that cannot be set up shows as an error of its stream.
        let listener = listener.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        Ok(axum::serve(listener, router).await?)
    })
    .await
}

/// Serves on a free port of the loopback interface, says where on standard output, and ends with standard input.
pub(crate) async fn run(
    serve: impl AsyncFnOnce(TcpListener) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    let mut rest = Vec::new();
    let mut stdin = tokio::io::stdin();
    tokio::select! {
        served = serve(listener) => served,
        read = stdin.read_to_end(&mut rest) => Ok(read.map(|_| ())?),
    }
}
