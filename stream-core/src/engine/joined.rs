//! Texts of several choices, as those clients read them that put them together in the order in which they leave (rule 28).

use std::sync::Arc;

use super::Engine;
use crate::block::{BlockKey, StreamBlock, TextBlock};
use crate::delta::{Channel, DeltaKind};
use crate::engine::queue;
use crate::engine::spec::Spec;
use crate::few::Few;
use crate::policy::Attention;
use crate::record::Action;
use crate::scrub::{Remainder, Scrub, end_of};
use crate::wire::{Ending, Fate, Outgoing};

/// What one policy does to the texts of several choices. Behind all stages: what a stage holds may leave behind what came later
/// in another choice.
#[derive(Debug)]
pub(super) struct JoinedTexts {
    stage: usize,
    scrub: Arc<dyn Scrub>,
    /// The choice whose text left first. As long as no other one spoke there is nothing to put together.
    first: Option<u32>,
    several: bool,
    /// The ends of what has left, by channel: of all texts, and of those that stand first in their chunk, which are all that litellm takes
    /// where there is nothing but content.
    ends: Few<String>,
}

impl JoinedTexts {
    /// Those of the policies that are enforced.
    pub(super) fn of(specs: &[Spec]) -> Box<[Self]> {
        let specs = specs.iter().enumerate().filter(|(_, spec)| !spec.watching);
        let joined = specs.filter_map(|(stage, spec)| Some((stage, Arc::clone(spec.needs.scrubs_joined()?))));
        joined
            .map(|(stage, scrub)| Self { stage, scrub, first: None, several: false, ends: Few::default() })
            .collect()
    }
}

impl Engine {
    /// A frame that is to be written, without what begins in the text of one choice and ends in that of another. The ending, if
    /// that ends the stream.
    pub(super) fn without_joined(&mut self, frame: &mut Outgoing) -> Option<(usize, Ending)> {
        let mut ending = None;
        for at in 0..self.joined.len() {
            if self.stages[self.joined[at].stage].is_bypassed() {
                continue;
            }
            for part in 0..frame.parts.len() {
                let Some(reason) = self.without_joined_part(at, frame, part) else { continue };
                let JoinedTexts { stage, scrub, .. } = &self.joined[at];
                let (stage, ends) = (*stage, scrub.ending());
                self.record(stage, Action::Edited, reason);
                ending = ending.or(ends.map(|ending| (stage, ending)));
            }
        }
        ending
    }

    /// As [`without_joined`](Self::without_joined), of one policy and one part. The reason, if the part changed.
    fn without_joined_part(&mut self, at: usize, frame: &mut Outgoing, part: usize) -> Option<String> {
        let JoinedTexts { stage, scrub, first, several, ends } = &mut self.joined[at];
        let said = &frame.parts[part];
        let (DeltaKind::Text { channel, text }, Some(choice)) = (&said.delta.kind, said.delta.choice) else {
            return None;
        };
        let (channel, stage) = (*channel, *stage);
        let looks = self.stages[stage].needs.of_channel(channel) != Attention::Nothing;
        if said.fate == Fate::Dropped || text.is_empty() || !looks {
            return None;
        }
        let [all, _] = places(channel);
        if *first.get_or_insert(choice) == choice && !*several {
            add(ends.or_default(all), text);
            return None;
        }
        if !std::mem::replace(several, true) {
            // Texts of one choice are both.
            for [all, firsts] in CHANNELS.map(places) {
                let end = ends.or_default(all).clone();
                *ends.or_default(firsts) = end;
            }
        }
        let readings = if said.delta.site.position == 0 { 2 } else { 1 };
        // From here on every text goes the general way.
        self.lane.is_on = false;
        let mut found: Option<Remainder> = None;
        for place in places(channel).into_iter().take(readings) {
            let text = found.as_ref().map_or(&**text, |found| &found.rest);
            found = Remainder::of(ends.or_default(place), text, &**scrub).or(found);
        }
        let Remainder { rest, reason } = found?;
        // What is signed is never edited (rule 22).
        let is_signed = said.key.is_some_and(|key| self.is_signed(key));
        let rest = if is_signed { String::new() } else { rest };
        let said = &mut frame.parts[part];
        said.fate = queue::edited(said.fate);
        queue::replace_body(&mut said.delta.kind, &rest, None);
        for beside in frame.parts.iter_mut().filter(|beside| beside.delta.choice == Some(choice)) {
            if matches!(beside.delta.kind, DeltaKind::Annotation { .. }) {
                beside.fate = Fate::Dropped;
            }
        }
        Some(reason.unwrap_or_else(|| "texts of several choices".to_owned()))
    }

    /// Texts of these blocks have left by the lane, one for each stage: all that the stage has of the block, since nothing is
    /// held there.
    pub(super) fn glided(&mut self, blocks: &[BlockKey]) {
        for JoinedTexts { stage, ends, .. } in &mut self.joined {
            let block = blocks.get(*stage).and_then(|key| self.stages[*stage].fold.state.block(*key));
            if let Some((block, channel)) = block.and_then(|block| Some((block, block.channel()?))) {
                let [all, _] = places(channel);
                end_of(block.body()).clone_into(ends.or_default(all));
            }
        }
    }

    fn is_signed(&self, key: BlockKey) -> bool {
        let block = self.stages.get(key.stage()).and_then(|stage| stage.fold.state.block(key));
        block.and_then(StreamBlock::as_text).is_some_and(TextBlock::is_signed)
    }
}

/// Adds a text to what has left, of which the end is kept.
fn add(end: &mut String, text: &str) {
    end.push_str(end_of(text));
    let kept = end_of(end).len();
    if end.len() > 8 * kept {
        end.drain(..end.len() - kept);
    }
}

const CHANNELS: [Channel; 3] = [Channel::Content, Channel::Reasoning, Channel::Refusal];

/// Where the ends of a channel are kept: of all texts, and of the first ones.
fn places(channel: Channel) -> [u32; 2] {
    match channel {
        Channel::Content => [0, 3],
        Channel::Reasoning => [1, 4],
        Channel::Refusal => [2, 5],
    }
}
