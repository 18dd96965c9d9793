#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| conformance::readers::cbor_item(data));
