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
use stream_core::delta::{Delta, DeltaKind};
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
        let line = Line::read(frame.data_bytes().unwrap_or_default())?;
        line.deltas(0, &mut into.deltas);
        Ok(())
    }

    fn sniff_whole(&self, body: &[u8]) -> bool {
        Body::read(body).is_ok_and(|body| body.answer.is_some())
    }

    fn decode_whole(&self, body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
        let body = Body::read(body)?;
        for (at, item) in body.answer.iter().flatten().enumerate() {
            Line::read(item.get().as_bytes())?.deltas(at, &mut into.deltas);
        }
        if let Some(error) = body.error {
            Line::Error(error).deltas(0, &mut into.deltas);
        }
        // A body that came whole is over, whether or not it says so.
        if !into.deltas.iter().any(|delta| matches!(delta.kind, DeltaKind::Terminal)) {
            let behind = body.answer.map_or(0, |answer| answer.len());
            into.deltas.push(Delta::stream(DeltaKind::Terminal).at(behind, 0));
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
    fn read(body: &'a [u8]) -> Result<Self, DecodeError> {
        serde_json::from_slice(body).map_err(|error| DecodeError::json("a whole answer", &error))
    }
}
