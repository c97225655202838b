//! Writing: lines, early endings and whole responses.

use std::borrow::Cow;

use bytes::Bytes;
use stream_core::delta::{DeltaKind, Text};
use stream_core::wire::{Fate, Outgoing, Part, Writer, WriterOptions};
use stream_core::{Ending, EndingKind};

use crate::Body;
use crate::line::{Done, Failure, Line};

/// Writes one response.
#[derive(Debug)]
pub struct HouseWriter {
    notice: Option<Text>,
    /// A text or a call has left: the answer is not empty.
    has_answered: bool,
    /// The bytes that left last lack their line end.
    is_cut: bool,
    ended: bool,
}

impl HouseWriter {
    pub(crate) fn new(options: &WriterOptions) -> Self {
        Self { notice: options.empty_notice.clone(), has_answered: false, is_cut: false, ended: false }
    }

    /// What is left of the items in the upstream's data: parts of one item have the same element. The empty string stands for what is
    /// no item.
    fn items<'a>(&mut self, data: &'a str, parts: &[Part]) -> Vec<Cow<'a, str>> {
        let mut out = Vec::new();
        let mut last = None;
        for part in parts {
            if part.fate == Fate::Inserted {
                out.extend(self.made(&part.delta.kind).map(Cow::Owned));
                continue;
            }
            let element = part.delta.site.element;
            if last.replace(element) != Some(element) {
                let is_of_item =
                    |part: &&Part| part.fate != Fate::Inserted && part.delta.site.element == element;
                let of_item: Vec<&Part> = parts.iter().filter(is_of_item).collect();
                self.item(element.slice(data), &of_item, &mut out);
            }
        }
        out
    }

    /// What is left of one item.
    fn item<'a>(&mut self, item: &'a str, parts: &[&Part], out: &mut Vec<Cow<'a, str>>) {
        let finishes = parts.iter().any(|part| matches!(part.delta.kind, DeltaKind::Finish(_)));
        if finishes && !self.has_answered {
            let notice = self.notice.clone().map(|text| Line::Text(text.to_string()).json());
            out.extend(notice.map(Cow::Owned));
        }
        for part in parts.iter().filter(|part| part.fate != Fate::Dropped) {
            self.ended |= matches!(part.delta.kind, DeltaKind::Terminal | DeltaKind::Error(_));
        }
        if parts.iter().all(|part| part.fate == Fate::Kept) {
            self.has_answered |= parts.iter().any(|part| part.delta.kind.is_payload());
            return out.push(Cow::Borrowed(item));
        }
        let tokens = parts.iter().find_map(|part| match &part.delta.kind {
            DeltaKind::Usage(usage) => usage.output,
            _ => None,
        });
        if let Some(part) = parts.iter().find(|part| part.fate == Fate::Edited) {
            out.extend(match Line::of(&part.delta.kind) {
                Some(Line::Done(done)) => Some(Cow::Owned(Line::Done(Done { tokens, ..done }).json())),
                _ => self.made(&part.delta.kind).map(Cow::Owned),
            });
        }
    }

    /// A line that was not in the upstream's stream, or says something else there.
    fn made(&mut self, kind: &DeltaKind) -> Option<String> {
        let line = Line::of(kind)?;
        self.has_answered |= kind.is_payload();
        Some(line.json())
    }

    fn line(&mut self, line: &str, out: &mut Vec<Bytes>) {
        if std::mem::take(&mut self.is_cut) {
            out.push(Bytes::from_static(b"\n"));
        }
        out.push(format!("{line}\n").into());
    }

    /// The last line of an answer that ends early.
    fn ending(ending: &Ending) -> Line {
        let message = ending.message().to_owned();
        match ending.kind() {
            EndingKind::Refuse => {
                Line::Done(Done { reason: "refused".to_owned(), message: Some(message), tokens: None })
            }
            _ => Line::Error(Failure { code: ending.code().unwrap_or("internal").to_owned(), message }),
        }
    }
}

impl Writer for HouseWriter {
    fn frame(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
        let Outgoing { frame, parts, .. } = outgoing;
        let data = frame.as_ref().and_then(|frame| frame.data()).unwrap_or_default();
        let data = std::str::from_utf8(&data).unwrap_or_default();
        for item in self.items(data, &parts) {
            match (item, &frame) {
                // Every part was kept: the line leaves as its bytes.
                (Cow::Borrowed(_), Some(frame)) => {
                    if std::mem::take(&mut self.is_cut) {
                        out.push(Bytes::from_static(b"\n"));
                    }
                    out.push(frame.raw().clone());
                    self.is_cut = !frame.is_terminated();
                }
                (item, _) => self.line(&item, out),
            }
        }
    }

    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        if !std::mem::replace(&mut self.ended, true) {
            self.line(&Self::ending(ending).json(), out);
        }
    }

    fn keep_alive(&self) -> Bytes {
        Bytes::from_static(b"\n")
    }

    fn whole(&mut self, body: Outgoing, ending: Option<&Ending>) -> Bytes {
        // A body that could not be read has no frame, and an ending all the same.
        let data = body.frame.as_ref().and_then(|frame| frame.data()).unwrap_or_default();
        let json = std::str::from_utf8(&data).unwrap_or_default();
        let answer = Body::read(json).ok().and_then(|body| body.answer);
        self.ended = true;
        match ending {
            Some(ending) if ending.kind() == EndingKind::Error => return Self::ending(ending).json().into(),
            None if body.is_untouched() || answer.is_none() => return data,
            _ => {}
        }
        self.notice = self.notice.take().filter(|_| ending.is_none());
        let mut left = self.items(json, &body.parts);
        if let Some(ending) = ending {
            // The ending says why the answer is short, and takes the place of the upstream's.
            left.retain(|item| !matches!(Line::read(item.as_bytes()), Ok(Line::Done(_))));
            left.push(Cow::Owned(Self::ending(ending).json()));
        }
        left.retain(|item| !item.is_empty());
        format!(r#"{{"answer":[{}]}}"#, left.join(",")).into()
    }

    fn ended(&self) -> bool {
        self.ended
    }
}
