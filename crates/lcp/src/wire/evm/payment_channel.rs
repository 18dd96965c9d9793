//! The channels of an escrow contract: a deposit of the payer, from which the payee takes what vouchers allow.

use super::{Word, address_word, call_data, keccak, uint_word};

/// A channel; addresses as written.
#[derive(Clone, Copy, Debug)]
pub struct PaymentChannel<'a> {
    /// Who deposits.
    pub payer: &'a str,
    /// Who is paid.
    pub payee: &'a str,
    /// The token.
    pub token: &'a str,
    /// The salt, which tells the payer's channels apart.
    pub salt: Word,
    /// Who signs vouchers; the zero address for the payer.
    pub signer: &'a str,
    /// The escrow contract.
    pub escrow: &'a str,
    /// The chain.
    pub chain_id: u64,
}

impl PaymentChannel<'_> {
    /// The channel's id, unless an address is none.
    pub fn id(&self) -> Option<Word> {
        let [payer, payee, token, signer, escrow] = [self.payer, self.payee, self.token, self.signer, self.escrow].map(address_word);
        Some(keccak([payer?, payee?, token?, self.salt, signer?, escrow?, uint_word(self.chain_id.into())].as_flattened()))
    }

    /// The nonce of the deposit by a signed transfer, unless an address is none.
    pub fn deposit_nonce(&self) -> Option<Word> {
        let [payer, payee, token, signer] = [self.payer, self.payee, self.token, self.signer].map(address_word);
        Some(keccak([payer?, payee?, token?, self.salt, signer?].as_flattened()))
    }

    /// The data of the call by which the token lets the escrow take a deposit, in hex, unless an address is none.
    pub fn approve_call(&self, deposit: u128) -> Option<String> {
        Some(call_data([0x09, 0x5E, 0xA7, 0xB3], &[address_word(self.escrow)?, uint_word(deposit)]))
    }

    /// The data of the call that opens the channel with a deposit, in hex, unless an address is none.
    pub fn open_call(&self, deposit: u128) -> Option<String> {
        let [payee, token, signer] = [self.payee, self.token, self.signer].map(address_word);
        Some(call_data([0xC7, 0x9E, 0xA4, 0x85], &[payee?, token?, uint_word(deposit), self.salt, signer?]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding;

    #[test]
    fn selectors_of_the_signatures() {
        for (signature, selector) in [("open(address,address,uint128,bytes32,address)", "0xc79ea485"), ("approve(address,uint256)", "0x095ea7b3")] {
            assert_eq!(encoding::hex(&keccak(signature.as_bytes())[..4]), selector);
        }
    }
}
