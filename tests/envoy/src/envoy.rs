//! Envoy.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stream_envoy::bootstrap::{Bootstrap, Cluster, Endpoint, Match, Route};

use crate::client::{Client, Version};
use crate::place::Place;

/// An Envoy that runs. It is killed when this is dropped.
#[derive(Debug)]
pub struct Envoy {
    child: Child,
    address: SocketAddr,
    admin: SocketAddr,
    place: Place,
}

impl Envoy {
    /// One that polices everything: paths under `/h2/` go to the model in HTTP/2, those under `/plain/` are not policed, all
    /// others go to it in HTTP/1.1.
    pub async fn between(model: SocketAddr, processors: &[SocketAddr]) -> Self {
        Self::start(&Self::bootstrap(model, processors).to_string()).await
    }

    /// The configuration of that one.
    pub fn bootstrap(model: SocketAddr, processors: &[SocketAddr]) -> Bootstrap {
        let at = |address: &SocketAddr| Endpoint::new(address.ip().to_string(), address.port());
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let all = processors.iter().fold(Bootstrap::new(any).admin(any), |all, each| all.processor(at(each)));
        all.cluster(Cluster::new("model", at(&model)))
            .cluster(Cluster::new("model-h2", at(&model)).http2())
            .route(Route::new(Match::Prefix("/h2/".to_owned()), "model-h2").prefix("/"))
            .route(Route::new(Match::Prefix("/plain/".to_owned()), "model").prefix("/").unpoliced())
            .route(Route::new(Match::Any, "model"))
    }

    /// Starts one with a configuration, and waits until it takes requests.
    ///
    /// # Panics
    ///
    /// When it does not start.
    #[allow(clippy::panic)]
    pub async fn start(yaml: &str) -> Self {
        let place = Place::new().expect("a directory");
        let config = place.write("envoy.yaml", yaml).expect("a file");
        let (log, admin) = (place.path("envoy.log"), place.path("admin"));
        let child = Command::new(program())
            .env("SOME_KEY", "the-key")
            .args(["--concurrency", "1", "--use-dynamic-base-id", "--log-level", "warning", "-c"])
            .arg(&config)
            .arg("--log-path")
            .arg(&log)
            .arg("--admin-address-path")
            .arg(&admin)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("an Envoy");
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut envoy = Self { child, address: nowhere, admin: nowhere, place };
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(exit) = envoy.child.try_wait().expect("a child") {
                panic!("Envoy ended with {exit}: {}", envoy.log());
            }
            if let Some((address, admin)) = envoy.listening().await {
                (envoy.address, envoy.admin) = (address, admin);
                return envoy;
            }
            assert!(Instant::now() < until, "Envoy does not start: {}", envoy.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Whether a configuration is one that Envoy takes; the error is what it says.
    ///
    /// # Errors
    ///
    /// When it is not.
    pub fn validate(yaml: &str) -> Result<(), String> {
        let place = Place::new().map_err(|error| error.to_string())?;
        let config = place.write("envoy.yaml", yaml).map_err(|error| error.to_string())?;
        let ran = Command::new(program())
            .args(["--mode", "validate", "--use-dynamic-base-id", "-c"])
            .arg(config)
            .output()
            .map_err(|error| error.to_string())?;
        if ran.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&ran.stderr).into_owned()) }
    }

    /// Where clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// A counter or gauge of its own.
    pub async fn stat(&self, name: &str) -> u64 {
        let client = Client::new(self.admin, Version::Http1);
        let page = client.get(&format!("/stats?filter=^{name}$")).await.text();
        page.trim().rsplit(' ').next().and_then(|value| value.parse().ok()).unwrap_or_default()
    }

    /// What it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.place.path("envoy.log")).unwrap_or_default()
    }

    async fn listening(&self) -> Option<(SocketAddr, SocketAddr)> {
        let admin = std::fs::read_to_string(self.place.path("admin")).ok()?.trim().parse().ok()?;
        let client = Client::new(admin, Version::Http1);
        if client.try_get("/ready").await?.text() != "LIVE\n" {
            return None;
        }
        let listeners = client.try_get("/listeners").await?.text();
        let address = listeners.lines().find_map(|line| line.strip_prefix("clients::"))?;
        Some((address.parse().ok()?, admin))
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            // The kit is only ever part of a test.
            #[allow(clippy::print_stderr)]
            {
                eprintln!("Envoy has logged:\n{}", self.log());
            }
        }
    }
}

fn program() -> String {
    std::env::var("ENVOY_BIN").expect("ENVOY_BIN: the tests are run by tests/envoy/run")
}
