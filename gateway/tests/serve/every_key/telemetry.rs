//! What a collector gets.

use std::time::Duration;

use super::row::{PASS, Row, ask};
use crate::kit::{Directory, Gateway};
use crate::telemetry::collector::Collector;
use crate::tls::Authority;

/// The rows name no collector: each has its own, which is started when the row is looked at.
pub(super) fn rows() -> Vec<Row> {
    let row = |key, keys: &str, values: [&str; 2], see| {
        Row::new(key, &format!("[telemetry]\n{keys}\n{PASS}"), values, see)
    };
    let base = "endpoint = \"$COLLECTOR\"\n@";
    vec![
        row("telemetry.endpoint", "endpoint = @", ["\"$COLLECTOR\"", "\"http://127.0.0.1:1\""], |world| {
            Box::pin(
                async move { told(&world.file, &world.directory, false).await.spans().len().to_string() },
            )
        }),
        row("telemetry.ca", base, ["ca = \"ca.pem\"", ""], |world| {
            Box::pin(async move { told(&world.file, &world.directory, true).await.spans().len().to_string() })
        }),
        row("telemetry.headers_env", base, ["headers_env = { x-token = \"KEY_A\" }", ""], |world| {
            Box::pin(async move {
                format!("{:?}", told(&world.file, &world.directory, false).await.tokens().last())
            })
        }),
        row("telemetry.service", base, ["service = \"edge\"", ""], |world| {
            Box::pin(
                async move { format!("{:?}", told(&world.file, &world.directory, false).await.resources()) },
            )
        }),
        row("telemetry.sample", base, ["sample = 0.0", ""], |world| {
            Box::pin(
                async move { told(&world.file, &world.directory, false).await.spans().len().to_string() },
            )
        }),
        row("telemetry.every", base, ["every = \"200ms\"", ""], |world| {
            Box::pin(async move {
                let (collector, _gateway) = asked(&world.file, &world.directory, false).await;
                tokio::time::sleep(Duration::from_secs(2)).await;
                collector.spans().len().to_string()
            })
        }),
    ]
}

/// The program with a collector, which was asked once.
async fn asked(file: &str, directory: &Directory, tls: bool) -> (Collector, Gateway) {
    let authority = Authority::new();
    directory.file("ca.pem", &authority.pem());
    let (certificate, key) = authority.sign("localhost");
    let identity = tls.then(|| (certificate.pem(), key.serialize_pem()));
    let (collector, endpoint) = Collector::start(identity).await;
    let text = std::fs::read_to_string(file).unwrap();
    let file = directory.file("gateway.toml", &text.replace("$COLLECTOR", &endpoint));
    let gateway =
        Gateway::spawn(&["--config", &file], &super::row::KEYS, "error", std::process::Stdio::null());
    ask(&gateway, "demo").await;
    (collector, gateway)
}

/// What was told when the program has stopped.
async fn told(file: &str, directory: &Directory, tls: bool) -> Collector {
    let (collector, gateway) = asked(file, directory, tls).await;
    gateway.terminate();
    tokio::task::spawn_blocking(move || gateway.wait()).await.unwrap();
    collector
}
