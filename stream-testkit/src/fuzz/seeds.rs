//! The seeds of a fuzz target.

use std::fs;
use std::path::{Path, PathBuf};

/// Hands each committed seed of a target to a body, by name.
///
/// # Panics
///
/// When there is no seed, or one cannot be read.
pub fn each_seed(target: &str, body: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
    let listed =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("no seeds in {}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = listed.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no seeds in {}", folder.display());
    for file in files {
        body(&fs::read(&file).expect("a seed that can be read"));
    }
}
