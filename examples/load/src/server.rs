//! A process that serves until the one that started it is gone.

use std::io::{self, Write as _};
use std::net::Ipv4Addr;

use axum::Router;
use axum::serve::ListenerExt as _;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

/// Serves on a free port of the loopback interface, says where on standard output, and ends with standard input.
pub(crate) async fn serve(router: Router) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    // A connection that cannot be set up shows as an error of its stream.
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    let serving = tokio::spawn(axum::serve(listener, router).into_future());
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    serving.abort();
    Ok(())
}
