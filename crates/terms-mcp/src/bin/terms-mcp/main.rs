//! The buyer gate's binary.
mod address;
mod public_fetch;
fn main() {}
