//! The assembler: bytes in, blocks out, without policies and without async.

mod calls;
mod choice;
mod complete;
mod copies;
pub(crate) mod fold;
mod numbered;
mod opaque;
mod running;
mod written;

use bytes::Bytes;

use std::sync::Arc;
use std::time::Duration;

use crate::block::StreamBlock;
use crate::engine::Config;
use crate::engine::reader::FrameReader;
use crate::error::Error;
use crate::state::StreamState;
use crate::text_calls::TextCalls;
use crate::wire::{Outgoing, SharedFormat};
use fold::{Fold, Keep, Transition};

/// Folds a stream into blocks: a client-side accumulator for any of the wire formats.
///
/// ```
/// use stream_core::Assembler;
///
/// let mut assembler = Assembler::new();
/// assembler.push(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n")?;
/// assembler.push(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" there\"},\"finish_reason\":\"stop\"}]}\n\n")?;
/// assembler.finish()?;
/// let text = assembler.state().blocks()[0].as_text().unwrap();
/// assert_eq!(text.text(), "Hello there");
/// assert_eq!(assembler.state().finish_reason().unwrap().raw(), "stop");
/// # Ok::<(), stream_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Assembler {
    reader: FrameReader,
    text_calls: Option<TextCalls>,
    fold: Option<Fold>,
    /// The state before the first frame.
    empty: StreamState,
    config: Config,
}

impl Assembler {
    /// An assembler that recognises the format by the frames.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Config::default())
    }

    /// An assembler for this format.
    #[must_use]
    pub fn for_format(format: SharedFormat) -> Self {
        Self::with(Config::default().format(format))
    }

    /// An assembler with these settings.
    #[must_use]
    pub fn with(config: Config) -> Self {
        let mut reader = FrameReader::new(&config, true);
        reader.forget();
        Self { reader, text_calls: None, fold: None, empty: StreamState::default(), config }
    }

    /// Folds more bytes of the stream.
    ///
    /// # Errors
    ///
    /// When a frame cannot be decoded, breaks the protocol or exceeds a limit.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.push_with(bytes, |_, _| {})
    }

    /// Folds more bytes of the stream, and calls `each` after every transition with the state and the block that just
    /// completed, if one did.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn push_with(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(Option<&StreamBlock>, &StreamState),
    ) -> Result<(), Error> {
        self.reader.push_slice(bytes);
        self.drain(&mut each)
    }

    /// Folds a whole, not streamed, response.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn push_whole(&mut self, body: impl Into<Bytes>) -> Result<(), Error> {
        self.reader.push_whole(body.into());
        self.drain(&mut |_, _| {})
    }

    /// Ends the stream: folds a last event without its border, completes the open blocks of a finished stream and aborts
    /// those of any other.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn finish(&mut self) -> Result<(), Error> {
        self.reader.end(None);
        self.drain(&mut |_, _| {})?;
        let upstream = self.reader.take_end().unwrap_or_default();
        let traits = self.reader.settled_format().traits();
        let fold = self.fold();
        let shutdown = crate::engine::shutdown::Shutdown::natural(upstream, &fold.state, traits);
        if *shutdown.end() == crate::policy::End::Finished {
            while fold.complete_next().is_some() {}
        } else {
            fold.state.abort_open_blocks();
        }
        Ok(())
    }

    /// The state after all bytes so far.
    #[must_use]
    pub fn state(&self) -> &StreamState {
        self.fold.as_ref().map_or(&self.empty, |fold| &fold.state)
    }

    /// The format, once it is known.
    #[must_use]
    pub fn format(&self) -> Option<&SharedFormat> {
        self.reader.format()
    }

    fn drain(&mut self, each: &mut impl FnMut(Option<&StreamBlock>, &StreamState)) -> Result<(), Error> {
        while let Some(frame) = self.reader.next()? {
            let (id, model) = self.reader.take_meta();
            let fold = self.fold();
            fold.meta(id, model);
            let frames = match &mut self.text_calls {
                Some(text_calls) => text_calls.push(frame, Duration::ZERO),
                None => vec![frame],
            };
            self.fold_frames(frames, each)?;
        }
        if let (Some(text_calls), false) = (&mut self.text_calls, self.reader.is_open()) {
            let frames = text_calls.end();
            self.fold_frames(frames, each)?;
        }
        Ok(())
    }

    fn fold_frames(
        &mut self,
        frames: Vec<Outgoing>,
        each: &mut impl FnMut(Option<&StreamBlock>, &StreamState),
    ) -> Result<(), Error> {
        let fold = self.fold();
        frames.into_iter().try_for_each(|frame| fold_frame(fold, frame, each))
    }

    fn fold(&mut self) -> &mut Fold {
        let reader = &mut self.reader;
        if self.fold.is_none() {
            let traits = reader.settled_format().traits();
            self.text_calls = TextCalls::of(&self.config, true, traits);
        }
        let settings = &self.config.shared;
        self.fold
            .get_or_insert_with(|| Fold::new(reader.settled_format(), 0, Keep::ALL, Arc::clone(settings)))
    }
}

impl Default for Assembler {
    fn default() -> Self {
        Self::new()
    }
}

fn fold_frame(
    fold: &mut Fold,
    frame: Outgoing,
    each: &mut impl FnMut(Option<&StreamBlock>, &StreamState),
) -> Result<(), Error> {
    for mut part in frame.parts {
        loop {
            let transition = fold.step(&mut part.delta)?;
            each(fold.state.just_completed(), &fold.state);
            if !matches!(transition, Transition::Completed(_)) {
                break;
            }
        }
    }
    Ok(())
}
