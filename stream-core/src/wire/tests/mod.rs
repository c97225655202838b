//! What all formats share.

mod numbering;
mod sink;
mod turn;
