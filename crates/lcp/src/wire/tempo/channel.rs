//! Payment channels: a deposit that vouchers pay from, in a contract (release 1) or in the chain itself (release 2).

use super::{Address, address, word, words};
use crate::wire::evm::{Domain, Word, keccak, uint_word};

/// Which contract holds the channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// `Tempo Stream Channel`.
    V1,
    /// `TIP20 Channel Reserve`, in which an operator may act for the payee, and the opening transaction's nonce names the
    /// channel.
    V2,
}

impl Release {
    /// How many bits an amount has.
    pub fn amount_bits(self) -> u32 {
        match self {
            Self::V1 => 128,
            Self::V2 => 96,
        }
    }

    /// Whether an amount has no more bits.
    pub fn holds(self, amount: u128) -> bool {
        amount.checked_shr(self.amount_bits()).unwrap_or(0) == 0
    }

    /// The type of an amount in a voucher.
    pub fn amount_type(self) -> &'static str {
        match self {
            Self::V1 => "uint128",
            Self::V2 => "uint96",
        }
    }

    /// The contract's EIP-712 domain.
    pub fn domain(self, chain_id: u64, contract: &str) -> Domain<'_> {
        let name = match self {
            Self::V1 => "Tempo Stream Channel",
            Self::V2 => "TIP20 Channel Reserve",
        };
        Domain { name, version: "1", chain_id, contract }
    }

    fn selector(self) -> [u8; 4] {
        match self {
            // open(address,address,uint128,bytes32,address)
            Self::V1 => [0xC7, 0x9E, 0xA4, 0x85],
            // open(address,address,address,uint96,bytes32,address)
            Self::V2 => [0xED, 0xC5, 0x3B, 0x00],
        }
    }

    /// Whether a call's data open a channel, by their selector.
    pub fn opens(self, data: &[u8]) -> bool {
        data.starts_with(&self.selector())
    }

    /// The salt in the data of a call that opens a channel, whatever else they say.
    pub fn salt(self, data: &[u8]) -> Option<&Word> {
        match (self, words(data.strip_prefix(&self.selector())?)?) {
            (Self::V1, [_, _, _, salt, _]) | (Self::V2, [_, _, _, _, salt, _]) => Some(salt),
            _ => None,
        }
    }
}

/// What opens a channel, beside the deposit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Who is paid.
    pub payee: Address,
    /// Who may act for the payee; zero for nobody, and in release 1.
    pub operator: Address,
    /// The token.
    pub token: Address,
    /// The salt.
    pub salt: Word,
    /// Who signs vouchers; zero for the payer.
    pub authorized_signer: Address,
}

impl Opening {
    /// The data of the call that opens the channel.
    pub fn call(&self, release: Release, deposit: u128) -> Vec<u8> {
        let [payee, operator, token, signer] = [self.payee, self.operator, self.token, self.authorized_signer].map(|address| word(&address));
        let words = match release {
            Release::V1 => vec![payee, token, uint_word(deposit), self.salt, signer],
            Release::V2 => vec![payee, operator, token, uint_word(deposit), self.salt, signer],
        };
        [&release.selector(), words.as_flattened()].concat()
    }

    /// Reads the data of a call that opens a channel; the deposit is any word.
    pub fn read(release: Release, data: &[u8]) -> Option<Self> {
        let arguments = words(data.strip_prefix(&release.selector())?)?;
        let (payee, operator, token, salt, authorized_signer) = match (release, arguments) {
            (Release::V1, [payee, token, _, salt, signer]) => (payee, &[0; 32], token, salt, signer),
            (Release::V2, [payee, operator, token, _, salt, signer]) => (payee, operator, token, salt, signer),
            _ => return None,
        };
        Some(Self {
            payee: address(payee)?,
            operator: address(operator)?,
            token: address(token)?,
            salt: *salt,
            authorized_signer: address(authorized_signer)?,
        })
    }
}

/// A channel, as its contract names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Who pays.
    pub payer: Address,
    /// What opened it.
    pub opening: Opening,
    /// [`super::Transaction::expiring_nonce_hash`] of the opening transaction; not part of the name in release 1.
    pub expiring_nonce_hash: Word,
}

impl Descriptor {
    /// The channel's id.
    pub fn id(&self, release: Release, contract: &Address, chain_id: u64) -> Word {
        let Opening { payee, operator, token, salt, authorized_signer } = self.opening;
        let [payer, payee, operator, token, signer, contract] =
            [self.payer, payee, operator, token, authorized_signer, *contract].map(|address| word(&address));
        let chain_id = uint_word(chain_id.into());
        let words = match release {
            Release::V1 => vec![payer, payee, token, salt, signer, contract, chain_id],
            Release::V2 => vec![payer, payee, operator, token, salt, signer, self.expiring_nonce_hash, contract, chain_id],
        };
        keccak(words.as_flattened())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::tempo::peers::{self, cases, uint};

    #[test]
    fn selectors_are_of_their_signatures() {
        assert!(keccak(b"open(address,address,uint128,bytes32,address)").starts_with(&Release::V1.selector()));
        assert!(keccak(b"open(address,address,address,uint96,bytes32,address)").starts_with(&Release::V2.selector()));
    }

    #[test]
    fn ids_are_those_of_the_libraries() {
        for case in cases("channels") {
            let members = case.get("descriptor").unwrap();
            let descriptor = Descriptor {
                payer: peers::address(members, "payer"),
                opening: Opening {
                    payee: peers::address(members, "payee"),
                    operator: peers::address(members, "operator"),
                    token: peers::address(members, "token"),
                    salt: peers::word(members, "salt"),
                    authorized_signer: peers::address(members, "authorizedSigner"),
                },
                expiring_nonce_hash: peers::word(members, "expiringNonceHash"),
            };
            for (release, name) in [(Release::V1, "v1"), (Release::V2, "v2")] {
                let expected = case.get(name).unwrap();
                let id = descriptor.id(release, &peers::address(expected, "escrow"), uint(&case, "chainId"));
                assert_eq!(id, peers::word(expected, "id"), "{name}");
            }
        }
    }

    #[test]
    fn amounts_are_held_to_their_width() {
        assert!(Release::V1.holds(u128::MAX) && Release::V2.holds((1 << 96) - 1));
        assert!(!Release::V2.holds(1 << 96));
    }

    fn opening() -> impl Strategy<Value = Opening> {
        any::<(Address, Address, Address, Word, Address)>().prop_map(|(payee, operator, token, salt, authorized_signer)| Opening {
            payee,
            operator,
            token,
            salt,
            authorized_signer,
        })
    }

    proptest! {
        #[test]
        fn an_opening_is_read_from_its_call(opening in opening(), deposit: u128) {
            for (release, read) in [(Release::V1, Opening { operator: [0; 20], ..opening }), (Release::V2, opening)] {
                let data = opening.call(release, deposit);
                prop_assert!(release.opens(&data));
                prop_assert_eq!(release.salt(&data), Some(&opening.salt));
                prop_assert_eq!(Opening::read(release, &data), Some(read));
                // The deposit stands before the salt, and is any word.
                let mut higher = data.clone();
                higher[data.len() - 96..data.len() - 64].fill(0xFF);
                prop_assert_eq!(Opening::read(release, &higher), Some(read));
                for other in [&data[..data.len() - 1], &data[1..], &[&*data, &[0]].concat(), &[&*data, &[0; 32]].concat()] {
                    prop_assert_eq!(Opening::read(release, other), None);
                    prop_assert_eq!(release.salt(other), None);
                }
                let mut high_bits = data.clone();
                high_bits[4] = 1;
                prop_assert_eq!(Opening::read(release, &high_bits), None);
                prop_assert_eq!(release.salt(&high_bits), Some(&opening.salt));
            }
            let (v1, v2) = (opening.call(Release::V1, deposit), opening.call(Release::V2, deposit));
            prop_assert!(!Release::V2.opens(&v1) && !Release::V1.opens(&v2));
        }

        #[test]
        fn every_member_tells_channels_apart(payer: Address, opening in opening(), hash: Word, contract: Address, changed in 0..9_usize) {
            let descriptor = Descriptor { payer, opening, expiring_nonce_hash: hash };
            let (mut other, mut other_contract, mut chain_id) = (descriptor, contract, 7);
            match changed {
                0 => other.payer[0] ^= 1,
                1 => other.opening.payee[0] ^= 1,
                2 => other.opening.operator[0] ^= 1,
                3 => other.opening.token[0] ^= 1,
                4 => other.opening.salt[0] ^= 1,
                5 => other.opening.authorized_signer[0] ^= 1,
                6 => other.expiring_nonce_hash[0] ^= 1,
                7 => other_contract[0] ^= 1,
                _ => chain_id = 8,
            }
            prop_assert_ne!(descriptor.id(Release::V2, &contract, 7), other.id(Release::V2, &other_contract, chain_id));
            let same = descriptor.id(Release::V1, &contract, 7) == other.id(Release::V1, &other_contract, chain_id);
            prop_assert_eq!(same, [2, 6].contains(&changed));
        }
    }
}
