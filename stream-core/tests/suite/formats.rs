//! How a stream's format is found, or held against the one that was named.

#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use stream_core::{Config, ErrorKind, Limits, Passthrough, StreamProcessor, wire};

use crate::kit::{SendAll, named};
use stream_testkit::{Script, WireKind};

async fn process(config: Config, body: &[u8]) -> (Vec<Bytes>, Option<stream_core::Outcome>) {
    let body = Bytes::copy_from_slice(body);
    let upstream = stream::iter([Ok::<_, std::convert::Infallible>(body)]);
    let processor = StreamProcessor::builder().policy(SendAll).config(config).build(upstream).unwrap();
    let handle = processor.handle();
    (processor.collect().await, handle.outcome())
}

/// The events that end a stream which cannot be read on.
fn failure(kind: WireKind) -> String {
    let error = whole_failure(kind);
    match kind {
        WireKind::OpenAiChat => format!("data: {error}\n\ndata: [DONE]\n\n"),
        WireKind::OpenAiResponses => named(&[
            r#"{"type":"error","code":"server_error","message":"the upstream's answer could not be read","param":null,"sequence_number":1}"#,
        ]),
        WireKind::AnthropicMessages => named(&[error]),
        // The lines end as the upstream's do.
        WireKind::Gemini => format!("data: {error}\r\n\r\n"),
    }
}

/// A stream of which nothing could be read: the formats that have an opening open the answer first.
fn failure_alone(kind: WireKind) -> String {
    let opening = match kind {
        WireKind::OpenAiChat => String::new(),
        WireKind::OpenAiResponses => named(&[
            r#"{"type":"response.created","response":{"id":"resp_blocked","object":"response","created_at":0,"status":"in_progress","model":"unknown","output":[]},"sequence_number":0}"#,
        ]),
        WireKind::AnthropicMessages => named(&[
            r#"{"type":"message_start","message":{"id":"msg_blocked","type":"message","role":"assistant","model":"","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}}"#,
        ]),
        WireKind::Gemini => return failure(kind).replace('\r', ""),
    };
    opening + &failure(kind)
}

/// The answer in place of a whole response that cannot be read.
fn whole_failure(kind: WireKind) -> &'static str {
    match kind {
        WireKind::OpenAiChat | WireKind::OpenAiResponses => {
            r#"{"error":{"message":"the upstream's answer could not be read","type":"server_error","param":null,"code":null}}"#
        }
        WireKind::AnthropicMessages => {
            r#"{"type":"error","error":{"type":"api_error","message":"the upstream's answer could not be read"}}"#
        }
        WireKind::Gemini => {
            r#"{"error":{"code":500,"message":"the upstream's answer could not be read","status":"INTERNAL"}}"#
        }
    }
}

#[tokio::test]
async fn the_format_is_found_from_the_frames() {
    for kind in WireKind::ALL {
        let body = Script::new().text("hi").bytes(kind);
        let (out, outcome) = process(Config::default(), &body).await;
        assert_eq!(out.concat(), body);
        assert_eq!(outcome.unwrap().format, Some(kind.name()));
    }
}

#[tokio::test]
async fn a_stream_of_another_format_than_the_named_one_is_closed_with_an_error() {
    for kind in WireKind::ALL {
        for sent in WireKind::ALL.into_iter().filter(|sent| *sent != kind) {
            let config = Config::default().format(wire::named(kind.name()).unwrap());
            let (out, outcome) = process(config, &Script::new().text("hi").bytes(sent)).await;
            let error = outcome.unwrap().error.unwrap();
            assert_eq!(error.kind(), ErrorKind::WrongFormat);
            let message = format!("upstream: expected frames of {kind}, found one of {sent}");
            assert_eq!(error.to_string(), message);
            assert_eq!(String::from_utf8(out.concat()).unwrap(), failure_alone(kind), "{kind}, {sent}");
        }
    }
}

/// A frame tells by itself that it is of another API, whatever came before it: what is written is never of two.
#[tokio::test]
async fn a_frame_of_another_format_in_a_stream_is_closed_with_an_error() {
    let first_frame = |body: Bytes| {
        let text = String::from_utf8(body.to_vec()).unwrap();
        let end = ["\r\n\r\n", "\n\n"].iter().filter_map(|border| Some(text.find(border)? + border.len()));
        text[..end.min().unwrap()].to_owned()
    };
    for format in WireKind::ALL {
        for sent in WireKind::ALL.into_iter().filter(|sent| *sent != format) {
            let first = first_frame(Script::new().text("hi").bytes(format));
            let foreign = Script::new().call("c", "rm", r#"{"a":1}"#).bytes(sent);
            let body = [first.as_bytes(), &foreign].concat();
            for config in [Config::default(), Config::default().format(wire::named(format.name()).unwrap())] {
                let (out, outcome) = process(config, &body).await;
                let error = outcome.unwrap().error.unwrap();
                let message = format!("upstream: expected frames of {format}, found one of {sent}");
                assert_eq!(error.to_string(), message);
                let out = String::from_utf8(out.concat()).unwrap();
                assert_eq!(out, format!("{first}{}", failure(format)), "{format}, {sent}");
            }
        }
    }
}

/// Rule 28: the `event` line is of the named API and the data of another. A writer that goes by the data would begin a stream of that other API.
#[tokio::test]
async fn a_frame_with_the_line_of_one_format_and_the_data_of_another_closes_the_stream() {
    let body = "event: message_start\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n";
    let kind = WireKind::AnthropicMessages;
    let config = Config::default().format(wire::named(kind.name()).unwrap());
    let (out, outcome) = process(config.clone(), body.as_bytes()).await;
    assert_eq!(String::from_utf8(out.concat()).unwrap(), failure_alone(kind));
    let error = outcome.unwrap().error.unwrap();
    assert_eq!(error.to_string(), "upstream: expected an event of type MessageStart, found another type");

    // Where no policy looks, nothing is read that two clients could read in two ways.
    let upstream = stream::iter([Ok::<_, std::convert::Infallible>(Bytes::from(body))]);
    let processor = StreamProcessor::builder().policy(Passthrough).config(config).build(upstream).unwrap();
    assert_eq!(processor.collect::<Vec<_>>().await.concat(), body.as_bytes());
}

/// Rule 24: `stream: false` is no way around the named format either.
#[tokio::test]
async fn a_whole_response_of_another_format_than_the_named_one_is_refused() {
    for kind in WireKind::ALL {
        for sent in WireKind::ALL.into_iter().filter(|sent| *sent != kind) {
            let config = Config::default().format(wire::named(kind.name()).unwrap());
            let builder = StreamProcessor::builder().policy(SendAll).config(config);
            let whole = builder.whole(Script::new().text("hi").whole(sent)).await.unwrap();
            let error = whole.outcome.unwrap().error.unwrap();
            let message = format!("upstream: expected a whole response of {kind}, found one of {sent}");
            assert_eq!(error.to_string(), message);
            assert_eq!(
                String::from_utf8(whole.body.to_vec()).unwrap(),
                whole_failure(kind),
                "{kind}, {sent}"
            );
        }
    }
}

/// Rule 20: also a body of which nothing can be read ends in the API's own words.
#[tokio::test]
async fn a_whole_response_that_cannot_be_read_becomes_the_api_s_error() {
    for kind in WireKind::ALL {
        let config = Config::default().format(wire::named(kind.name()).unwrap());
        let builder = StreamProcessor::builder().policy(SendAll).config(config);
        let whole = builder.whole("{\"half\":").await.unwrap();
        assert_eq!(String::from_utf8(whole.body.to_vec()).unwrap(), whole_failure(kind), "{kind}");
    }
}

#[tokio::test]
async fn comments_before_the_first_event_leave_at_once_and_other_frames_wait_for_the_format() {
    let undecided = "data: {\"error\":{\"message\":\"later\"}}\n\n";
    let chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n";
    let pieces = [": one\n\n", ": two\n\n", undecided, ": three\n\n", chunk];
    let (sender, upstream) = futures::channel::mpsc::unbounded();
    let mut processor = StreamProcessor::new(upstream, SendAll).unwrap();
    let mut seen = Vec::new();
    for piece in pieces {
        sender.unbounded_send(Ok::<_, std::convert::Infallible>(piece)).unwrap();
        let mut now = Vec::new();
        while let Some(Some(bytes)) = futures::FutureExt::now_or_never(processor.next()) {
            now.extend_from_slice(&bytes);
        }
        seen.push(String::from_utf8(now).unwrap());
    }
    let all = format!("{undecided}: three\n\n{chunk}");
    assert_eq!(seen, [": one\n\n", ": two\n\n", "", "", all.as_str()]);
}

/// Rule 26: what waits for the format counts as held.
#[tokio::test]
async fn frames_that_never_tell_the_format_are_bounded() {
    let config = Config::default().limits(Limits::default().held(100));
    let body = "data: {\"error\":{\"message\":\"m\"}}\n\n".repeat(5);
    let (_, outcome) = process(config, body.as_bytes()).await;
    let error = outcome.unwrap().error.unwrap();
    assert_eq!(error.kind(), ErrorKind::HeldLimit);
    assert_eq!(error.to_string(), "limit: expected a frame that tells the format in 100 bytes, found none");
}
