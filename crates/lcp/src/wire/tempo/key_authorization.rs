use super::Address;
use crate::wire::{
    evm::{U256, Word, keccak},
    rlp::{self, Item},
};

/// Largest signed key authorization, in bytes.
const MAX_SIGNED: usize = 8192;
/// How deep lists may nest, the outer one counted.
const MAX_DEPTH: usize = 7;
/// Most limits, scopes, rules of a scope, and recipients of a rule.
const MAX_ENTRIES: usize = 16;

/// An account's leave for an access key: whose it is, and what the account said it gives it for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyAuthorization {
    /// The chain.
    pub chain_id: U256,
    /// The kind of key, as [`AccessKey::kind`].
    pub kind: U256,
    /// The key's address.
    pub key: Address,
    /// What the account signed beside it.
    pub witness: Option<Word>,
    /// What the account signed.
    pub digest: Word,
}

impl KeyAuthorization {
    /// Reads the list of an authorization and its signature, which is not looked at, nor is what the key may do but for its
    /// form.
    pub fn read(signed: &[u8]) -> Option<Self> {
        if signed.len() > MAX_SIGNED {
            return None;
        }
        let [authorization, signature] = *Item::read(signed, MAX_DEPTH)?.items()?.as_slice() else { return None };
        signature.bytes()?;
        let members = authorization.items()?;
        // After the witness two members may stand that are not read here.
        let [chain_id, kind, key, optional @ ..] = members.as_slice() else { return None };
        if optional.len() > 6 {
            return None;
        }
        let optional = |place: usize| optional.get(place).copied().filter(|item| item.bytes() != Some(&[]));
        if let Some(limits) = optional(1) {
            entries(limits, limit_is_well_formed)?;
        }
        if let Some(scopes) = optional(2) {
            entries(scopes, scope_is_well_formed)?;
        }
        let witness = match optional(3) {
            None => None,
            Some(witness) => Some(witness.bytes()?.try_into().ok()?),
        };
        Some(Self { chain_id: chain_id.uint()?, kind: kind.uint()?, key: address(*key)?, witness, digest: keccak(authorization.raw()) })
    }
}

/// Holds every entry of a list to its form.
fn entries(list: Item<'_>, is_well_formed: fn(&[Item<'_>]) -> Option<()>) -> Option<()> {
    let entries = list.items().filter(|entries| entries.len() <= MAX_ENTRIES)?;
    entries.into_iter().try_for_each(|entry| is_well_formed(&entry.items()?))
}

/// A token, the most that may be spent of it, and for how many seconds that holds before it starts anew.
fn limit_is_well_formed(limit: &[Item<'_>]) -> Option<()> {
    let [token, amounts @ ..] = limit else { return None };
    address(*token)?;
    (1..=2).contains(&amounts.len()).then_some(())?;
    amounts.iter().try_for_each(|amount| amount.uint().map(drop))
}

/// A contract, and the calls to it.
fn scope_is_well_formed(scope: &[Item<'_>]) -> Option<()> {
    let [target, rules] = scope else { return None };
    address(*target)?;
    entries(*rules, rule_is_well_formed)
}

/// A function, and to whom it may be called.
fn rule_is_well_formed(rule: &[Item<'_>]) -> Option<()> {
    let [selector, recipients] = rule else { return None };
    selector.bytes().filter(|selector| selector.len() == 4)?;
    let recipients = recipients.items().filter(|recipients| recipients.len() <= MAX_ENTRIES)?;
    recipients.into_iter().try_for_each(|recipient| address(recipient).map(drop))
}

fn address(item: Item<'_>) -> Option<Address> {
    item.bytes()?.try_into().ok()
}

/// A key that may pay one recipient, in one token, a limit each period.
#[derive(Clone, Copy, Debug)]
pub struct AccessKey {
    /// The chain.
    pub chain_id: u64,
    /// The kind of key: 0 is secp256k1, 1 P-256, 2 WebAuthn.
    pub kind: u8,
    /// The key's address.
    pub key: Address,
    /// Unix seconds.
    pub expiry: u64,
    /// The token.
    pub token: Address,
    /// The most that may be paid in a period, in the token's smallest unit.
    pub limit: U256,
    /// The period, in seconds.
    pub period: u64,
    /// The function by which the recipient is paid.
    pub selector: [u8; 4],
    /// The recipient.
    pub recipient: Address,
    /// What the account signs beside it.
    pub witness: Word,
}

impl AccessKey {
    /// The authorization, whose Keccak-256 the account signs.
    pub fn authorization(&self) -> Vec<u8> {
        let uint = |value: u64| rlp::uint(u128::from(value).into());
        let token = rlp::string(&self.token);
        let rule = rlp::list(&[rlp::string(&self.selector), rlp::list(&[rlp::string(&self.recipient)])]);
        rlp::list(&[
            uint(self.chain_id),
            uint(self.kind.into()),
            rlp::string(&self.key),
            uint(self.expiry),
            rlp::list(&[rlp::list(&[token.clone(), rlp::uint(self.limit), uint(self.period)])]),
            rlp::list(&[rlp::list(&[token, rlp::list(&[rule])])]),
            rlp::string(&self.witness),
        ])
    }

    /// The authorization with the account's signature.
    pub fn signed(&self, signature: &[u8]) -> Vec<u8> {
        rlp::list(&[self.authorization(), rlp::string(signature)])
    }
}
