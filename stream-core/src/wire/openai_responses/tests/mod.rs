//! The format from outside: synthetic events in, exact bytes out.

mod client;
mod corpus;
mod endings;
mod inserting;
mod kit;
mod reading;
mod whole;
mod writing;
