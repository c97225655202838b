//! Policy files.

use stream_core::Config;

use crate::PolicySet;

/// A file is a chain that can be described and built, or an error that names its place in the file.
///
/// # Panics
///
/// When neither is so.
pub fn policy_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match PolicySet::from_toml(text) {
        Ok(set) => {
            assert_eq!(set.chain().len(), set.len(), "a stage for each policy");
            assert!(set.describe().to_string().lines().count() >= set.len(), "a line for each policy");
            let _ = set.configure(Config::default(), Some("some-model"));
        }
        Err(error) => {
            let place = error.place().unwrap_or_else(|| panic!("{error}: no place"));
            let line =
                text.split('\n').nth(place.line - 1).unwrap_or_else(|| panic!("{error}: no such line"));
            assert!(place.column <= line.chars().count() + 1, "{error}: no such column");
        }
    }
}
