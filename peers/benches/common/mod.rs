//! What the benches share: the bundled policies, the streams, the engine's loop, and the clock.

#![allow(dead_code, reason = "each bench uses a part")]

pub mod bundled;
pub mod cpu;
pub mod drive;
pub mod streams;
pub mod table;
