//! Which reply a request gets.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use super::reply::Reply;

/// The replies that are left.
#[derive(Debug, Default)]
pub(super) struct Replies {
    by_path: Mutex<BTreeMap<String, VecDeque<Reply>>>,
    in_order: Mutex<VecDeque<Reply>>,
}

impl Replies {
    pub(super) fn new(by_path: BTreeMap<String, VecDeque<Reply>>, in_order: VecDeque<Reply>) -> Self {
        Self { by_path: by_path.into(), in_order: in_order.into() }
    }

    /// The reply to the next request of this path. A path's last reply is given for ever; those in order once each.
    pub(super) fn next(&self, path: &str) -> Option<Reply> {
        let mut by_path = self.by_path.lock().unwrap_or_else(PoisonError::into_inner);
        match by_path.get_mut(path) {
            Some(replies) if replies.len() > 1 => replies.pop_front(),
            Some(replies) => replies.front().cloned(),
            None => self.in_order.lock().unwrap_or_else(PoisonError::into_inner).pop_front(),
        }
    }
}
