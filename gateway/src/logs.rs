//! Reading logs.

use std::path::Path;

use stream_testkit::ChunkLog;

/// Reads a log from a file.
pub(crate) fn load(file: &Path) -> Result<ChunkLog, String> {
    ChunkLog::load(file).map_err(|error| error.to_string())
}
