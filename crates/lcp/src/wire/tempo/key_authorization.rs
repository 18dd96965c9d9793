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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Value,
        wire::tempo::{
            peers::{self, bytes, cases, text, uint, word},
            tip20,
        },
    };

    fn access_key() -> AccessKey {
        AccessKey {
            chain_id: 42431,
            kind: 0,
            key: [7; 20],
            expiry: 1_797_724_800,
            token: [8; 20],
            limit: 10_000_000.into(),
            period: 2_592_000,
            selector: tip20::TRANSFER_WITH_MEMO,
            recipient: [9; 20],
            witness: [5; 32],
        }
    }

    /// The members of [`access_key`]'s authorization.
    fn members() -> Vec<Vec<u8>> {
        let authorization = access_key().authorization();
        Item::read(&authorization, MAX_DEPTH).unwrap().items().unwrap().into_iter().map(|item| item.raw().to_vec()).collect()
    }

    fn signed(members: &[Vec<u8>]) -> Vec<u8> {
        rlp::list(&[rlp::list(members), rlp::string(b"signature")])
    }

    fn reads(members: &[Vec<u8>]) -> bool {
        KeyAuthorization::read(&signed(members)).is_some()
    }

    fn with(place: usize, item: Vec<u8>) -> Vec<Vec<u8>> {
        let mut members = members();
        members[place] = item;
        members
    }

    fn empty() -> Vec<u8> {
        rlp::list(&[b""; 0])
    }

    fn kind(case: &Value) -> u8 {
        ["secp256k1", "p256", "webAuthn"].iter().position(|kind| *kind == text(case, "type")).unwrap().to_le_bytes()[0]
    }

    #[test]
    fn reads_what_a_library_wrote() {
        for case in cases("keyAuthorizations") {
            let read = KeyAuthorization::read(&bytes(&case, "signed")).unwrap();
            let witness = case.get("witness").filter(|witness| !witness.is_null()).map(|_| word(&case, "witness"));
            let expected = KeyAuthorization {
                chain_id: u128::from(uint(&case, "chainId")).into(),
                kind: u128::from(kind(&case)).into(),
                key: peers::address(&case, "key"),
                witness,
                digest: word(&case, "digest"),
            };
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn writes_what_a_library_writes() {
        let mut written = 0;
        for case in cases("keyAuthorizations").iter().take(3) {
            let limit = case.get("limit").unwrap();
            let key = AccessKey {
                chain_id: uint(case, "chainId"),
                kind: kind(case),
                key: peers::address(case, "key"),
                expiry: uint(case, "expiry"),
                token: peers::address(cases("channels")[0].get("descriptor").unwrap(), "token"),
                limit: U256::from_decimal(text(limit, "amount")).unwrap(),
                period: uint(limit, "period"),
                selector: tip20::TRANSFER_WITH_MEMO,
                recipient: peers::address(cases("channels")[0].get("descriptor").unwrap(), "payee"),
                witness: word(case, "witness"),
            };
            assert_eq!(keccak(&key.authorization()), word(case, "digest"));
            assert_eq!(key.signed(&bytes(case, "signature")), bytes(case, "signed"));
            written += 1;
        }
        assert_eq!(written, 3);
    }

    #[test]
    fn trailing_members_are_optional() {
        assert!((3..=6).all(|count| KeyAuthorization::read(&signed(&members()[..count])).unwrap().witness.is_none()));
        assert!(!reads(&members()[..2]));
        let more = |count: usize| [members(), vec![empty(); count]].concat();
        assert!(reads(&more(2)) && !reads(&more(3)));
        for place in [3, 4, 5] {
            assert!(reads(&with(place, rlp::string(b""))) && reads(&with(place, empty())), "{place}");
        }
        // The expiry is not looked at.
        assert!(reads(&with(3, rlp::string(&[0, 1]))));
        assert_eq!(KeyAuthorization::read(&signed(&with(6, rlp::string(b"")))).unwrap().witness, None);
    }

    #[test]
    fn members_have_their_forms() {
        for place in [0, 1] {
            assert!(reads(&with(place, rlp::string(&[1; 32]))), "{place}");
            for item in [rlp::string(&[1; 33]), rlp::string(&[0, 1]), empty()] {
                assert!(!reads(&with(place, item)), "{place}");
            }
        }
        for (place, item) in [(2, rlp::string(&[1; 19])), (2, empty()), (4, rlp::string(b"x")), (5, rlp::string(b"x"))] {
            assert!(!reads(&with(place, item)), "{place}");
        }
        for witness in [rlp::string(&[1; 31]), rlp::string(&[1; 33]), empty()] {
            assert!(!reads(&with(6, witness)));
        }
        let outer = |parts: &[&[u8]]| KeyAuthorization::read(&rlp::list(parts)).is_some();
        let (authorization, none, list) = (rlp::list(&members()), rlp::string(b""), empty());
        assert!(outer(&[&authorization, &none]));
        assert!(!outer(&[&authorization, &list]) && !outer(&[&authorization]) && !outer(&[]));
        assert!(!outer(&[&authorization, &none, &none]) && !outer(&[&rlp::string(&authorization), &none]));
    }

    #[test]
    fn limits_and_scopes_have_their_forms() {
        let list = |items: &[&[u8]]| rlp::list(items);
        let (token, amount, selector) = (&*rlp::string(&[8; 20]), &*rlp::uint(5.into()), &*rlp::string(&[1; 4]));
        let (short, none, empty) = (&*rlp::string(&[8; 3]), &*rlp::string(b""), &*empty());

        let limit = |parts: &[&[u8]]| reads(&with(4, list(&[&list(parts)])));
        assert!(limit(&[token, amount]) && limit(&[token, amount, amount]));
        assert!(!limit(&[token]) && !limit(&[]) && !limit(&[token, amount, amount, amount]));
        assert!(!limit(&[short, amount]) && !limit(&[token, &rlp::string(&[0, 5])]) && !limit(&[token, amount, &rlp::string(&[0])]));
        assert!(!reads(&with(4, list(&[token]))));

        let scope = |parts: &[&[u8]]| reads(&with(5, list(&[&list(parts)])));
        let rule = |parts: &[&[u8]]| scope(&[token, &list(&[&list(parts)])]);
        assert!(scope(&[token, empty]) && rule(&[selector, empty]) && rule(&[selector, &list(&[token])]));
        assert!(!scope(&[token]) && !scope(&[token, empty, empty]) && !scope(&[token, none]) && !scope(&[short, empty]));
        assert!(!rule(&[selector]) && !rule(&[short, empty]) && !rule(&[selector, none]) && !rule(&[empty, empty]));
        assert!(!rule(&[selector, &list(&[short])]) && !rule(&[selector, &list(&[empty])]) && !scope(&[token, &list(&[selector])]));

        let limits = |count: usize| reads(&with(4, list(&vec![&*list(&[token, amount]); count])));
        let scopes = |count: usize| reads(&with(5, list(&vec![&*list(&[token, empty]); count])));
        let rules = |count: usize| scope(&[token, &list(&vec![&*list(&[selector, empty]); count])]);
        let recipients = |count: usize| rule(&[selector, &list(&vec![token; count])]);
        assert!(limits(16) && scopes(16) && rules(16) && recipients(16));
        assert!(!limits(17) && !scopes(17) && !rules(17) && !recipients(17));
    }

    #[test]
    fn is_bounded_in_size_and_depth() {
        let nested = |levels: usize| [members(), vec![(1..levels).fold(empty(), |inner, _| rlp::list(&[inner]))]].concat();
        assert!(reads(&nested(5)) && !reads(&nested(6)));
        let key = access_key();
        let rest = key.signed(&[1; 300]).len() - 300;
        let sized = |size: usize| key.signed(&vec![1; size - rest]);
        assert_eq!((sized(MAX_SIGNED).len(), sized(MAX_SIGNED + 1).len()), (MAX_SIGNED, MAX_SIGNED + 1));
        assert!(KeyAuthorization::read(&sized(MAX_SIGNED)).is_some() && KeyAuthorization::read(&sized(MAX_SIGNED + 1)).is_none());
    }

    proptest! {
        #[test]
        fn an_access_key_is_read_from_its_authorization(
            numbers: (u64, u8, u64, u64), addresses: (Address, Address, Address), limit: [u8; 32], witness: Word, signature: Vec<u8>,
        ) {
            let ((chain_id, kind, expiry, period), (key, token, recipient)) = (numbers, addresses);
            let access = AccessKey { chain_id, kind, key, expiry, token, limit: limit.into(), period, recipient, witness, ..access_key() };
            let digest = keccak(&access.authorization());
            let read = KeyAuthorization::read(&access.signed(&signature));
            let (chain_id, kind) = (u128::from(chain_id).into(), u128::from(kind).into());
            prop_assert_eq!(read, Some(KeyAuthorization { chain_id, kind, key, witness: Some(witness), digest }));
        }

        #[test]
        fn is_total(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), case in 0..6_usize) {
            let mut signed = bytes(&cases("keyAuthorizations")[case], "signed");
            for (place, byte) in changes {
                let place = place.index(signed.len());
                signed[place] = byte;
            }
            KeyAuthorization::read(&signed);
        }
    }
}
