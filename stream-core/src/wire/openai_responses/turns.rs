//! Items that take turns: LangChain assigns arguments to the item that spoke last, and reads what it has of a call. The events of
//! other items therefore wait while a call is not whole (rule 28).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::grammar::{self, Event};
use super::kinds::{Act, EventType, Subject};
use crate::delta::{Delta, DeltaKind, Slot};
use crate::json::Nesting;
use crate::wire::Due;

/// The call that other items wait for, and the items that wait.
#[derive(Debug, Default)]
pub(super) struct ItemTurns {
    /// The first call that is not whole, and its arguments so far.
    front: Option<(u32, Nesting)>,
    /// The items that wait, in the order in which they began to; with the arguments of those that are calls and not whole.
    waiting: VecDeque<(u32, Option<Nesting>)>,
    /// The numbers of the lanes in which items wait.
    lanes: BTreeMap<u32, u64>,
    /// The number of the first waiting lane.
    first: u64,
    /// The calls that are whole, or done.
    whole: BTreeSet<u32>,
}

impl ItemTurns {
    /// Records an event of an item, and returns when the event is passed on.
    pub(super) fn see(&mut self, item: u32, known: Option<&EventType>, event: &Event<'_>) -> Due {
        self.say(item, &Said::of(known, event))
    }

    /// Records an event that differs from the one before it in its text, or in its piece of arguments, alone.
    pub(super) fn follow(&mut self, delta: &Delta) -> Due {
        let Slot::At { item, .. } = delta.slot else { return Due::Now };
        let arguments = match &delta.kind {
            DeltaKind::Call(call) => call.arguments.as_deref(),
            _ => None,
        };
        let arguments = Cow::Borrowed(arguments.unwrap_or_default());
        self.say(item, &Said { opens_call: false, arguments, is_last: false })
    }

    fn say(&mut self, item: u32, said: &Said<'_>) -> Due {
        if self.front.is_none() && said.opens_call && !self.whole.contains(&item) {
            self.front = Some((item, Nesting::default()));
        }
        match &mut self.front {
            None => Due::Now,
            Some((front, so_far)) if *front == item => {
                if !said.ends(so_far) {
                    return Due::Now;
                }
                self.whole.insert(item);
                self.front = None;
                match self.release() {
                    0 => Due::Now,
                    lanes => Due::Then(lanes),
                }
            }
            Some(_) => self.wait(item, said),
        }
    }

    /// Whether items wait, so that the events of another one overtake theirs.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Records the end of the response.
    pub(super) fn end(&mut self) -> Due {
        *self = Self::default();
        Due::Last
    }

    fn wait(&mut self, item: u32, said: &Said<'_>) -> Due {
        let lane = self.lanes.get(&item).copied();
        let at = lane.map_or(self.waiting.len() as u64, |lane| lane - self.first);
        if lane.is_none() {
            self.lanes.insert(item, self.first + at);
            self.waiting.push_back((item, None));
        }
        let waiting = usize::try_from(at).ok().and_then(|at| self.waiting.get_mut(at));
        let Some((_, call)) = waiting else { return Due::Now };
        if said.opens_call && !self.whole.contains(&item) {
            call.get_or_insert_default();
        }
        if call.as_mut().is_some_and(|so_far| said.ends(so_far)) {
            *call = None;
            self.whole.insert(item);
        }
        lane.map_or(Due::Opens, Due::In)
    }

    /// Releases the lanes up to the next call that is not whole.
    fn release(&mut self) -> usize {
        let mut released = 0;
        while let Some((item, call)) = self.waiting.pop_front() {
            released += 1;
            self.first += 1;
            self.lanes.remove(&item);
            if let Some(so_far) = call {
                self.front = Some((item, so_far));
                break;
            }
        }
        released
    }
}

/// What an event says of the arguments of a call.
struct Said<'d> {
    /// The event opens a call, or has arguments of one.
    opens_call: bool,
    arguments: Cow<'d, str>,
    is_last: bool,
}

impl<'d> Said<'d> {
    fn of(known: Option<&EventType>, event: &Event<'d>) -> Self {
        let item = event.get("item");
        let is_call = || item.and_then(|item| item.word("type")).as_deref() == Some("function_call");
        let function = Subject::Call("function_call");
        let (opens_call, arguments, is_last) = match known {
            Some(EventType { act: Act::Added, subject: Subject::Item, .. }) => {
                (is_call(), item.and_then(|item| item.get("arguments")), false)
            }
            Some(EventType { act: Act::Done, subject: Subject::Item, .. }) => (false, None, true),
            Some(EventType { act: Act::Restates, subject, .. }) => (false, None, *subject == function),
            Some(EventType { act: Act::Arguments(_), subject, .. }) if *subject == function => {
                (true, event.get("delta"), false)
            }
            _ => (false, None, false),
        };
        Self { opens_call, arguments: grammar::loose(arguments).unwrap_or_default(), is_last }
    }

    /// Adds the arguments, and returns whether the call is whole or done.
    fn ends(&self, so_far: &mut Nesting) -> bool {
        so_far.read(&self.arguments);
        self.is_last || so_far.is_whole()
    }
}
