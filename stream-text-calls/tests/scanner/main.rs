//! Calls written as text: every dialect in every cut, the bugs known from the field, and prose that stays prose.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod cuts;
mod dialects;
mod field;
mod prose;
mod readings;
mod seen;
mod settings;
mod xml;
