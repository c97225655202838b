//! The format from outside: synthetic events in, exact bytes out.

mod client;
mod corpus;
mod endings;
mod insert;
mod kit;
mod read;
mod source;
mod whole;
mod write;
