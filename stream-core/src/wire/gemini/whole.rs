//! Writing a whole body: one response, or an array of what would have been events.

use bytes::Bytes;

use super::made;
use super::read::locate;
use super::rebuild::Closing;
use super::write::GeminiWriter;
use crate::json;
use crate::sse::Frame;
use crate::wire::{Ending, EndingKind, Fate, Outgoing, Part};

impl GeminiWriter {
    /// Writes each response of the body as one of a stream, and the refusal into the only one, or behind the last.
    pub(super) fn whole_body(&mut self, body: &Outgoing, ending: Option<&Ending>) -> Bytes {
        // Of a body that could not be read there is no frame, and an ending all the same.
        let data = body.frame.as_ref().and_then(Frame::data).unwrap_or_default();
        let text = std::str::from_utf8(&data).unwrap_or_default();
        let elements = if text.trim_start().starts_with('[') { json::items(text) } else { None };
        let array = elements.is_some();
        let elements = elements.unwrap_or_else(|| vec![text]);
        let list = |responses: Vec<String>| match responses {
            responses if array => json::array(responses),
            mut responses => responses.pop().unwrap_or_else(|| "{}".into()),
        };
        let closing = match ending {
            None => Closing::Own,
            Some(ending) if ending.kind == EndingKind::Error => {
                self.ledger.turns.end();
                return list(vec![made::error(ending)]).into();
            }
            Some(_) if array => Closing::Later,
            Some(Ending { message, .. }) => Closing::Refused(message),
        };
        let mut responses = Vec::new();
        let mut untouched = true;
        let mut rest = &body.parts[..];
        for (element, text) in elements.into_iter().enumerate() {
            let (parts, later) = rest.split_at(belonging(rest, element));
            rest = later;
            self.latest.learn(&data.slice_ref(text.as_bytes()), parts);
            let mut written = Vec::new();
            self.response(Some(text.as_bytes()), parts, closing, &mut written);
            untouched &= matches!(written[..], [None]);
            responses.extend(written.into_iter().map(|made| made.unwrap_or_else(|| text.to_owned())));
        }
        self.ledger.turns.end();
        match ending {
            None if untouched => return data,
            Some(ending) if array || responses.is_empty() => {
                responses.push(self.refusal(&self.ledger.turns.choices(), &ending.message));
            }
            _ => {}
        }
        list(responses).into()
    }
}

/// How many of the parts stand in this element of the array, or were put in there.
fn belonging(parts: &[Part], element: usize) -> usize {
    let beyond = |part: &Part| part.fate != Fate::Inserted && locate(part.delta.place.outer).0 > element;
    parts.iter().position(beyond).unwrap_or(parts.len())
}
