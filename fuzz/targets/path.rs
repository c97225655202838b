#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| stream_http::fuzz::path(data));
