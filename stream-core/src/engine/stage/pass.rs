//! Text that passes a stage without being a part in its queue.

use std::time::Duration;

use super::StageState;
use crate::block::BlockKey;
use crate::chunk::{Body, Chunk, ChunkKind};
use crate::context::Context;
use crate::delta::{Channel, Slot};
use crate::engine::accounts::Account;
use crate::policy::Attention;
use crate::request::Request;

impl StageState {
    /// The open block that more text of this place goes into, and how closely the policy looks at it, if some of the block has
    /// left and nothing waits.
    pub(crate) fn clear_block(
        &self,
        choice: u32,
        slot: Slot,
        channel: Channel,
    ) -> Option<(BlockKey, Attention)> {
        let key = self.fold.running(choice, slot, channel)?;
        let is_idle = self.is_drained() && self.queue.is_idle(choice) && self.deferred.is_empty();
        let is_clear = !self.accounts.any_waiting() && !self.accounts.is_over(choice) && !self.watching;
        // What is said again later has to be what left.
        let restates = self.fold.format.traits().restates;
        let runs = |account: &&Account| account.is_running() && !(restates && account.is_touched());
        self.accounts.get(key).filter(|account| is_idle && is_clear && runs(account))?;
        let attention = match self.bypassed {
            true => Attention::Nothing,
            false => self.needs.of(&self.fold.state.blocks[key.index()]),
        };
        Some((key, attention))
    }

    /// Makes a step of the text that was appended to a block last.
    pub(crate) fn step_to(&mut self, key: BlockKey) {
        self.step += 1;
        self.fold.state.current = Some(key);
        self.fold.state.completed = None;
    }

    /// Takes back the step that was made last.
    pub(crate) fn step_back(&mut self) {
        self.step -= 1;
    }

    /// The chunk and the context for the hook that is called with text of a block.
    pub(crate) fn text_hook<'a>(
        &'a self,
        key: BlockKey,
        text: PassedText,
        request: &'a Request,
        now: Duration,
    ) -> (Chunk, Context<'a>) {
        let PassedText { choice, channel, fields, body } = text;
        let chunk = Chunk {
            step: self.step,
            choice: Some(choice),
            block: Some(key),
            kind: ChunkKind::Text(channel),
            body: Some(body),
            edit: None,
            fields,
        };
        let traits = self.fold.format.traits();
        let state = &self.fold.state;
        (chunk, Context::new(self.step, now, Some(choice), state, &self.accounts, request, traits))
    }

    /// As many frames passed, with that many bytes of text. The steps of hooks are made already, and so is what is kept of the
    /// text.
    pub(crate) fn passed(&mut self, key: BlockKey, frames: usize, bytes: usize, looks: bool, keeps: bool) {
        if !looks {
            self.step += frames as u64;
        }
        self.fold.passed(key, bytes, keeps);
        self.accounts.passed(key, frames);
        self.queue.passed(frames);
    }
}

/// A text that passes.
pub(crate) struct PassedText {
    pub(crate) choice: u32,
    pub(crate) channel: Channel,
    pub(crate) fields: u16,
    pub(crate) body: Body,
}
