//! Reading a response that was not streamed.

use std::borrow::Cow;

use serde::Deserialize;

use super::item::{self, Told};
use super::read;
use super::view::{self, Raw, Response};
use crate::delta::{Delta, DeltaKind};
use crate::spelling;
use crate::wire::{DecodeError, Decoded, Odd};

/// Whether the body says that it is a response object.
pub(super) fn is_response(body: &[u8]) -> bool {
    serde_json::from_slice::<Probe<'_>>(body)
        .is_ok_and(|probe| view::string(probe.object).as_deref() == Some("response"))
}

/// Reads a response object, or the error in its place.
pub(super) fn response(body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    let response: Response<'_> =
        spelling::from_slice(body).map_err(|error| DecodeError::json("a response", &error))?;
    if response.object.is_none() && response.output.is_none() {
        let kind = match response.error {
            Some(_) => DeltaKind::Error(view::error(response.error)),
            None => item::opaque(Cow::Borrowed("unknown"), body.len()),
        };
        into.deltas.push(match kind {
            DeltaKind::Error(_) => Delta::stream(kind),
            _ => Delta::new(0, crate::delta::Slot::None, kind),
        });
        into.deltas.push(Delta::stream(DeltaKind::Terminal));
        return Ok(());
    }
    read::meta(&response, into);
    into.deltas.push(Delta::stream(DeltaKind::Opening));
    for (at, raw) in response.output.iter().flatten().enumerate() {
        let told = Told::read(raw, item::part_number(at)?)?;
        if told.is_foreign()? {
            into.odd = into.odd.or(Some(Odd::Foreign));
        }
        told.whole(&mut into.deltas)?;
    }
    read::all_text(&response)?;
    let status = view::string(response.status).unwrap_or(Cow::Borrowed("completed"));
    read::ends(&status, &response, into);
    Ok(())
}

#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow)]
    object: Raw<'a>,
}
