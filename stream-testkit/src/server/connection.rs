//! Connections and their requests.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;

use bytes::Bytes;
use futures::future::{Either, select};
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::body::{Receipt, Served};
use super::replies::Replies;
use super::tally::{Book, Fate, Seen};

/// What all connections of a server share.
#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) replies: Arc<Replies>,
    pub(super) speed: f64,
    pub(super) book: Book,
}

/// Takes connections until the server stops.
pub(super) async fn accept(listener: TcpListener, script: Script, mut stopped: watch::Receiver<()>) {
    loop {
        let next = match select(pin!(listener.accept()), pin!(stopped.changed())).await {
            Either::Left((next, _)) => next,
            Either::Right(_) => return,
        };
        // A connection that failed before it was taken is the client's affair.
        let Ok((stream, _)) = next else { continue };
        script.book.connected();
        tokio::spawn(serve(stream, script.clone(), stopped.clone()));
    }
}

/// Serves a connection to its end; once the server stops, only what it is answering.
async fn serve(stream: TcpStream, script: Script, mut stopped: watch::Receiver<()>) {
    // Each piece of a log is a packet of its own, as far as the network lets it.
    stream.set_nodelay(true).ok();
    let service = service_fn(|request| answer(request, &script));
    let mut http = http1::Builder::new();
    // Without a date the same log gives the same bytes.
    http.auto_date_header(false);
    let connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    // Errors are clients that went away, which the answers' receipts tell of, and replies that are to break.
    match select(connection, pin!(stopped.changed())).await {
        Either::Left((done, _)) => done.ok(),
        Either::Right((_, mut connection)) => {
            connection.as_mut().graceful_shutdown();
            connection.await.ok()
        }
    };
}

async fn answer(request: Request<Incoming>, script: &Script) -> Result<Response<Served>, Infallible> {
    let (head, body) = request.into_parts();
    let method = head.method.to_string();
    let target = head.uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let body = read(body).await;
    let reply = script.replies.next(head.uri.path());
    let fate = if reply.is_some() { Fate::Serving } else { Fate::Unexpected };
    let number = script.book.requested(Seen { method, target, body, fate });
    let (status, content_type, body) = match reply {
        Some(reply) => {
            let receipt = Receipt::new(script.book.clone(), number);
            let body = Served::log(reply.upstream(script.speed), reply.promised(), receipt);
            (reply.status_code(), reply.content_type(), body)
        }
        None => {
            let message =
                "{\"error\":{\"message\":\"expected no request, found one for which no reply is left\"}}";
            let json = HeaderValue::from_static("application/json");
            (StatusCode::NOT_FOUND, json, Served::message(message.to_owned()))
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    Ok(response)
}

/// The body of a request, as far as it came.
async fn read(mut body: Incoming) -> Bytes {
    let mut whole = Vec::new();
    while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.into_data() {
            whole.extend_from_slice(&data);
        }
    }
    whole.into()
}
