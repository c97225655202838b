//! Bundled policies for model streams: gates, judges, redaction, validation, and how they compose.
//!
//! Each folder holds one policy and has the same grammar: documentation with an example that runs, its settings, the
//! policy, its tests.
