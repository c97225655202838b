//! The error of a transport that broke.

use std::fmt;

/// The error of an upstream whose transport breaks, with the number of bytes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FaultError {
    at: usize,
}

impl FaultError {
    pub(super) fn new(at: usize) -> Self {
        Self { at }
    }

    /// The number of bytes before the error.
    #[must_use]
    pub fn at(self) -> usize {
        self.at
    }
}

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection reset after {} bytes", self.at)
    }
}

impl std::error::Error for FaultError {}
