//! Settings of a server.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;

use super::Server;
use super::connection::{Script, accept};
use super::replies::Replies;
use super::reply::Reply;
use super::tally::Book;

/// Builds a [`Server`]: replies by path, replies in order, and how fast they come.
#[derive(Debug, Clone)]
#[must_use]
pub struct Builder {
    by_path: BTreeMap<String, VecDeque<Reply>>,
    in_order: VecDeque<Reply>,
    speed: f64,
}

impl Default for Builder {
    fn default() -> Self {
        Self { by_path: BTreeMap::new(), in_order: VecDeque::new(), speed: 1.0 }
    }
}

impl Builder {
    /// Answers requests of this path, whatever their query. Of several replies each is given once, in order, and the
    /// last for ever.
    pub fn on(mut self, path: impl Into<String>, reply: impl Into<Reply>) -> Self {
        self.by_path.entry(path.into()).or_default().push_back(reply.into());
        self
    }

    /// Answers one request of any path that has no replies of its own, after those before. A request for which none
    /// is left gets status 404.
    pub fn then(mut self, reply: impl Into<Reply>) -> Self {
        self.in_order.push_back(reply.into());
        self
    }

    /// Multiplies the logs' times: by 0.5 everything comes twice as fast, by 0 at once. Stalls stay as long as they
    /// are.
    pub fn scaled(mut self, factor: f64) -> Self {
        self.speed = factor;
        self
    }

    /// Starts to listen, on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// When no port can be had.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O and time.
    pub async fn start(self) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let book = Book::default();
        let replies = Replies::new(self.by_path, self.in_order);
        let script = Script { replies: Arc::new(replies), speed: self.speed, book: book.clone() };
        let (stop, stopped) = watch::channel(());
        tokio::spawn(accept(listener, script, stopped));
        Ok(Server { address, book, stop })
    }
}
