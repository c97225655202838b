//! A directory for the files of one test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory that is removed when this is dropped.
#[derive(Debug)]
pub struct Place(PathBuf);

impl Place {
    /// A new one.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn new() -> std::io::Result<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("envoy-suite-{}-{next}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Writes a file, as one that takes the place of what was there.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, name: &str, text: &str) -> std::io::Result<PathBuf> {
        let (path, new) = (self.path(name), self.path(&format!("{name}.new")));
        std::fs::write(&new, text)?;
        std::fs::rename(&new, &path)?;
        Ok(path)
    }

    /// The path of a file here.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
