//! What the MPP methods on Hedera share.

use crate::{Refusal, Value};

const CHAIN_ID_UNNAMED: Refusal = Refusal::new("hedera/chain-id-unnamed");

/// A network that a `chainId` names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    Mainnet,
    Testnet,
}

impl Network {
    pub(crate) fn of(chain_id: &Value) -> Result<Self, Refusal> {
        [Self::Mainnet, Self::Testnet].into_iter().find(|network| chain_id.as_safe_unsigned() == Some(network.chain_id())).ok_or(CHAIN_ID_UNNAMED)
    }

    pub(crate) fn chain_id(self) -> u64 {
        match self {
            Self::Mainnet => 295,
            Self::Testnet => 296,
        }
    }

    /// The CAIP-2 network.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mainnet => "hedera:mainnet",
            Self::Testnet => "hedera:testnet",
        }
    }
}
