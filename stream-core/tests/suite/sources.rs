//! The error that closes a stream has its cause as its source.

use std::error::Error as _;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use stream_core::{Error, ErrorKind, PolicyError, StreamProcessor, policy_fn};

use crate::kit::SendAll;

const FRAME: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n";

async fn closed_by(
    policy: impl stream_core::Policy + 'static,
    reads: Vec<Result<&'static str, std::io::Error>>,
) -> Error {
    let processor = StreamProcessor::new(stream::iter(reads), policy).unwrap();
    let handle = processor.handle();
    let _: Vec<Bytes> = processor.collect().await;
    handle.outcome().unwrap().error.unwrap()
}

#[tokio::test]
async fn an_error_in_transport_is_the_source() {
    let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    let error = closed_by(SendAll, vec![Ok(FRAME), Err(reset)]).await;
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert_eq!(
        error.to_string(),
        "upstream: expected the rest of the stream, found an error: connection reset"
    );
    let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    assert_eq!(source.map(std::io::Error::kind), Some(std::io::ErrorKind::ConnectionReset));
}

#[tokio::test]
async fn the_error_of_a_policy_is_the_source() {
    let parses = policy_fn(|_, _, _| {
        "one".parse::<u8>()?;
        Ok::<(), PolicyError>(())
    });
    let error = closed_by(parses, vec![Ok(FRAME)]).await;
    assert_eq!(error.kind(), ErrorKind::PolicyFailed);
    let source = error.source().and_then(|source| source.downcast_ref::<std::num::ParseIntError>());
    assert_eq!(source.map(ToString::to_string).as_deref(), Some("invalid digit found in string"));
}

#[tokio::test]
async fn what_is_wrong_with_a_frame_is_the_source() {
    let error = closed_by(SendAll, vec![Ok(FRAME), Ok("data: {\"choices\":7}\n\n")]).await;
    assert_eq!(error.kind(), ErrorKind::Malformed);
    let source = error.source().and_then(|source| source.downcast_ref::<stream_core::wire::DecodeError>());
    assert_eq!(source.map(ToString::to_string), error.to_string().strip_prefix("upstream: ").map(Into::into));
}
