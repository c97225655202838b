//! Blocks without a number: running text, and calls named by id and index (chat, Gemini).

use crate::assembler::choice::FoldedCalls;
use crate::assembler::fold::{Fold, Transition, renamed};
use crate::block::{BlockKey, BlockStatus, Head, StreamBlock, ToolCall};
use crate::delta::{CallDelta, CallFlavor, Channel};
use crate::error::{Error, ErrorKind, late};

impl Fold {
    /// Folds text without a number, which continues the open text of its channel, or ends the open blocks and starts a text.
    pub(super) fn running_text(
        &mut self,
        choice: u32,
        channel: Channel,
        spoken: bool,
        text: &str,
    ) -> Result<Transition, Error> {
        let runs_on = |block: &StreamBlock| {
            block.channel() == Some(channel) && block.as_text().is_some_and(|text| text.is_spoken() == spoken)
        };
        let has_calls = self.choices.get(choice).is_some_and(|known| known.calls.is_some());
        // White space between or after calls does not end them (rule 2).
        let ends_calls = has_calls && !text.trim().is_empty();
        if let Some(key) = self.next_to_end(choice, ends_calls, |block| !runs_on(block)) {
            return Ok(self.complete_first(key));
        }
        let texts = &self.choices.or_default(choice).texts;
        let running = texts.iter().copied().find(|key| runs_on(&self.state.blocks[key.index()]));
        let key = match running {
            Some(key) => key,
            None if spoken => self.open(choice, |key| StreamBlock::new_speech(key, choice))?,
            None => self.open(choice, |key| StreamBlock::new_text(channel, key, choice))?,
        };
        self.append(key, text)?;
        Ok(Transition::Folded(Some(key)))
    }

    /// Folds a delta of a call that is named by id and index, either of which may be missing.
    pub(super) fn named_call(
        &mut self,
        choice: u32,
        index: Option<u64>,
        call: &mut CallDelta,
    ) -> Result<Transition, Error> {
        let calls = self.choices.or_default(choice).calls.get_or_insert_default();
        if let Some(key) = calls.named.resolve(&self.state.blocks, index, call) {
            let of_call = self.state.blocks[key.index()].as_tool_call();
            let says = call.name.is_some() || call.arguments.as_deref().is_some_and(|text| !text.is_empty());
            if says && of_call.is_some_and(|known| known.flavor != call.flavor) {
                return Err(Error::new(
                    ErrorKind::Ambiguous,
                    format!("expected more of the call in block {key}, found a call of another kind"),
                ));
            }
            calls.named.learn(key, index, call.id.as_ref());
            self.goes_on_once(choice, key, call)?;
            return self.continue_call(key, call);
        }
        if call.id.is_none() && call.name.is_none() && call.arguments.as_deref().is_none_or(str::is_empty) {
            // An empty delta opens no call.
            return Ok(Transition::Folded(None));
        }
        if let Some(key) = self.next_to_end(choice, true, |_| true) {
            return Ok(self.complete_first(key));
        }
        let legacy = call.flavor == CallFlavor::LegacyFunction;
        if legacy && std::mem::replace(&mut self.calls_of(choice).legacy, true) {
            // Clients append the second call to the first: there is one field for both.
            return Err(Error::new(
                ErrorKind::Ambiguous,
                "expected one function call for each choice, found another",
            ));
        }
        let key = self.open_call(choice, index, call)?;
        self.calls_of(choice).named.learn(key, index, call.id.as_ref());
        Ok(Transition::Folded(Some(key)))
    }

    fn calls_of(&mut self, choice: u32) -> &mut FoldedCalls {
        self.choices.or_default(choice).calls.get_or_insert_default()
    }

    /// Refuses arguments behind a whole value: some clients run the call as soon as its arguments parse, others with all
    /// arguments (rule 28).
    fn goes_on_once(&mut self, choice: u32, key: BlockKey, call: &CallDelta) -> Result<(), Error> {
        let more = call.arguments.as_deref().is_some_and(|more| !more.trim().is_empty());
        if !more || !self.keep.calls || self.format.traits().arguments_are_json {
            return Ok(());
        }
        let StreamBlock::ToolCall(known) = &self.state.blocks[key.index()] else { return Ok(()) };
        let calls = &mut self.choices.or_default(choice).calls.get_or_insert_default().named;
        let is_renamed = call.name.as_ref().is_some_and(|name| *name != known.name);
        if known.flavor == CallFlavor::Custom
            || is_renamed
            || known.head.status != BlockStatus::Open
            || !calls.may_run(key, &known.arguments)
        {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Ambiguous,
            format!("expected one JSON value for the arguments of block {key}, found more behind it"),
        ))
    }

    /// Folds arguments, and a late id or name, into a known call. A block that is no call (a server's tool) takes the bytes as
    /// they are.
    pub(super) fn continue_call(&mut self, key: BlockKey, call: &CallDelta) -> Result<Transition, Error> {
        let arguments = call.arguments.as_deref().unwrap_or_default();
        let block = &mut self.state.blocks[key.index()];
        let complete = block.status() != BlockStatus::Open;
        if let StreamBlock::ToolCall(known) = block {
            let says_more = known.name.is_empty() && call.name.is_some();
            if !says_more && call.name.as_ref().is_some_and(|name| *name != known.name) {
                // Some clients take the first name, some the last, some both, and only one could be judged.
                return Err(renamed(key));
            }
            if complete && (!arguments.is_empty() || says_more) {
                if self.keep.calls {
                    return Err(late(key));
                }
                // No policy has judged the call, so that more arguments prove no verdict wrong (rule 5).
                self.append(key, arguments)?;
                return Ok(Transition::Folded(Some(key)));
            }
            if says_more {
                known.name = call.name.clone().unwrap_or_default();
            }
            if known.id.is_none() {
                known.id.clone_from(&call.id);
            }
        }
        if let StreamBlock::Opaque(known) = block
            && let Some(name) = &call.name
        {
            if known.name.as_ref().is_some_and(|known| known != name) {
                return Err(renamed(key));
            }
            known.name = Some(name.clone());
        }
        self.append(key, arguments)?;
        Ok(Transition::Folded(Some(key)))
    }

    pub(super) fn open_call(
        &mut self,
        choice: u32,
        index: Option<u64>,
        call: &CallDelta,
    ) -> Result<BlockKey, Error> {
        let key = self.open(choice, |key| {
            StreamBlock::ToolCall(ToolCall {
                head: Head::new(key, choice),
                id: call.id.clone(),
                name: call.name.clone().unwrap_or_default(),
                index,
                arguments: String::new(),
                flavor: call.flavor,
                unopened: call.unopened,
                joined: false,
                written: call.written.clone(),
                finish_seen: false,
                cut_short: false,
            })
        })?;
        self.append(key, call.arguments.as_deref().unwrap_or_default())?;
        Ok(key)
    }

    /// The first open block of the choice that the start of another one ends: a text, or with `calls` a whole call. Numbered
    /// blocks have explicit ends.
    pub(super) fn next_to_end(
        &mut self,
        choice: u32,
        calls: bool,
        ends: impl Fn(&StreamBlock) -> bool,
    ) -> Option<BlockKey> {
        let call = if calls { self.next_whole_call(choice) } else { None };
        let texts = self.choices.get(choice)?.texts.iter().copied();
        let text = texts.filter(|key| ends(&self.state.blocks[key.index()])).min();
        [text, call].into_iter().flatten().min()
    }

    /// The first open call of the choice that is whole, so that the start of another block ends it (rule 2). Any other call
    /// stays open: its deltas and those of other calls may take turns (rule 5).
    fn next_whole_call(&mut self, choice: u32) -> Option<BlockKey> {
        if self.settings.interleaved {
            return None;
        }
        // Arguments that are JSON on the wire, or are not kept, need no check.
        let waits = self.keep.calls && !self.format.traits().arguments_are_json;
        let calls = self.choices.get_mut(choice)?.calls.as_mut()?;
        while let Some(key) = calls.touched.first().copied() {
            let whole = match &self.state.blocks[key.index()] {
                StreamBlock::ToolCall(call) if waits && call.flavor() != CallFlavor::Custom => {
                    calls.named.is_one_value(key, &call.arguments)
                }
                _ => true,
            };
            if whole {
                return Some(key);
            }
            calls.touched.remove(&key);
        }
        None
    }
}
