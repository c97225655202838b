//! The format of a stream: from the first frame that only one format has, and against every frame behind it.

use bytes::Bytes;

use super::{FrameReader, lenient};
use crate::delta::{Delta, DeltaKind};
use crate::engine::Settings;
use crate::error::{Error, ErrorKind};
use crate::sse::Frame;
use crate::wire::{self, DecodeError, SharedFormat, apis};

impl FrameReader {
    /// Learns the format from the first frame that tells it.
    pub(super) fn recognise(&mut self, frame: &Frame) -> Result<(), Error> {
        if self.format.is_none() {
            let view = lenient(frame);
            let view = view.as_ref().unwrap_or(frame);
            self.format = self.knowing(|format| format.sniff(view))?;
        }
        Ok(())
    }

    /// Learns the format of a whole body.
    pub(super) fn recognise_whole(&mut self, body: &Bytes) -> Result<SharedFormat, Error> {
        match &self.format {
            None => {
                let known = self.knowing(|format| format.sniff_whole(body))?;
                self.format = known.or_else(|| apis::seeming(body).filter(|_| self.looks));
            }
            Some(named) if named.sniff_whole(body) => {}
            Some(named) => {
                if let Some(other) = candidates(&self.settings).find(|format| format.sniff_whole(body)) {
                    let (named, other) = (named.name(), other.name());
                    let message = format!("expected a whole response of {named}, found one of {other}");
                    return Err(Error::new(ErrorKind::WrongFormat, message));
                }
            }
        }
        if self.format.is_none() && serde_json::from_slice::<serde::de::IgnoredAny>(body).is_err() {
            let names: Vec<_> = candidates(&self.settings).map(|format| format.name()).collect();
            let message = format!("expected a whole response of {}, found something else", names.join(", "));
            return Err(Error::new(ErrorKind::WrongFormat, message));
        }
        let format = self.settled_format();
        if let Some(other) = apis::other_of_whole(format.name(), body).filter(|_| self.decoded.memory.any_api)
        {
            return Err(two_apis(format.name(), other));
        }
        Ok(format)
    }

    /// Refuses a frame of another format, wherever it stands: one in which the stream's own format read nothing that tells
    /// so, and that another knows. Frames before it may not leave, and then it would be the first.
    pub(super) fn hold_against_format(
        &self,
        frame: &Frame,
        read: Result<(), &DecodeError>,
    ) -> Result<(), Error> {
        let told = read.is_ok() && self.decoded.deltas.iter().any(tells_format);
        let Some(format) = self.format.as_ref().filter(|_| self.looks && !told) else { return Ok(()) };
        if format.sniff(frame) {
            return Ok(());
        }
        match candidates(&self.settings).find(|format| format.sniff(frame)) {
            None => Ok(()),
            Some(other) => {
                let message = format!("expected frames of {}, found one of {}", format.name(), other.name());
                Err(Error::new(ErrorKind::WrongFormat, message))
            }
        }
    }

    /// The format that knows a document as its own: the first of those that the host brought, else the one of the built-in
    /// formats. Where several of these do, the clients of each read something else from it.
    fn knowing(&self, knows: impl Fn(&SharedFormat) -> bool) -> Result<Option<SharedFormat>, Error> {
        if let Some(own) = self.settings.formats.iter().find(|format| knows(format)) {
            return Ok(Some(own.clone()));
        }
        let mut known = wire::BUILT_IN.iter().filter(|format| knows(format));
        let found = known.next();
        match (found, known.next()) {
            (Some(one), Some(other)) if self.looks => Err(two_apis(one.name(), other.name())),
            _ => Ok(found.cloned()),
        }
    }
}

fn two_apis(one: &str, other: &str) -> Error {
    let message = format!("expected the answer of one API, found one of {one} and of {other}");
    Error::new(ErrorKind::Ambiguous, message)
}

/// The formats that are looked for: those that the host brought, then those that are built in.
fn candidates(settings: &Settings) -> impl Iterator<Item = &SharedFormat> {
    settings.formats.iter().chain(&*wire::BUILT_IN)
}

/// The format of a stream that tells none.
pub(super) fn first(settings: &Settings) -> SharedFormat {
    candidates(settings).next().cloned().unwrap_or_else(wire::fallback)
}

/// Whether only a frame of the format that read it says so. Errors, keep-alives and markers are alike in many.
fn tells_format(delta: &Delta) -> bool {
    !matches!(
        delta.kind,
        DeltaKind::Opaque { .. }
            | DeltaKind::Usage(_)
            | DeltaKind::Error(_)
            | DeltaKind::Terminal
            | DeltaKind::Opening
            | DeltaKind::Role
            | DeltaKind::Ping
            | DeltaKind::Comment
            | DeltaKind::Meta
    )
}
