//! Fold a model's stream into typed blocks and let an async policy decide, block by block, what leaves.

pub mod block;
pub mod delta;
pub(crate) mod json;
pub mod sse;
pub mod wire;
