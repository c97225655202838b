//! `gateway key`: a new key for a client.

use std::io::Write as _;
use std::process::ExitCode;

use crate::doors::{Digest, make};

/// Prints a new key, and how the configuration knows it.
pub(crate) fn run() -> Result<ExitCode, String> {
    let key = make()?;
    let digest = Digest::of(key.as_bytes());
    let text = format!("{key}\n\n[[client]]\nname = \"…\"\nkey_sha256 = \"{digest}\"\n");
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}
