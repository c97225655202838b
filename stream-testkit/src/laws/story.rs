//! What a stream says, block by block, to hold decisions against.
//!
//! The fold only names the blocks: decisions go by its keys. What a call is called and what its arguments are, the
//! independent [checker](crate::conformance) says, so that a mistake of the fold is not made here too.

use std::collections::BTreeMap;

use bytes::Bytes;
use stream_core::{Assembler, BlockKey, Channel, Config, StreamBlock, wire};

use super::case::Breach;
use super::same::difference;
use crate::WireKind;
use crate::conformance::{CallView, ChoiceView, check};
use crate::replay::{Replayed, Step};

/// The blocks of a stream, and where they came.
#[derive(Debug, Default)]
pub(super) struct Story {
    pub(super) blocks: Vec<Told>,
    /// Calls that a client reads where the fold has more or fewer, each with its choice.
    pub(super) strangers: Vec<(u64, CallView)>,
    /// What a client reads otherwise than the fold although the stream is valid: expected and found.
    misread: Option<(String, String)>,
    /// A finish reason or terminal marker came, and no error.
    pub(super) finished: bool,
}

/// One block.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) key: BlockKey,
    pub(super) choice: u64,
    /// Its channel, if it is text.
    pub(super) channel: Option<Channel>,
    /// A transcript of what is spoken.
    pub(super) is_spoken: bool,
    pub(super) is_call: bool,
    /// A call that was written as text.
    pub(super) is_written: bool,
    /// Text or arguments.
    pub(super) body: String,
    pub(super) id: String,
    pub(super) name: String,
    /// The name and the arguments of a call as they were folded: what a frame that is not plain is written anew with.
    pub(super) folded: (String, String),
    /// The fragments it came in, each with the number of its event.
    pub(super) fragments: Vec<(usize, String)>,
    /// The bytes of the events that brought payload of it.
    pub(super) frame_bytes: usize,
}

impl Story {
    /// The story of all that the stream took in.
    pub(super) fn of_run(run: &Replayed, config: &Config) -> Self {
        let taken = run.steps.iter().filter_map(|(_, step)| match step {
            Step::In(frame) => Some(frame.clone()),
            _ => None,
        });
        Self::of(run.format.name(), config, &taken.collect::<Vec<_>>())
    }

    /// The story of these events, up to the first that cannot be folded.
    pub(super) fn of(format: &str, config: &Config, events: &[Bytes]) -> Self {
        let config = match wire::named(format) {
            Some(format) => config.clone().format(format),
            None => config.clone(),
        };
        let mut assembler = Assembler::with(config);
        let mut parts: BTreeMap<BlockKey, Parts> = BTreeMap::new();
        let mut whole = true;
        for (number, event) in events.iter().enumerate() {
            let folded = assembler.push_with(event, |_, state| {
                let Some(block) = state.current_block() else { return };
                let parts = parts.entry(block.key()).or_default();
                let body = body(block);
                if body.len() > parts.len {
                    parts.fragments.push((number, body[parts.len..].to_owned()));
                    parts.frame_bytes += event.len();
                    parts.len = body.len();
                }
            });
            if folded.is_err() {
                whole = false;
                break;
            }
        }
        let whole = whole && assembler.finish().is_ok();
        let state = assembler.state();
        let all_finished = state.choices().count() > 0
            && state.choices().all(|choice| state.finish_reason_of(choice).is_some());
        let finished = whole && state.error().is_none() && (state.is_terminal() || all_finished);
        let tell = |block: &StreamBlock| {
            let Parts { fragments, frame_bytes, .. } = parts.remove(&block.key()).unwrap_or_default();
            let call = block.as_tool_call();
            let name = call.map(stream_core::ToolCall::name).unwrap_or_default().to_owned();
            Told {
                key: block.key(),
                choice: u64::from(block.choice()),
                channel: block.channel(),
                is_spoken: block.as_text().is_some_and(stream_core::TextBlock::is_spoken),
                is_call: call.is_some(),
                is_written: call.is_some_and(|call| call.written().is_some()),
                body: body(block).to_owned(),
                id: call.and_then(|call| call.id()).unwrap_or_default().to_owned(),
                folded: (name.clone(), body(block).to_owned()),
                name,
                fragments,
                frame_bytes,
            }
        };
        let blocks = state.blocks().iter().map(tell).collect();
        let mut story = Self { blocks, strangers: Vec::new(), misread: None, finished };
        if let Ok(format) = format.parse() {
            story.read(format, &events.concat());
        }
        story
    }

    /// # Errors
    ///
    /// When a client reads a valid stream otherwise than the fold.
    pub(super) fn is_read_as_folded(&self) -> Result<(), Breach> {
        match self.misread.clone() {
            Some((read, folded)) => Breach::new(format!("blocks as a client reads them, {read}"), folded),
            None => Ok(()),
        }
    }

    /// Calls as an independent client reads them.
    fn read(&mut self, format: WireKind, body: &[u8]) {
        let report = check(format, body);
        if let (true, Some(format)) = (report.is_clean(), wire::named(format.name())) {
            let mut plain = Assembler::for_format(format);
            if plain.push(body).and_then(|()| plain.finish()).is_ok() {
                self.misread = difference(plain.state(), report.view());
            }
        }
        for choice in &report.view().choices {
            self.read_calls(choice);
        }
    }

    fn read_calls(&mut self, choice: &ChoiceView) {
        let is_here = |told: &&mut Told| told.is_call && !told.is_written && told.choice == choice.index;
        let mut told: Vec<&mut Told> = self.blocks.iter_mut().filter(is_here).collect();
        if told.len() != choice.calls.len() {
            self.strangers.extend(choice.calls.iter().map(|call| (choice.index, call.clone())));
            return;
        }
        for (told, call) in told.iter_mut().zip(&choice.calls) {
            told.id.clone_from(&call.id);
            told.name.clone_from(&call.name);
            told.body.clone_from(&call.arguments);
        }
    }
}

#[derive(Default)]
struct Parts {
    len: usize,
    fragments: Vec<(usize, String)>,
    frame_bytes: usize,
}

fn body(block: &StreamBlock) -> &str {
    match block.as_tool_call() {
        Some(call) => call.arguments(),
        None => block.as_text().map(stream_core::TextBlock::text).unwrap_or_default(),
    }
}
