//! Substrate's addresses, SCALE integers and signed extrinsics, and the calls of Asset Hub that payments make.
//!
//! Our own codec: the published SCALE crate is laxer about what follows a value, and the extrinsic is only walked, not decoded.

mod address;
pub mod asset_hub;
pub mod compact;
mod extrinsic;

pub use address::AccountId;
pub use extrinsic::{MAX_EXTRINSIC, behind_signature};
