#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| stream_testkit::fuzz::decode(stream_testkit::WireKind::OpenAiChat, data));
