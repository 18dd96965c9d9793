#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| conformance::readers::record_bundle(data));
