//! The layer in an axum router and in a plain hyper server, over real connections.

use std::net::SocketAddr;

use crate::kit::{path, script, script_without_rm, viewed};
use bytes::Bytes;
use http::header::HOST;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use stream_http::{Facts, Plan, PolicyLayer};
use stream_testkit::faults::Fault;
use stream_testkit::server::{Reply, Server};
use stream_testkit::{ChunkLog, WireKind};
use tokio::net::{TcpListener, TcpStream};
use tower::{ServiceBuilder, service_fn};

#[tokio::test]
async fn a_router_of_axum_streams_what_policies_leave() {
    for kind in WireKind::ALL {
        let target = path(kind, true);
        let route = target.split('?').next().unwrap();
        let upstream = Server::builder().on(route, script().to_log(kind)).start().await.unwrap();
        let gateway = axum_gateway(upstream.address()).await;
        let answer = ask(gateway, Method::POST, target).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let expected = viewed(kind, &script_without_rm().bytes(kind));
        assert_eq!(viewed(kind, &body).view(), expected.view(), "{kind}");
        assert_eq!(upstream.until(|tally| tally.completed() == 1).await.requests()[0].target, target);
    }
}

#[tokio::test]
async fn a_plain_hyper_server_streams_the_exact_bytes() {
    for kind in WireKind::ALL {
        let log = script_without_rm().to_log(kind);
        let target = path(kind, true);
        let route = target.split('?').next().unwrap();
        let upstream = Server::builder().on(route, log.clone()).start().await.unwrap();
        let gateway = hyper_gateway(upstream.address()).await;
        let body = ask(gateway, Method::POST, target).await.into_body().collect().await.unwrap();
        assert_eq!(body.to_bytes(), log.bytes(), "{kind}");
    }
}

#[tokio::test]
async fn a_whole_answer_has_its_new_length_on_the_wire() {
    for kind in WireKind::ALL {
        let log = whole(script().whole(kind));
        let target = path(kind, false);
        let upstream = Server::builder().on(target, log).start().await.unwrap();
        let answer = ask(hyper_gateway(upstream.address()).await, Method::POST, target).await;
        let length: usize = answer.headers()["content-length"].to_str().unwrap().parse().unwrap();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body.len(), length, "{kind}");
    }
}

#[tokio::test]
async fn a_client_that_goes_away_is_noticed_by_the_upstream() {
    let log = script().to_log(WireKind::OpenAiChat);
    let reply = Reply::new(log.clone()).fault(Fault::Hang { at: log.bytes().len() / 2 });
    let upstream = Server::builder().on("/v1/chat/completions", reply).start().await.unwrap();
    let gateway = axum_gateway(upstream.address()).await;
    let mut answer = ask(gateway, Method::POST, "/v1/chat/completions").await;
    answer.frame().await.unwrap().unwrap();
    drop(answer);
    upstream.cancelled().await;
}

#[tokio::test]
async fn an_error_of_the_upstream_arrives_as_it_is() {
    let log = whole(Bytes::from(r#"{"error":{"message":"slow down"}}"#));
    let upstream = Server::builder().on("/v1/messages", Reply::new(log).status(429)).start().await.unwrap();
    let answer = ask(hyper_gateway(upstream.address()).await, Method::POST, "/v1/messages").await;
    assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, r#"{"error":{"message":"slow down"}}"#);
}

#[tokio::test]
async fn a_refused_route_does_not_reach_the_upstream() {
    let upstream = Server::builder().start().await.unwrap();
    let answer = ask(axum_gateway(upstream.address()).await, Method::POST, "/v1/completions").await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    assert_eq!(upstream.tally().connections(), 0);
}

fn whole(body: Bytes) -> ChunkLog {
    ChunkLog::from_whole("whole", body)
}

fn layer() -> PolicyLayer {
    PolicyLayer::new(|_: &Facts| Plan::new().policy(crate::kit::NoRm))
}

/// The layer around a router whose only route is the upstream.
async fn axum_gateway(upstream: SocketAddr) -> SocketAddr {
    let proxy = service_fn(move |request: Request<axum::body::Body>| async move {
        Ok::<_, std::convert::Infallible>(forward(upstream, request).await.map(axum::body::Body::new))
    });
    let router = axum::Router::new().fallback_service(proxy).layer(layer());
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        let (connection, _) = listener.accept().await.unwrap();
        let service = TowerToHyperService::new(router);
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(connection), service).await
    });
    address
}

/// The layer around a service that is nothing but the upstream.
async fn hyper_gateway(upstream: SocketAddr) -> SocketAddr {
    let service = ServiceBuilder::new().layer(layer()).service(service_fn(move |request| async move {
        Ok::<_, std::convert::Infallible>(forward(upstream, request).await)
    }));
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        let (connection, _) = listener.accept().await.unwrap();
        let service = TowerToHyperService::new(service);
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(connection), service).await
    });
    address
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn ask(gateway: SocketAddr, method: Method, target: &str) -> Response<Incoming> {
    let request = Request::builder().method(method).uri(target).header(HOST, "gateway");
    forward(gateway, request.body(Full::<Bytes>::from("{}")).unwrap()).await
}

async fn forward<B>(to: SocketAddr, request: Request<B>) -> Response<Incoming>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let stream = TcpStream::connect(to).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender.send_request(request).await.unwrap()
}
