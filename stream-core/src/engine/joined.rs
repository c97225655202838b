//! Texts of several choices, joined in the order in which they are written, as some clients read them (rule 28).

use std::sync::Arc;

use super::Engine;
use crate::block::BlockKey;
use crate::delta::{Channel, DeltaKind};
use crate::engine::queue;
use crate::engine::spec::Spec;
use crate::few::Few;
use crate::policy::Attention;
use crate::record::Action;
use crate::scrub::{Remainder, Scrub, end_of};
use crate::wire::{Ending, Fate, Outgoing};

/// The search of one policy in the joined texts. The search stands behind all stages, since a stage may hold the text of one choice while later
/// text of another choice is written.
#[derive(Debug)]
pub(super) struct JoinedTexts {
    stage: usize,
    scrub: Arc<dyn Scrub>,
    /// The choice whose text was written first. While it is the only one, nothing is joined.
    first: Option<u32>,
    several: bool,
    /// The ends of the texts that were written, by channel: of all texts, and of those that stand first in their chunk, which are all that
    /// litellm reads where a stream is nothing but content.
    ends: Few<String>,
    /// How much of the block had left the general way when the lane was taken.
    lane_from: usize,
}

impl JoinedTexts {
    /// The searches of the enforced policies.
    pub(super) fn of(specs: &[Spec]) -> Box<[Self]> {
        let specs = specs.iter().enumerate().filter(|(_, spec)| !spec.watching);
        let joined = specs.filter_map(|(stage, spec)| Some((stage, Arc::clone(spec.needs.scrubs_joined()?))));
        joined
            .map(|(stage, scrub)| Self {
                stage,
                scrub,
                first: None,
                several: false,
                ends: Few::default(),
                lane_from: 0,
            })
            .collect()
    }
}

impl Engine {
    /// Takes matches that begin in the text of one choice and end in another out of a frame. Returns the ending, if such a match ends the stream.
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

    /// Takes such matches of one policy out of one part. Returns the reason, if the part changed.
    fn without_joined_part(&mut self, at: usize, frame: &mut Outgoing, part: usize) -> Option<String> {
        let JoinedTexts { stage, scrub, first, several, ends, .. } = &mut self.joined[at];
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
        // From here on no text takes the lane.
        self.lane.turn_off();
        let readings = if said.delta.site.position == 0 { 2 } else { 1 };
        let readings = || places(channel).into_iter().take(readings);
        let mut found: Option<Remainder> = None;
        for place in readings() {
            let text = found.as_ref().map_or(&**text, |found| &found.rest);
            found = Remainder::of(end_of(ends.or_default(place)), text, &**scrub).or(found);
        }
        let Some(Remainder { rest, reason }) = found else {
            readings().for_each(|place| add(ends.or_default(place), text));
            return None;
        };
        // What is signed is never edited (rule 22).
        let is_signed =
            |key: BlockKey| self.stages.get(key.stage()).is_some_and(|stage| stage.is_signed(key));
        let is_signed = said.key.is_some_and(is_signed);
        let rest = if is_signed { String::new() } else { rest };
        readings().for_each(|place| add(ends.or_default(place), &rest));
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

    /// Notes how much of each stage's block was written before the lane was taken.
    pub(super) fn glides(&mut self, blocks: &[BlockKey]) {
        for JoinedTexts { stage, lane_from, .. } in &mut self.joined {
            let block = blocks.get(*stage).and_then(|key| self.stages[*stage].fold.state.block(*key));
            *lane_from = block.map_or(0, |block| block.body().len());
        }
    }

    /// Notes texts that the lane has written, by the block of each stage: all that was added to the block since the lane was taken,
    /// since nothing is held there.
    pub(super) fn glided(&mut self, blocks: &[BlockKey]) {
        for JoinedTexts { stage, ends, lane_from, .. } in &mut self.joined {
            let block = blocks.get(*stage).and_then(|key| self.stages[*stage].fold.state.block(*key));
            if let Some((block, channel)) = block.and_then(|block| Some((block, block.channel()?))) {
                let [all, _] = places(channel);
                add(ends.or_default(all), block.body().get(*lane_from..).unwrap_or_default());
            }
        }
    }
}

/// Appends a text to the end of what was written.
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
