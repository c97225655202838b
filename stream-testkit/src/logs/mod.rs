//! Where logs are found: the kit's own, and a corpus of recorded streams.
//!
//! The kit's own logs are written by hand, in the shapes of real providers; beside each, `<name>.expected.json` says what
//! a client ends up with. They are part of the crate, so that a test over them runs everywhere. Recorded streams are not:
//! `STREAM_CORPUS` names a folder of them.
//!
//! ```
//! use stream_testkit::{WireKind, logs};
//!
//! let own = logs::own()?;
//! assert!(WireKind::ALL.iter().all(|kind| own.iter().filter(|log| log.kind() == *kind).count() >= 15));
//! # Ok::<(), stream_testkit::LogError>(())
//! ```

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{ChunkLog, LogError, WireKind};

/// A log of the kit's own.
#[derive(Debug, Clone)]
pub struct OwnLog {
    name: String,
    kind: WireKind,
    log: ChunkLog,
    expected: Expected,
}

impl OwnLog {
    /// The name: provider and quirk.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The API.
    #[must_use]
    pub fn kind(&self) -> WireKind {
        self.kind
    }

    /// The stream.
    #[must_use]
    pub fn log(&self) -> &ChunkLog {
        &self.log
    }

    /// The answer as a client reads it.
    #[must_use]
    pub fn expected(&self) -> &Expected {
        &self.expected
    }
}

/// The answer as a client reads it, from the file beside a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The text of the first choice.
    #[serde(default)]
    pub content: String,
    /// The reasoning of the first choice.
    #[serde(default)]
    pub reasoning: String,
    /// The transcript of what the first choice speaks.
    #[serde(default)]
    pub spoken: String,
    /// The refusal of the first choice.
    #[serde(default)]
    pub refusal: String,
    /// The calls of the first choice, in order.
    #[serde(default)]
    pub calls: Vec<ExpectedCall>,
    /// The finish reason of the first choice, in the provider's word; `None` without a finish.
    #[serde(default)]
    pub finish: Option<String>,
    /// `true` if the stream ends with an error.
    #[serde(default)]
    pub error: bool,
    /// The names of tools that the provider ran.
    #[serde(default)]
    pub server: Vec<String>,
    /// Further choices.
    #[serde(default)]
    pub choices: Vec<ExpectedChoice>,
    /// Whether some frame is not plain, so that clients read different things in this stream. Under a policy the stream
    /// is written anew, and a client ends up with the above.
    #[serde(default)]
    pub normalised: bool,
}

/// A call as it is written beside a log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedCall {
    /// The id; empty for a call without one.
    #[serde(default)]
    pub id: String,
    /// The name.
    pub name: String,
    /// The arguments, put together.
    pub arguments: String,
}

/// A choice behind the first, as it is written beside a log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedChoice {
    /// The index.
    pub index: u64,
    /// The text.
    pub content: String,
    /// The calls, in order.
    #[serde(default)]
    pub calls: Vec<ExpectedCall>,
    /// The finish reason of the choice.
    pub finish: Option<String>,
}

/// The kit's own logs, by API and name.
///
/// # Errors
///
/// When a file is missing or cannot be read.
pub fn own() -> Result<Vec<OwnLog>, LogError> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("logs");
    let mut logs = Vec::new();
    for kind in WireKind::ALL {
        let folder = root.join(kind.name());
        let entries = std::fs::read_dir(&folder).map_err(|error| unreadable(&folder, error))?;
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "sse")) {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let beside = file.with_extension("expected.json");
            let text = std::fs::read(&beside).map_err(|error| unreadable(&beside, error))?;
            let expected = serde_json::from_slice(&text).map_err(|error| {
                LogError::json(&beside.display().to_string(), 1, "what a client ends up with", &error)
            })?;
            logs.push(OwnLog { name, kind, log: ChunkLog::load(file)?, expected });
        }
    }
    Ok(logs)
}

fn unreadable(path: &Path, error: std::io::Error) -> LogError {
    LogError::io(&path.display().to_string(), "read", error)
}

/// A stream of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The file, below the corpus: `openai-chat/name.sse`.
    pub file: String,
    /// The API.
    pub kind: WireKind,
    /// The provider that sent the stream.
    pub provider: String,
    /// The length of the file.
    pub bytes: usize,
    path: PathBuf,
}

impl Recorded {
    /// Reads the stream.
    ///
    /// # Errors
    ///
    /// When the file is missing or cannot be read.
    pub fn load(&self) -> Result<ChunkLog, LogError> {
        ChunkLog::load(&self.path)
    }
}

/// The folder of the corpus: `STREAM_CORPUS`, or `shared/corpus` beside the workspace. `None` where there is no corpus.
///
/// A test that needs the corpus is ignored by name, and takes the folder for given: the gate runs such tests where there is
/// one.
#[must_use]
pub fn root() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let root = std::env::var_os("STREAM_CORPUS").map_or_else(beside, PathBuf::from);
    root.join("MANIFEST.tsv").is_file().then_some(root)
}

/// The folder of findings, which are streams that once went past a policy, each with the file of this policy beside it:
/// `STREAM_FINDINGS`, or `shared/findings` beside the workspace. `None` where there is none.
///
/// A test that needs them is ignored by name, as with the [corpus](root).
#[must_use]
pub fn findings() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/findings");
    let root = std::env::var_os("STREAM_FINDINGS").map_or_else(beside, PathBuf::from);
    root.is_dir().then_some(root)
}

/// The recorded streams of the corpus. `None` where there is no [corpus](root).
#[must_use]
pub fn corpus() -> Option<Vec<Recorded>> {
    let root = root()?;
    let manifest = std::fs::read_to_string(root.join("MANIFEST.tsv")).ok()?;
    let recorded = manifest.lines().skip(1).filter_map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let file = (*columns.first()?).to_owned();
        let kind = file.split('/').next()?.parse().ok()?;
        let provider = (*columns.get(5)?).to_owned();
        let bytes = columns.get(8)?.parse().ok()?;
        Some(Recorded { path: root.join(&file), file, kind, provider, bytes })
    });
    Some(recorded.collect())
}

/// The recorded streams of an API, for a test that is ignored where there are none.
///
/// # Panics
///
/// When there is no [corpus](root), or no stream of this API in it.
#[must_use]
#[track_caller]
pub fn recorded(kind: WireKind) -> Vec<Recorded> {
    let corpus = corpus().unwrap_or_default();
    let recorded: Vec<Recorded> = corpus.into_iter().filter(|recorded| recorded.kind == kind).collect();
    assert!(!recorded.is_empty(), "no recorded streams of {kind}: STREAM_CORPUS names their folder");
    recorded
}

#[cfg(feature = "laws")]
#[cfg(test)]
mod tests;
