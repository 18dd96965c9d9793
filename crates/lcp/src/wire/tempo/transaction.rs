use super::{Address, signature};
use crate::wire::{
    evm::{U256, Word, keccak},
    rlp::{self, Item},
};

const TYPE: u8 = 0x76;
/// Largest signed transaction, in bytes.
const MAX_TRANSACTION: usize = 65_536;
/// How deep lists may nest, the transaction's own counted.
const MAX_DEPTH: usize = 9;
const MAX_CALLS: usize = 64;

// The fields, in their order; then a key authorization, if there is one, and the sender's signature.
const CHAIN_ID: usize = 0;
const UINTS: [usize; 8] = [CHAIN_ID, 1, 2, 3, 6, 7, 8, 9];
const CALLS: usize = 4;
const ACCESS_LIST: usize = 5;
const FEE_TOKEN: usize = 10;
const FEE_PAYER_SIGNATURE: usize = 11;
const AUTHORIZATIONS: usize = 12;
const FIELDS: usize = 13;

/// A signed transaction of type 0x76.
#[derive(Clone, Debug)]
pub struct Transaction<'a> {
    chain_id: U256,
    /// What it does, in order.
    pub calls: Vec<Call<'a>>,
    authorizations: Item<'a>,
    /// All that the sender signs, as it stands in the transaction.
    signed: Vec<&'a [u8]>,
    signature: &'a [u8],
}

/// A call of a transaction.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Who is called; none where a contract is created.
    pub to: Option<&'a Address>,
    /// The call's data.
    pub data: &'a [u8],
}

impl<'a> Transaction<'a> {
    /// Reads a signed transaction of at most 64 KiB. What the access list, the authorizations, a key authorization and the
    /// signatures hold is not looked at here.
    pub fn read(wire: &'a [u8]) -> Option<Self> {
        let (&TYPE, list) = wire.split_first()? else { return None };
        if wire.len() > MAX_TRANSACTION {
            return None;
        }
        let items = Item::read(list, MAX_DEPTH)?.items()?;
        let (signature, signed) = items.split_last()?;
        let (fields, key_authorization) = signed.split_first_chunk::<FIELDS>()?;
        let well_formed = UINTS.iter().all(|&field| fields[field].uint().is_some())
            && [ACCESS_LIST, AUTHORIZATIONS].iter().all(|&field| fields[field].bytes().is_none())
            && fields[FEE_TOKEN].bytes().is_some()
            && (key_authorization.is_empty() || matches!(key_authorization, [list] if list.bytes().is_none()));
        let calls = fields[CALLS].items()?;
        if !well_formed || calls.len() > MAX_CALLS {
            return None;
        }
        let sponsored = fields[FEE_PAYER_SIGNATURE].bytes() != Some(&[]);
        let signed = signed.iter().enumerate().map(|(field, item)| match field {
            // Who pays another's fees, and in which token, is not the sender's to sign.
            FEE_TOKEN if sponsored => &[0x80],
            FEE_PAYER_SIGNATURE if sponsored => &[0x00],
            _ => item.raw(),
        });
        Some(Self {
            chain_id: fields[CHAIN_ID].uint()?,
            calls: calls.into_iter().map(Call::of).collect::<Option<_>>()?,
            authorizations: fields[AUTHORIZATIONS],
            signed: signed.collect(),
            signature: signature.bytes()?,
        })
    }

    /// Whether it is for a chain.
    pub fn is_on(&self, chain_id: u64) -> bool {
        self.chain_id == u128::from(chain_id).into()
    }

    /// The account that sends it, or none if its signature or one of its authorizations is malformed.
    pub fn sender(&self) -> Option<Address> {
        self.authorizations.items()?.into_iter().all(authorization_is_well_formed).then_some(())?;
        signature::account(self.signature, &keccak(&self.signed_bytes()))
    }

    /// What the chain remembers a transaction of an expiring nonce by, for the account that sends it.
    pub fn expiring_nonce_hash(&self, sender: &Address) -> Word {
        keccak(&[&self.signed_bytes(), sender.as_slice()].concat())
    }

    fn signed_bytes(&self) -> Vec<u8> {
        [&[TYPE], &*rlp::list(&self.signed)].concat()
    }
}

impl<'a> Call<'a> {
    fn of(item: Item<'a>) -> Option<Self> {
        let [to, value, data] = *item.items()?.as_slice() else { return None };
        value.uint()?;
        let to = match to.bytes()? {
            [] => None,
            to => Some(to.try_into().ok()?),
        };
        Some(Self { to, data: data.bytes()? })
    }
}

/// An authorization is of a chain, an address, a nonce and the account's signature.
fn authorization_is_well_formed(item: Item<'_>) -> bool {
    let parts = item.items().unwrap_or_default();
    let [_, _, _, signature] = parts.as_slice() else { return false };
    signature.bytes().is_some_and(|signature| !signature::is_keychain_v1(signature))
}
