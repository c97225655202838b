//! Finding out which form a log has, and reading it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::error::{LogError, Place};
use super::lines::{read_array, read_lines};
use super::{ChunkLog, Form, Piece, frames, splits};
use crate::WireKind;
use crate::kind::Head;

impl ChunkLog {
    /// Reads a log from a file, and the cuts of its sidecar if there is one.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is none of the [forms](Form); the error says where.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LogError> {
        let path = path.as_ref();
        let read = |path: &Path| {
            fs::read(path).map_err(|error| LogError::io(&path.display().to_string(), "read", error))
        };
        let mut log = Self::parse(&path.display().to_string(), &read(path)?)?;
        let beside = splits::path_beside(path);
        if matches!(log.form, Form::Sse | Form::Whole) && beside.exists() {
            let text = read(&beside)?;
            splits::read(&beside.display().to_string(), &text, &mut log)?;
        }
        Ok(log)
    }

    /// Reads a log from the content of a file. The name's ending decides for `.sse`, `.jsonl` and `.ndjson`; else the
    /// content tells the form.
    ///
    /// # Errors
    ///
    /// When the content is none of the [forms](Form); the error says where.
    pub fn parse(name: &str, content: &[u8]) -> Result<Self, LogError> {
        let text = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        let Some(first) = text.iter().find(|byte| !byte.is_ascii_whitespace()) else {
            return Err(LogError::at(name, Place::START, FORMS, "an empty file"));
        };
        if let Some(offset) = content.iter().position(|byte| *byte == 0) {
            return Err(LogError::at(name, Place::of(content, offset), FORMS, "a binary file"));
        }
        let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match (ending, first) {
            ("sse", _) => read_sse(name, content),
            ("jsonl" | "ndjson", _) => read_lines(name, utf8(name, text)?),
            (_, b'{') => read_object(name, utf8(name, text)?),
            (_, b'[') => read_array(name, utf8(name, text)?),
            _ => read_sse(name, content),
        }
    }
}

/// A file that starts with an object: a whole response, or the first of several chunks.
fn read_object(name: &str, text: &str) -> Result<ChunkLog, LogError> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&serde_json::value::RawValue>();
    let first = match values.next() {
        Some(Ok(first)) => first,
        Some(Err(error)) => return Err(LogError::json(name, 1, "a JSON object", &error)),
        None => return Err(LogError::at(name, Place::START, FORMS, "an empty file")),
    };
    let alone = text[values.byte_offset()..].trim().is_empty();
    if !alone || Head::of(first.get()).is_piece() {
        return read_lines(name, text);
    }
    let log = ChunkLog::from_whole(name, text.as_bytes().to_vec());
    if log.kind.is_none() && !first.get().contains("\"error\"") {
        // A line with its time is an object too, and the only other one that may stand alone.
        return read_lines(name, text);
    }
    Ok(log)
}

/// The bytes of a stream, in which every event that tells its API tells the same.
fn read_sse(name: &str, body: &[u8]) -> Result<ChunkLog, LogError> {
    let mut pieces = Vec::new();
    let mut kind: Option<(WireKind, usize)> = None;
    let mut offset = 0;
    let mut fields = false;
    for frame in frames(body) {
        let readable = frame.data_bytes().is_some() || frame.lenient_data().is_some();
        fields |= readable || !(frame.is_stray() || frame.raw().trim_ascii().is_empty());
        let data = frame.data().unwrap_or_default();
        let told = std::str::from_utf8(&data).ok().and_then(|data| Head::of(data).kind());
        let place = || Place::of(body, offset);
        match (kind, told) {
            (None, Some(told)) => kind = Some((told, place().line)),
            (Some((kind, line)), Some(told)) if told != kind => {
                let expected = format!("an event of {kind}, as on line {line}");
                return Err(LogError::at(name, place(), expected, format!("one of {told}")));
            }
            _ => {}
        }
        pieces.push(Piece { at: Duration::ZERO, len: frame.raw().len() });
        offset += frame.raw().len();
    }
    if !fields {
        let start = body.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or_default();
        let line = body[start..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        let found = String::from_utf8_lossy(line).chars().take(40).collect::<String>();
        return Err(LogError::at(name, Place::of(body, start), FORMS, format!("{found:?}")));
    }
    Ok(ChunkLog {
        name: name.to_owned(),
        form: Form::Sse,
        kind: kind.map(|(kind, _)| kind),
        body: body.to_vec().into(),
        pieces,
        recorded_cuts: false,
        truncated: false,
    })
}

fn utf8<'a>(name: &str, text: &'a [u8]) -> Result<&'a str, LogError> {
    std::str::from_utf8(text).map_err(|error| {
        let place = Place::of(text, error.valid_up_to());
        LogError::at(name, place, "JSON", "bytes that are not UTF-8")
    })
}

const FORMS: &str = "an SSE body, JSON lines, an array of chunks or a whole response";
