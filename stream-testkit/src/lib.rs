//! Chunk logs, replay, snapshots, laws and conformance checks for stream policies.
