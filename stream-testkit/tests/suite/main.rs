//! The tests of the kit, in one program: a build links it once.

mod broken_policies;
mod chunk_log;
mod conformance_corpus;
mod deltas_corpus;
mod faults;
mod laws;
mod policies;
mod replay;
mod script;
mod second_turn_corpus;
mod server;
mod snapshots;
mod strategies;
mod tap;
