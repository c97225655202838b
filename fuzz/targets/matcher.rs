#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| stream_policies::fuzz::matcher(data));
