//! Programs that the tests start: the gateway, and Redis.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::place::Place;

/// `gateway envoy`, running. It is killed when this is dropped.
#[derive(Debug)]
pub struct Program {
    child: Child,
    /// Where it is asked for processing.
    pub address: SocketAddr,
    /// Where it tells of itself.
    pub admin: SocketAddr,
}

impl Program {
    /// Starts it with a configuration.
    ///
    /// # Panics
    ///
    /// When it does not start.
    #[must_use]
    pub fn start(config: &Path) -> Self {
        let mut child = Command::new(gateway())
            .args(["envoy", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log", "warn", "--config"])
            .arg(config)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a gateway");
        let mut out = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = || {
            let mut line = String::new();
            let _ = out.read_line(&mut line);
            line.trim()
                .rsplit(['/', ' '])
                .next()
                .and_then(|address| address.parse().ok())
                .expect("an address")
        };
        let (address, admin) = (line(), line());
        // Read on, or the program could not write.
        std::thread::spawn(move || out.read_to_string(&mut String::new()));
        Self { child, address, admin }
    }

    /// Runs the gateway to its end, and returns what it wrote.
    ///
    /// # Errors
    ///
    /// What it wrote to standard error, when it fails.
    ///
    /// # Panics
    ///
    /// When there is no gateway.
    pub fn run(arguments: &[&str]) -> Result<String, String> {
        let ran = Command::new(gateway()).args(arguments).output().expect("a gateway");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr)) }
    }

    /// Sends a signal: `TERM`, `KILL`, `HUP`.
    pub fn signal(&self, name: &str) {
        let _ = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
    }

    /// Waits until it has ended; whether it did so with success.
    pub async fn ended(&mut self, within: Duration) -> Option<bool> {
        let until = Instant::now() + within;
        while Instant::now() < until {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status.success());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        None
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Redis, running. It is killed when this is dropped.
#[derive(Debug)]
pub struct Redis {
    child: Child,
    port: u16,
    place: Place,
}

impl Redis {
    /// Starts it on a port that is free.
    ///
    /// # Panics
    ///
    /// When it does not start.
    #[must_use]
    pub fn start() -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .expect("a port")
            .local_addr()
            .expect("an address")
            .port();
        let place = Place::new().expect("a directory");
        Self { child: spawn(port, &place), port, place }
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Kills it.
    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again, with nothing in it.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub fn again(&mut self) {
        self.child = spawn(self.port, &self.place);
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn(port: u16, place: &Place) -> Child {
    let program = std::env::var("REDIS_BIN").expect("REDIS_BIN: the tests are run by tests/envoy/run");
    let child = Command::new(program)
        .args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
        ])
        .arg(place.directory())
        .stdout(Stdio::null())
        .spawn()
        .expect("a Redis");
    let until = Instant::now() + Duration::from_secs(10);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < until, "Redis does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn gateway() -> String {
    std::env::var("GATEWAY_BIN").expect("GATEWAY_BIN: the tests are run by tests/envoy/run")
}
