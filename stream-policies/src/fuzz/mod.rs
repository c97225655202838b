//! Fuzz bodies: what holds for any bytes at all. `docs/fuzzing.md` says how they are run.

#![allow(clippy::panic, reason = "a body panics where a promise is broken")]

mod matcher;
mod policy_file;

pub use matcher::matcher;
pub use policy_file::policy_file;

#[cfg(test)]
mod tests {
    use stream_testkit::fuzz::each_seed;

    #[test]
    fn what_is_found_in_pieces_is_what_is_found_in_the_whole() {
        each_seed("matcher", super::matcher);
    }

    #[test]
    fn a_policy_file_is_a_chain_or_an_error_with_a_place() {
        each_seed("policy_file", super::policy_file);
    }
}
