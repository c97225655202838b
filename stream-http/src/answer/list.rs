//! Lists of stored completions: several whole answers in one.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::whole::{Left, one};
use crate::layer::Shared;
use crate::{Api, Facts};

/// A list of stored completions: each is policed as if it came alone.
#[derive(Debug)]
pub(super) struct Completions<'a> {
    body: &'a Bytes,
    /// Where in the body each one stands; `None` if the list can be read in two ways.
    places: Option<Vec<std::ops::Range<usize>>>,
}

impl<'a> Completions<'a> {
    /// Reads a list; `None` if the body is none.
    pub(super) fn read(api: Api, body: &'a Bytes) -> Option<Self> {
        let value: Value = serde_json::from_slice(body).ok().filter(|_| api == Api::OpenAiChat)?;
        if value.get("object")? != "list" {
            return None;
        }
        // Some parsers take any case for a known key.
        let names = value.as_object()?.keys().map(|key| key.to_lowercase());
        let only_data =
            names.filter(|name| ["data", "choices", "error"].contains(&name.as_str())).count() == 1;
        let places = serde_json::from_slice::<Listed<'_>>(body).ok().filter(|_| only_data).map(|listed| {
            let start = body.as_ptr().addr();
            let place = |raw: &&RawValue| {
                let at = raw.get().as_ptr().addr() - start;
                at..at + raw.get().len()
            };
            listed.data.iter().map(place).collect()
        });
        Some(Self { body, places })
    }

    /// Polices each; what is left of one takes its place.
    pub(super) async fn police(self, facts: &Facts, shared: &Shared) -> Left {
        let Some(places) = self.places else { return Left::Unreadable("a malformed list".into()) };
        let mut out = Vec::new();
        let mut copied = 0;
        for place in places {
            let item = self.body.slice(place.clone());
            let left = match one(&item, facts, shared).await {
                Left::Same => continue,
                Left::Changed(left) | Left::Blocked { body: left, .. } => left,
                left => return left,
            };
            out.extend_from_slice(&self.body[copied..place.start]);
            out.extend_from_slice(&left);
            copied = place.end;
        }
        if copied == 0 {
            return Left::Same;
        }
        out.extend_from_slice(&self.body[copied..]);
        Left::Changed(out.into())
    }
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
}
