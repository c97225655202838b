//! Parts that were not built in.

/// What is said where a program would need a part that it was built without.
pub(crate) fn feature(name: &str, beside: &str) -> String {
    format!(
        "expected a program with the feature {name} beside {beside}, found one without: build it with \
         `cargo build -p gateway --features {name}`"
    )
}
