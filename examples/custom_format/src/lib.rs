//! A wire format of one's own: newline-delimited JSON, one thing on each line.
//!
//! ```text
//! {"think":"The user wants a list."}
//! {"text":"On it."}
//! {"call":{"id":"call_1","name":"ls","args":{"path":"/"}}}
//! {"done":{"reason":"calls","tokens":12}}
//! ```
//!
//! A whole, not streamed, response is the same lines in an array: `{"answer":[{"text":"Hello."},{"done":{"reason":"stop"}}]}`. Either
//! form may be `{"error":{"code":"…","message":"…"}}` instead.
//!
//! [`House`] reads ([`WireFormat`]), [`HouseWriter`] writes ([`Writer`]). Every policy then works on this format as on
//! the built-in ones:
//!
//! ```
//! use std::sync::Arc;
//!
//! use custom_format::House;
//! use stream_core::{Config, Verdict, each_call};
//! use stream_testkit::{ChunkLog, Replay};
//!
//! let stream = concat!(
//!     "{\"text\":\"On it.\"}\n",
//!     "{\"call\":{\"id\":\"call_1\",\"name\":\"rm\",\"args\":{}}}\n",
//!     "{\"done\":{\"reason\":\"calls\"}}\n",
//! );
//! let log = ChunkLog::from_chunks("house", [(Default::default(), stream.into())]);
//! let replayed = Replay::new(&log)
//!     .config(Config::default().format(Arc::new(House)))
//!     .policy(|| each_call(|_, _| Verdict::drop("no calls")))
//!     .run();
//! assert_eq!(replayed.bytes(), "{\"text\":\"On it.\"}\n{\"done\":{\"reason\":\"stop\"}}\n");
//! ```

mod line;
pub mod write;

use serde::Deserialize;
use serde_json::value::RawValue;
use stream_core::FinishKind;
use stream_core::delta::{Delta, DeltaKind, Span};
use stream_core::sse::{Frame, Framing};
use stream_core::wire::{DecodeError, Decoded, Traits, WireFormat, Writer, WriterOptions};

use crate::line::{Failure, Line};
use crate::write::HouseWriter;

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct House;

impl WireFormat for House {
    fn name(&self) -> &'static str {
        "house"
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn sniff(&self, frame: &Frame) -> bool {
        frame.data_bytes().is_some_and(|data| Line::read(data).is_ok())
    }

    fn decode(&self, frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError> {
        let data = frame.data_bytes().unwrap_or_default();
        Line::read(data)?.deltas(Span::new(0, data.len()), &mut into.deltas);
        Ok(())
    }

    fn sniff_whole(&self, body: &[u8]) -> bool {
        let body = std::str::from_utf8(body).ok().and_then(|body| Body::read(body).ok());
        body.is_some_and(|body| body.answer.is_some())
    }

    fn decode_whole(&self, body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
        let data = std::str::from_utf8(body).map_err(|error| DecodeError::new("UTF-8", error.to_string()))?;
        let body = Body::read(data)?;
        for item in body.answer.iter().flatten() {
            // The items are slices of the body: a delta says where its item stands, and the writer takes it from there.
            let element = Span::of(item.get(), data).unwrap_or_default();
            Line::read(item.get().as_bytes())?.deltas(element, &mut into.deltas);
        }
        if let Some(error) = body.error {
            Line::Error(error).deltas(Span::default(), &mut into.deltas);
        }
        // A body that came whole is over, whether or not it says so.
        if !into.deltas.iter().any(|delta| matches!(delta.kind, DeltaKind::Terminal)) {
            into.deltas.push(Delta::stream(DeltaKind::Terminal));
        }
        Ok(())
    }

    fn finish_word(&self, kind: FinishKind) -> Option<&'static str> {
        match kind {
            FinishKind::Stop => Some("stop"),
            FinishKind::ToolCalls => Some("calls"),
            _ => None,
        }
    }

    fn traits(&self) -> Traits {
        let mut traits = Traits::default();
        traits.text_after_call = true;
        traits.arguments_are_json = true;
        traits
    }

    fn writer(&self, options: &WriterOptions) -> Box<dyn Writer> {
        Box::new(HouseWriter::new(options))
    }
}

/// A whole response.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body<'a> {
    #[serde(borrow)]
    answer: Option<Vec<&'a RawValue>>,
    error: Option<Failure>,
}

impl<'a> Body<'a> {
    fn read(body: &'a str) -> Result<Self, DecodeError> {
        serde_json::from_str(body).map_err(|error| DecodeError::json("a whole answer", &error))
    }
}
