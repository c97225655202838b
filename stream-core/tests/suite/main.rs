//! Tests of one file each, in one program: a build links it once.

// Everything here is a test, its helpers too.
#![allow(clippy::unwrap_used)]

mod completions;
mod corpus;
mod formats;
mod framer;
mod framer_differential;
mod judges_dropped;
#[path = "../kit/mod.rs"]
mod kit;
mod located;
mod long_text_call;
mod policy_settings;
mod small_policies;
mod sources;
mod staged_order;
mod verdict_times;
mod watching;
