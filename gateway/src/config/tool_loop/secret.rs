//! Keys for those who run tools.

use toml::Spanned;

use super::Fault;

/// A key from the environment.
pub(super) fn secret(name: &Spanned<String>, text: &str) -> Result<String, Fault> {
    let found = std::env::var(name.get_ref()).ok().filter(|key| !key.trim().is_empty());
    found.ok_or_else(|| {
        let message = format!("expected a key in the environment variable {:?}, found none", name.get_ref());
        Fault::at(text, &name.span(), message)
    })
}
