//! The buyer gate's binary.
mod address;
mod public_fetch;
mod signer_process;
mod system_env;
fn main() {}
