//! What is checked at the first message.

use bytes::Bytes;
use stream_envoy::proto::{HeaderMap, HttpBody, HttpHeaders, Part, ProcessingRequest, ProtocolConfiguration};
use tonic::Code;

use crate::kit::{Running, Said, passing};

fn first(request: i32, response: i32) -> ProcessingRequest {
    let head = HttpHeaders { headers: Some(HeaderMap::default()), end_of_stream: true };
    ProcessingRequest {
        part: Some(Part::RequestHeaders(head)),
        observability_mode: false,
        protocol_config: Some(ProtocolConfiguration {
            request_body_mode: request,
            response_body_mode: response,
        }),
    }
}

/// In every mode but full duplex Envoy waits for what cannot be told yet.
#[tokio::test]
async fn another_body_mode_fails_at_once() {
    let server = Running::new(passing()).await;
    for (message, expected) in [
        (first(2, 4), "expected request_body_mode to be FULL_DUPLEX_STREAMED, found BUFFERED"),
        (first(4, 1), "expected response_body_mode to be FULL_DUPLEX_STREAMED, found STREAMED"),
        (first(4, 0), "expected response_body_mode to be FULL_DUPLEX_STREAMED, found NONE"),
        (first(9, 4), "expected request_body_mode to be FULL_DUPLEX_STREAMED, found another"),
        (
            ProcessingRequest { observability_mode: true, ..first(4, 4) },
            "expected observability_mode to be off, found it on: Envoy would ignore every decision",
        ),
        (
            ProcessingRequest {
                part: Some(Part::RequestBody(HttpBody { body: Bytes::new(), end_of_stream: false })),
                ..first(4, 4)
            },
            "expected the request's headers first: set request_header_mode to SEND",
        ),
    ] {
        let mut envoy = server.exchange().await;
        envoy.message(message).await;
        assert_eq!(envoy.next().await, Said::Failed(Code::FailedPrecondition, expected.to_owned()));
    }
}

/// A head that cannot be read is refused, not passed.
#[tokio::test]
async fn a_request_without_a_method_is_refused() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.message(first(4, 4)).await;
    let body = r#"{"error":{"message":"expected a method, found none","type":"invalid_request_error","param":null,"code":null}}"#;
    let headers = vec!["set content-type=application/json".to_owned()];
    assert_eq!(envoy.rest().await, [Said::Immediate(400, headers, body.into()), Said::End]);
}
