//! `gateway envoy`: the policies as Envoy's external processor.

mod exchange;
mod print;

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use futures::FutureExt as _;
use stream_envoy::Server;

use crate::cli;
use crate::config::{Config, Keys};
use crate::listen;
use crate::live::Live;
use crate::reload::{Current, Source};
use crate::serve::eyes::Eyes;
use crate::serve::{Layers, admin, listen_on, log, shutdown};

/// Serves until it is told to stop, or writes Envoy's configuration.
pub(crate) fn run(arguments: &cli::Envoy) -> Result<ExitCode, String> {
    let (file, listen, admin) = (arguments.config.clone(), arguments.listen, arguments.admin);
    let load = move || {
        // Envoy sends the requests on, and the keys with them.
        let mut config = Config::load_with(&file, Keys::Leave)?;
        config.envoy.listen = listen.unwrap_or(config.envoy.listen);
        config.admin = admin.or(config.admin);
        if let Some(record) = &config.record {
            let directory = &record.directory;
            std::fs::create_dir_all(directory)
                .map_err(|error| format!("{}: cannot record there: {error}", directory.display()))?;
        }
        Ok(config)
    };
    let (config, source) = Source::load(&arguments.config, load)?;
    if arguments.print_config {
        let text = print::bootstrap(&config)?.to_string();
        let written = std::io::stdout().write_all(text.as_bytes());
        return written.map(|()| ExitCode::SUCCESS).map_err(|error| format!("standard output: {error}"));
    }
    log(&arguments.logs);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(serve(config, source))
}

async fn serve(config: Config, source: Source) -> Result<ExitCode, String> {
    let (listener, address) = listen_on(config.envoy.listen).await?;
    let (admin, admin_address) = listen_on(config.admin.unwrap_or(ADMIN)).await?;
    let stop = shutdown::asked().shared();
    // Whoever started it may have gone; that is no reason not to serve.
    let _ = write!(
        std::io::stdout(),
        "gateway: serving Envoy on {address}\ngateway: health and counts on http://{admin_address}\n\n{}\n{}\n",
        config.describe(),
        config.settings.describe()
    );
    let _ = std::io::stdout().flush();

    let live = Live::new(config.live_content);
    let eyes = Eyes::new(&config, Some(live.clone()))?;
    let layers = Current::new(Layers::new(&config, &eyes)?);
    let envoy = config.envoy.clone();
    let server = Server::new(exchange::service(layers.clone()))
        .stream_window(envoy.stream_window)
        .connection_window(envoy.connection_window)
        .streams(envoy.streams)
        .drain(envoy.drain);
    // The admin side answers until the program ends, so that the end can be watched.
    let app = admin::app(eyes.meter.clone(), stop.clone()).merge(live.routes());
    tokio::spawn(listen::serve(admin, app, None, config.connections, std::future::pending()));
    let (meter, seen) = (eyes.meter.clone(), eyes.clone());
    tokio::spawn(source.follow(config, layers, meter, move |config| {
        Box::pin(std::future::ready(Layers::new(config, &seen)))
    }));
    let served = server.serve(listener, stop.clone()).await;
    served.map_err(|error| format!("cannot serve: {error}"))?;
    tracing::info!("every stream is over");
    eyes.close().await;
    Ok(ExitCode::SUCCESS)
}

/// Nobody but this machine.
const ADMIN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 50052);
