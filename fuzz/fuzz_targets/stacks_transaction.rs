#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| conformance::readers::stacks_transaction(data));
