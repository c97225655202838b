//! OpenAI Chat Completions, and the many servers that speak it.
//!
//! # Copies
//!
//! What this format says twice (rule 19), and who covers it:
//!
//! | copy | of | covered by |
//! |---|---|---|
//! | `reasoning` beside `reasoning_content`, text of `reasoning_details` | reasoning | read once where they say the same, else each by itself; a rebuilt frame has only what was read |
//! | `choices[].message`, `choices[].text` beside `delta` | the delta, or all of the choice so far | a [`Copy`](crate::delta::DeltaKind::Copy), unless it equals the delta beside it; gone from a choice once it was edited |
//! | `choices[].logprobs` | tokens of text and of calls | gone from a choice once it was edited; an annotation *ahead* when it comes without a delta |
//! | `error.failed_generation` | a call that the provider refused | an [`Opaque`](crate::delta::DeltaKind::Opaque) of its own, before the error |
//! | `audio.transcript` | spoken audio | is content; the sound is opaque |

mod body;
mod fragment;
mod place;
mod raw;
mod read;
mod state;
mod turns;
mod view;
mod whole;
mod write;

#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{DecodeError, Decoded, Traits, WireFormat, Writer, WriterOptions};
use crate::delta::FinishKind;
use crate::sse::Frame;

/// OpenAI Chat Completions: `data: {"choices":[{"delta":…}]}` chunks, then `data: [DONE]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenAiChat;

impl WireFormat for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn sniff(&self, frame: &Frame) -> bool {
        frame.data_bytes().and_then(Probe::read).is_some_and(|probe| {
            probe.choices.is_some_and(|raw| raw.get().starts_with('['))
                || probe.object.is_some_and(|raw| raw.get().starts_with("\"chat.completion"))
        })
    }

    fn decode(&self, frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError> {
        read::frame(frame, into)
    }

    fn sniff_whole(&self, body: &[u8]) -> bool {
        Probe::read(body).is_some_and(|probe| {
            let Some(choices) = probe.choices else { return false };
            probe.object.is_some_and(|raw| raw.get() == "\"chat.completion\"")
                || serde_json::from_str::<Vec<MessageProbe>>(choices.get())
                    .is_ok_and(|choices| choices.iter().any(|choice| choice.message.is_some()))
        })
    }

    fn decode_whole(&self, body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
        read::whole(body, into)
    }

    fn finish_word(&self, kind: FinishKind) -> Option<&'static str> {
        match kind {
            FinishKind::Stop => Some("stop"),
            FinishKind::ToolCalls => Some("tool_calls"),
            _ => None,
        }
    }

    fn traits(&self) -> Traits {
        Traits {
            restates: false,
            text_after_call: true,
            finish_is_terminal: true,
            arguments_are_json: false,
            reasoning_is_signed: false,
        }
    }

    fn writer(&self, options: &WriterOptions) -> Box<dyn Writer> {
        Box::new(write::ChatWriter::new(options))
    }
}

/// What tells a chunk or a body of this format from all others.
#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow)]
    choices: Option<&'a RawValue>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
}

impl<'a> Probe<'a> {
    fn read(data: &'a [u8]) -> Option<Self> {
        // Most frames of other formats have neither word, and need no parse.
        let find = |word: &str| memchr::memmem::find(data, word.as_bytes()).is_some();
        if find("\"choices\"") || find("\"chat.completion") {
            serde_json::from_slice(data).ok()
        } else {
            None
        }
    }
}

#[derive(Deserialize)]
struct MessageProbe {
    message: Option<IgnoredAny>,
}
