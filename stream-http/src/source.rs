//! An upstream's body as it is read: decoded, looked at before it is used, with its trailers set aside.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use futures::{Stream, StreamExt as _};
use http_body::Body;
use tokio::time::timeout;

use crate::body::{BoxError, Trailers};
use crate::coding::{Coding, Decoder};

/// An upstream's body as a stream of decoded bytes.
pub(crate) struct Source<B> {
    body: Option<Pin<Box<B>>>,
    decoder: Option<Decoder>,
    /// What came and was not decoded yet.
    coded: Bytes,
    /// What was looked at and is to be read again.
    looked_at: VecDeque<Bytes>,
    trailers: Trailers,
    drops_trailers: bool,
    /// The longest silence while it is looked at.
    idle: Duration,
}

impl<B> Source<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    pub(crate) fn new(body: B, coding: Coding, idle: Duration) -> Self {
        Self {
            body: Some(Box::pin(body)),
            decoder: coding.decoder(),
            coded: Bytes::new(),
            looked_at: VecDeque::new(),
            trailers: Trailers::default(),
            drops_trailers: false,
            idle,
        }
    }

    /// The same body without trailers: no policy reads them, so that an upstream could say anything there.
    pub(crate) fn without_trailers(mut self) -> Self {
        self.drops_trailers = true;
        self
    }

    /// The trailers, once everything was read.
    pub(crate) fn trailers(&self) -> Trailers {
        self.trailers.clone()
    }

    /// Looks at the start, as far as needed, and no further than `limit`.
    pub(crate) async fn look(&mut self, limit: usize) -> Result<Look, SourceError> {
        let mut start = BytesMut::from(&self.looked_at()[..]);
        let mut seen = start.len();
        loop {
            if let Some(look) = Look::at(&start) {
                return Ok(look);
            }
            if seen > limit {
                return Ok(Look::Other);
            }
            if start.trim_ascii().is_empty() {
                // However much of it comes, it is looked at once.
                start.clear();
            }
            match self.next_new().await {
                Some(bytes) => {
                    let bytes = bytes?;
                    seen += bytes.len();
                    start.extend_from_slice(&bytes);
                    self.looked_at.push_back(bytes);
                }
                None if start.is_empty() => return Ok(Look::Nothing),
                // Shorter than the shortest line that could tell.
                None => return Ok(Look::Other),
            }
        }
    }

    /// What was looked at so far, in one piece.
    pub(crate) fn looked_at(&self) -> Vec<u8> {
        self.looked_at.iter().flatten().copied().collect()
    }

    /// Reads one piece more, to be looked at; `None` at the end.
    pub(crate) async fn look_further(&mut self) -> Result<Option<Bytes>, SourceError> {
        let next = self.next_new().await.transpose()?;
        self.looked_at.extend(next.clone());
        Ok(next)
    }

    /// Reads everything, up to a limit. Over it, `None`: what was read is to be read again.
    pub(crate) async fn read_all(&mut self, limit: usize) -> Result<Option<Bytes>, SourceError> {
        let mut length: usize = self.looked_at.iter().map(Bytes::len).sum();
        while length <= limit {
            let Some(bytes) = self.next_new().await else {
                let mut pieces = std::mem::take(&mut self.looked_at);
                return Ok(Some(match (pieces.len(), pieces.pop_front()) {
                    (1, Some(only)) => only,
                    (_, first) => {
                        let all = first.into_iter().chain(pieces);
                        all.fold(BytesMut::with_capacity(length), |mut all, piece| {
                            all.extend_from_slice(&piece);
                            all
                        })
                        .freeze()
                    }
                }));
            };
            let bytes = bytes?;
            length += bytes.len();
            self.looked_at.push_back(bytes);
        }
        Ok(None)
    }

    async fn next_new(&mut self) -> Option<Result<Bytes, SourceError>> {
        let looked_at = std::mem::take(&mut self.looked_at);
        let next = timeout(self.idle, self.next()).await;
        self.looked_at = looked_at;
        next.unwrap_or_else(|_| Some(Err(SourceError(format!("silence for {:?}", self.idle)))))
    }

    fn poll_decoded(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, SourceError>>> {
        loop {
            if let (Some(decoder), false) = (&mut self.decoder, self.coded.is_empty()) {
                // In small pieces: each may become a thousand times as long.
                let piece = self.coded.split_to(self.coded.len().min(DECODED_AT_ONCE));
                return Poll::Ready(Some(decoder.decode(&piece).map_err(|error| self.fail(&error))));
            }
            let Some(body) = &mut self.body else { return Poll::Ready(None) };
            match ready!(body.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(mut data) => {
                        let data = data.copy_to_bytes(data.remaining());
                        if self.decoder.is_none() {
                            return Poll::Ready(Some(Ok(data)));
                        }
                        self.coded = data;
                    }
                    Err(frame) => {
                        if let (Ok(trailers), false) = (frame.into_trailers(), self.drops_trailers) {
                            self.trailers.put(trailers);
                        }
                    }
                },
                Some(Err(error)) => {
                    self.body = None;
                    return Poll::Ready(Some(Err(SourceError(error.into().to_string()))));
                }
                None => {
                    self.body = None;
                    let Some(mut decoder) = self.decoder.take() else { return Poll::Ready(None) };
                    return Poll::Ready(Some(decoder.finish().map_err(|error| self.fail(&error))));
                }
            }
        }
    }

    fn fail(&mut self, error: &std::io::Error) -> SourceError {
        self.body = None;
        self.coded.clear();
        SourceError(format!("the body could not be decoded: {error}"))
    }
}

impl<B> Stream for Source<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Item = Result<Bytes, SourceError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(bytes) = self.looked_at.pop_front() {
            return Poll::Ready(Some(Ok(bytes)));
        }
        self.poll_decoded(cx)
    }
}

/// Why a body broke off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceError(String);

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SourceError {}

/// What a body starts like. No body can be read as JSON and as events: a line of events is no JSON outside of a string,
/// and inside of one there are no lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Json,
    Events,
    Other,
    /// Nothing came but white space.
    Nothing,
}

impl Look {
    /// What bytes look like; `None` while more are needed.
    fn at(start: &[u8]) -> Option<Self> {
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
        match start {
            [] => None,
            [b'{' | b'[', ..] => Some(Self::Json),
            [b':', ..] => Some(Self::Events),
            _ => {
                let is_start = |field: &&&[u8]| field.starts_with(start) || start.starts_with(field);
                match FIELDS.iter().find(is_start) {
                    Some(field) if start.len() > field.len() => {
                        let ends = matches!(start[field.len()], b':' | b'\n' | b'\r');
                        Some(if ends { Self::Events } else { Self::Other })
                    }
                    Some(_) => None,
                    None => Some(Self::Other),
                }
            }
        }
    }
}

const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];
/// At most four MiB come of it.
const DECODED_AT_ONCE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_tells_json_from_events() {
        for (start, look) in [
            ("", None),
            (" \r\n", None),
            ("\n {", Some(Look::Json)),
            ("[", Some(Look::Json)),
            (": ping", Some(Look::Events)),
            ("dat", None),
            ("data", None),
            ("data:", Some(Look::Events)),
            ("\u{feff} data: {}", Some(Look::Events)),
            ("event: x", Some(Look::Events)),
            ("id\n", Some(Look::Events)),
            ("database", Some(Look::Other)),
            ("<html>", Some(Look::Other)),
            ("\u{1f}\u{8b}", Some(Look::Other)),
            ("null", Some(Look::Other)),
        ] {
            assert_eq!(Look::at(start.as_bytes()), look, "{start:?}");
        }
    }
}
