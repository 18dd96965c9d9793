#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| conformance::readers::log_text(data));
