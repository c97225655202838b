//! Writing logs.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use super::error::LogError;
use super::{ChunkLog, DONE, Form, frames, splits};

impl ChunkLog {
    /// The content of a file of this form.
    ///
    /// [`Form::Sse`] and [`Form::Whole`] are the bytes as they came. The other two keep the events alone: comments,
    /// line ends and bytes that are no event are not in them, nor is chat's `[DONE]` in an array.
    ///
    /// # Errors
    ///
    /// When the log has no such form: a stream is no whole response, a whole response has no chunks, and chunks
    /// have to be UTF-8, in an array also JSON.
    pub fn to_form(&self, form: Form) -> Result<Vec<u8>, LogError> {
        match (form, self.is_whole()) {
            (Form::Sse, false) | (Form::Whole, true) => Ok(self.body.to_vec()),
            (Form::JsonLines, false) => self.json_lines(),
            (Form::JsonArray, false) => self.json_array(),
            (Form::Whole, false) => Err(self.unexpected("a whole response", "a stream")),
            (_, true) => Err(self.unexpected("a stream", "a whole response")),
        }
    }

    /// Writes a file of this form; with [`Form::Sse`] and [`Form::Whole`] also the sidecar, if cuts were recorded.
    ///
    /// # Errors
    ///
    /// When the log has no such form, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>, form: Form) -> Result<(), LogError> {
        let path = path.as_ref();
        let write = |path: &Path, content: Vec<u8>| {
            fs::write(path, content)
                .map_err(|error| LogError::io(&path.display().to_string(), "written", error))
        };
        write(path, self.to_form(form)?)?;
        if (self.recorded_cuts || self.truncated) && matches!(form, Form::Sse | Form::Whole) {
            let beside = splits::path_beside(path);
            let splits = splits::write(self)
                .map_err(|error| LogError::io(&beside.display().to_string(), "written", error.into()))?;
            write(&beside, splits)?;
        }
        Ok(())
    }

    fn json_lines(&self) -> Result<Vec<u8>, LogError> {
        #[derive(Serialize)]
        struct Line<'a> {
            t_ms: Millis,
            chunk: Chunk<'a>,
        }
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Chunk<'a> {
            Json(&'a RawValue),
            Text(&'a str),
        }
        let mut out = Vec::new();
        for (at, data) in self.events()? {
            // Only an object on one line can stand as it is; anything else is a string.
            let chunk = match serde_json::from_str::<&RawValue>(&data) {
                Ok(json) if data.starts_with('{') && !data.contains('\n') => Chunk::Json(json),
                _ => Chunk::Text(&data),
            };
            let line = serde_json::to_string(&Line { t_ms: Millis(at), chunk })
                .map_err(|error| self.unexpected("chunks that can be written", &error.to_string()))?;
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
        Ok(out)
    }

    fn json_array(&self) -> Result<Vec<u8>, LogError> {
        let events = self.events()?;
        let chunks: Vec<&str> =
            events.iter().map(|(_, data)| &data[..]).filter(|data| *data != DONE).collect();
        for chunk in &chunks {
            serde_json::from_str::<&RawValue>(chunk)
                .map_err(|_| self.unexpected("chunks that are JSON", &format!("{chunk:?}")))?;
        }
        Ok(format!("[\n{}\n]\n", chunks.join(",\n")).into_bytes())
    }

    /// The data of each event, with the time at which its last byte came.
    fn events(&self) -> Result<Vec<(Duration, String)>, LogError> {
        let mut events = Vec::new();
        let mut end = 0;
        let mut arrivals = self.arrivals();
        for frame in frames(&self.body) {
            end += frame.raw().len();
            let at = arrivals.at(end);
            let Some(data) = frame.data() else { continue };
            let data = String::from_utf8(data.to_vec())
                .map_err(|_| self.unexpected("chunks that are UTF-8", "other bytes"))?;
            events.push((at, data));
        }
        Ok(events)
    }

    /// Tells when bytes came, asked in rising order.
    pub(crate) fn arrivals(&self) -> Arrivals<'_> {
        Arrivals { log: self, next: 0, covered: 0 }
    }

    fn unexpected(&self, expected: &str, found: &str) -> LogError {
        LogError::unplaced(&self.name, expected, found)
    }
}

/// When the bytes of a log came.
#[derive(Debug)]
pub(crate) struct Arrivals<'a> {
    log: &'a ChunkLog,
    next: usize,
    covered: usize,
}

impl Arrivals<'_> {
    /// When the first `end` bytes had come.
    pub(crate) fn at(&mut self, end: usize) -> Duration {
        let pieces = &self.log.pieces;
        while self.covered < end && self.next < pieces.len() {
            self.covered += pieces[self.next].len;
            self.next += 1;
        }
        self.next.checked_sub(1).map_or(Duration::ZERO, |last| pieces[last].at)
    }
}

/// Milliseconds as JSON: whole ones without a fraction.
#[derive(Debug)]
struct Millis(Duration);

impl Serialize for Millis {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0.as_millis()) {
            Ok(millis) if self.0.subsec_nanos().is_multiple_of(1_000_000) => serializer.serialize_u64(millis),
            _ => serializer.serialize_f64(self.0.as_secs_f64() * 1000.0),
        }
    }
}
