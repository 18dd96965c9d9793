#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| conformance::readers::operator_input(data));
