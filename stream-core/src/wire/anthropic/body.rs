//! Writing whole, not streamed, responses.

use bytes::Bytes;

use crate::json;
use crate::sse::Frame;
use crate::wire::{Ending, EndingKind, Outgoing};

use super::content;
use super::numbers::BlockKind;
use super::render::{self, StopFields};
use super::write::MessagesWriter;

impl MessagesWriter {
    /// Writes a whole response (rule 24): as it came if nothing was touched, else with what is left of it.
    pub(super) fn write_body(&mut self, body: &Outgoing, ending: Option<&Ending>) -> Bytes {
        self.ended = true;
        let came = body.frame.as_ref().map(|frame| frame.raw().clone()).unwrap_or_default();
        self.untouched = body.is_untouched();
        self.odd = body.frame.as_ref().and_then(Frame::odd).filter(|_| self.normalise);
        if ending.is_none() && body.is_untouched() && self.odd.is_none() {
            return came;
        }
        self.note(&body.parts);
        let message = std::str::from_utf8(&came).ok().filter(|json| is_message(json));
        let json = message.unwrap_or("{}");
        let written = match ending {
            Some(Ending { kind: EndingKind::Error, message }) => render::error(message),
            // A refusal ends the turn: no call may stay to be run, and text is all there is to keep.
            Some(Ending { kind: EndingKind::Refuse, message: explanation }) => {
                let content = self.content(json, &body.parts, |kind| kind == BlockKind::Text);
                render::message(message, &content, &StopFields::refusal(explanation))
            }
            None => {
                let mut content = self.content(json, &body.parts, |_| true);
                self.complete_whole(&mut content);
                let stop = match message {
                    Some(json) => content::stop_fields(json, content::finish(&body.parts)),
                    None => StopFields::reason("end_turn"),
                };
                render::message(message, &content, &stop)
            }
        };
        Bytes::from(written)
    }
}

fn is_message(json: &str) -> bool {
    json::member(json, "content").is_some()
        || json::member(json, "type").and_then(json::unquote).as_deref() == Some("message")
}
