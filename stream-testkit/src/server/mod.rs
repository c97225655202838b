//! A scripted HTTP upstream: serves logs with their timing, counts who comes, and notices who goes.
//!
//! It listens on a port of the loopback interface and speaks HTTP/1.1. What a reply says is a log, with the faults of
//! [`faults`](crate::faults) if it is to go wrong: a broken transport is a connection that is closed in the middle.
//!
//! ```
//! use stream_testkit::server::Server;
//! use stream_testkit::{Script, WireKind};
//! use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let log = Script::new().text("Hi").to_log(WireKind::OpenAiChat);
//! let server = Server::builder().on("/v1/chat/completions", log).start().await?;
//!
//! let mut client = tokio::net::TcpStream::connect(server.address()).await?;
//! client.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}").await?;
//! let mut head = [0; 15];
//! client.read_exact(&mut head).await?;
//! assert_eq!(&head, b"HTTP/1.1 200 OK");
//!
//! let tally = server.until(|tally| tally.completed() == 1).await;
//! assert_eq!((tally.connections(), &tally.requests()[0].body[..]), (1, &b"{}"[..]));
//! # Ok(())
//! # }
//! ```

mod body;
mod builder;
mod connection;
mod replies;
mod reply;
mod tally;

use std::net::SocketAddr;

use tokio::sync::watch;

use self::tally::Book;
pub use self::{
    builder::Builder,
    reply::Reply,
    tally::{Fate, Seen, Tally},
};

/// A scripted upstream that is running.
///
/// Dropping it stops it gently: it takes no more connections and no more requests, and what it is answering is answered
/// to its end, as long as the runtime lives.
#[derive(Debug)]
#[must_use = "a server stops when it is dropped"]
pub struct Server {
    address: SocketAddr,
    book: Book,
    /// Gone with the server: that is how its tasks learn of it. Each holds a receiver while it runs.
    stop: watch::Sender<()>,
}

impl Server {
    /// A server with replies to be given.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a path, as clients take it: `http://127.0.0.1:49152/v1/messages`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far, and the fates of their answers.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.book.tally()
    }

    /// Waits until the tally is as asked for, and gives it.
    pub async fn until(&self, reached: impl FnMut(&Tally) -> bool) -> Tally {
        self.book.until(reached).await
    }

    /// Waits until a client has gone away in the middle of an answer.
    pub async fn cancelled(&self) {
        self.until(|tally| tally.cancelled() > 0).await;
    }

    /// Stops as dropping does, and waits for the answers under way. An answer that hangs is waited for until its
    /// client goes.
    pub async fn stop(self) -> Tally {
        let Self { book, stop, .. } = self;
        stop.send_replace(());
        stop.closed().await;
        book.tally()
    }
}
