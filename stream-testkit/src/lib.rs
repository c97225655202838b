//! Chunk logs, replay, snapshots, laws and conformance checks for stream policies.

pub mod conformance;
