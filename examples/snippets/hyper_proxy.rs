//! A proxy of nothing but hyper, with the layer: calls of `rm` do not get through.
//!
//! `cargo run -p snippets --example hyper_proxy 127.0.0.1:8000`, with the address of any server that speaks one of the
//! APIs; clients then talk to `http://127.0.0.1:3000`.

use std::error::Error;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use stream_http::{Facts, PolicyLayer, RequestBody};
use stream_policies::ToolGate;
use stream_policies::judge::rules::{Otherwise, Rule, RulesSettings};
use tokio::net::TcpListener;
use tower::{Layer as _, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let upstream = arguments.next().ok_or("expected the upstream, like 127.0.0.1:8000, found nothing")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:3000".to_owned());

    let client = Client::builder(TokioExecutor::new()).build_http();
    let forward = service_fn(move |mut request: Request<RequestBody<Incoming>>| {
        let (client, upstream) = (client.clone(), upstream.clone());
        async move {
            let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
            *request.uri_mut() = format!("http://{upstream}{target}").parse()?;
            Ok::<_, Box<dyn Error + Send + Sync>>(client.request(request).await?)
        }
    });
    let rules = RulesSettings::otherwise(Otherwise::Allow).deny(Rule::tools(["rm"])).build()?;
    let gate = ToolGate::new(rules);
    let proxy = PolicyLayer::new(move |_: &Facts| gate.clone()).layer(forward);

    let listener = TcpListener::bind(address).await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (connection, _) = listener.accept().await?;
        let service = TowerToHyperService::new(proxy.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(connection), service));
    }
}
