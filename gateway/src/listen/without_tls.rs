//! A program without TLS.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use tokio::net::TcpStream;

use super::TlsFiles;
use crate::missing;

/// TLS, which this program does not have.
#[derive(Debug)]
pub(crate) struct Tls(Infallible);

impl Tls {
    /// Refuses the files.
    pub(crate) fn load(_: TlsFiles) -> Result<Self, String> {
        Err(missing::feature("tls", "tls"))
    }

    pub(super) fn acceptor(&self) -> Acceptor {
        Acceptor(self.0)
    }
}

/// What a connection would be accepted with.
#[derive(Debug)]
pub(super) struct Acceptor(Infallible);

impl Acceptor {
    pub(super) async fn accept(&self, _: TcpStream) -> io::Result<TcpStream> {
        match self.0 {}
    }
}

/// Certificates of authorities, which nobody looks at.
#[derive(Debug)]
pub(crate) struct Roots;

/// The authorities that a file holds. An upstream with certificates is refused when it is to be reached.
#[expect(clippy::unnecessary_wraps, reason = "a program with TLS reads the file")]
pub(crate) fn roots(_: &Path) -> Result<Roots, String> {
    Ok(Roots)
}
