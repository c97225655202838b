//! Envoy, in a process of its own.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stream_envoy::bootstrap::{Bootstrap, Cluster, Endpoint, Match, Route};

use crate::process::Process;

/// An Envoy with one worker. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Envoy {
    child: Child,
    address: SocketAddr,
    config: PathBuf,
}

impl Envoy {
    /// One in front of an upstream, with a processor or without, and waits until it takes connections.
    pub(crate) fn start(upstream: SocketAddr, processor: Option<SocketAddr>) -> Result<Self, Box<dyn Error>> {
        let program = std::env::var_os("ENVOY_BIN").ok_or(
            "expected the path of Envoy in ENVOY_BIN (tests/envoy/run installs target/envoy/python/bin/envoy), \
             found none",
        )?;
        // Nobody else asks for ports here.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let at = |address: SocketAddr| Endpoint::new(address.ip().to_string(), address.port());
        let route = Route::new(Match::Any, "upstream");
        let bootstrap = Bootstrap::new(address)
            .processor(at(processor.unwrap_or(upstream)))
            .cluster(Cluster::new("upstream", at(upstream)))
            .route(if processor.is_some() { route } else { route.unpoliced() });
        let config =
            std::env::temp_dir().join(format!("load-{}-{}.yaml", std::process::id(), address.port()));
        std::fs::write(&config, bootstrap.to_string())?;
        let child = Command::new(program)
            .args(["--concurrency", "1", "--use-dynamic-base-id", "--log-level", "error", "-c"])
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        let mut envoy = Self { child, address, config };
        let until = Instant::now() + START;
        while TcpStream::connect(address).is_err() {
            if let Some(status) = envoy.child.try_wait()? {
                return Err(format!("expected an Envoy that runs, found one that ended with {status}").into());
            }
            if Instant::now() > until {
                return Err(format!("expected an Envoy that listens within {START:?}, found none").into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(envoy)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it uses.
    pub(crate) fn process(&self) -> Process {
        Process::new(self.child.id())
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.config);
    }
}

const START: Duration = Duration::from_secs(30);
