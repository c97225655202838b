//! The scanner of stream-text-calls beside other parsers of calls in text: see `benches/scanner.rs`.
