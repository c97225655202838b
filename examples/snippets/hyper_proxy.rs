//! A proxy of plain hyper with the layer in it: `cargo run -p snippets --bin hyper_proxy -- http://127.0.0.1:8080`.

use std::net::Ipv4Addr;

use http::{Request, Uri, uri};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use stream_core::Verdict;
use stream_http::{Facts, Plan, PolicyLayer, RequestBody};
use stream_policies::{CompletedCall, ToolGate};
use tokio::net::TcpListener;
use tower::{ServiceBuilder, service_fn};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let upstream: Uri = std::env::args().nth(1).unwrap_or("http://127.0.0.1:8080".to_owned()).parse()?;
    let authority = upstream.authority().ok_or("expected an address such as http://127.0.0.1:8080")?.clone();
    let client = Client::builder(TokioExecutor::new()).build_http::<RequestBody<Incoming>>();
    let proxy = service_fn(move |mut request: Request<RequestBody<Incoming>>| {
        let mut parts = std::mem::take(request.uri_mut()).into_parts();
        parts.scheme = Some(uri::Scheme::HTTP);
        parts.authority = Some(authority.clone());
        *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
        client.request(request)
    });
    let service = ServiceBuilder::new().layer(PolicyLayer::new(plan)).service(proxy);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 8081)).await?;
    loop {
        let (connection, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            // A client that breaks its connection harms nobody else.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(connection), service)
                .await;
        });
    }
}

fn plan(_: &Facts) -> Plan {
    Plan::new().policy(ToolGate::new(async |call: CompletedCall| match call.name() {
        "rm" => Ok(Verdict::drop("rm is not allowed")),
        _ => Ok(Verdict::Release),
    }))
}
