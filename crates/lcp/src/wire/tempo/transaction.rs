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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Value,
        wire::tempo::{
            address_of,
            peers::{address, bytes, cases, text, uint, word},
        },
    };

    fn wire(items: &[Vec<u8>]) -> Vec<u8> {
        [vec![TYPE], rlp::list(items)].concat()
    }

    fn empty() -> Vec<u8> {
        rlp::list(&[b""; 0])
    }

    fn call(to: &[u8], data: &[u8]) -> Vec<u8> {
        rlp::list(&[rlp::string(to), rlp::uint(0.into()), rlp::string(data)])
    }

    /// The items of a transaction with one call.
    fn items() -> Vec<Vec<u8>> {
        let mut items: Vec<_> = (0..FIELDS).map(|field| rlp::uint((field as u128 + 1).into())).collect();
        items[CALLS] = rlp::list(&[call(&[7; 20], b"data")]);
        items[ACCESS_LIST] = empty();
        items[FEE_PAYER_SIGNATURE] = rlp::string(b"");
        items[AUTHORIZATIONS] = empty();
        items.push(rlp::string(&[0x11; 65]));
        items
    }

    fn reads(place: usize, item: Vec<u8>) -> bool {
        let mut items = items();
        items[place] = item;
        Transaction::read(&wire(&items)).is_some()
    }

    #[test]
    fn reads_what_a_library_wrote() {
        for case in cases("transactions") {
            let name = text(&case, "name");
            let wire = bytes(&case, "wire");
            let transaction = Transaction::read(&wire).unwrap();
            assert!(transaction.is_on(uint(&case, "chainId")) && !transaction.is_on(1), "{name}");
            let calls = transaction.calls.iter().map(|call| (call.to.copied(), call.data.to_vec()));
            let expected = case.get("calls").unwrap().as_array().unwrap().iter();
            let expected = expected.map(|call| (call.get("to").and_then(Value::as_str).and_then(address_of), bytes(call, "data")));
            assert!(calls.eq(expected), "{name}");
            assert_eq!(transaction.sender(), Some(address(&case, "sender")), "{name}");
            assert_eq!(transaction.expiring_nonce_hash(&address(&case, "sender")), word(&case, "expiringNonceHash"), "{name}");
        }
    }

    #[test]
    fn fields_have_their_forms() {
        assert!(Transaction::read(&wire(&items())).is_some());
        let list = || rlp::list(&[rlp::string(b"x"), empty()]);
        for place in UINTS {
            assert!(reads(place, rlp::string(&[0xFF; 32])) && reads(place, rlp::string(b"")), "{place}");
            for item in [rlp::string(&[1; 33]), rlp::string(&[0, 1]), rlp::string(&[0]), list()] {
                assert!(!reads(place, item), "{place}");
            }
        }
        for place in [ACCESS_LIST, AUTHORIZATIONS] {
            assert!(reads(place, list()) && !reads(place, rlp::string(b"")), "{place}");
        }
        assert!(reads(FEE_TOKEN, rlp::string(&[0; 5])) && !reads(FEE_TOKEN, empty()));
        assert!([list(), empty(), rlp::string(&[0])].into_iter().all(|item| reads(FEE_PAYER_SIGNATURE, item)));
        assert!(reads(FIELDS, rlp::string(b"")) && !reads(FIELDS, empty()));
    }

    #[test]
    fn calls_have_their_forms() {
        let calls = |calls: &[Vec<u8>]| reads(CALLS, rlp::list(calls));
        let (to, value, data) = (rlp::string(&[7; 20]), rlp::uint(0.into()), rlp::string(b"data"));
        assert!(calls(&[]) && calls(&[call(b"", b"")]) && calls(&vec![call(b"", b""); 64]));
        assert!(!calls(&vec![call(b"", b""); 65]));
        for parts in [
            vec![to.clone(), value.clone()],
            vec![to.clone(), value.clone(), data.clone(), data.clone()],
            vec![rlp::string(&[7; 19]), value.clone(), data.clone()],
            vec![rlp::string(&[7; 21]), value.clone(), data.clone()],
            vec![empty(), value.clone(), data.clone()],
            vec![to.clone(), rlp::string(&[0]), data.clone()],
            vec![to.clone(), empty(), data],
            vec![to.clone(), value, empty()],
        ] {
            assert!(!calls(&[rlp::list(&parts)]), "{parts:02x?}");
        }
        assert!(!calls(&[to]) && !reads(CALLS, rlp::string(b"")));
    }

    #[test]
    fn items_are_fourteen_or_have_a_key_authorization() {
        let with = |item: Vec<u8>| {
            let mut items = items();
            items.insert(FIELDS, item);
            items
        };
        let reads = |items: &[Vec<u8>]| Transaction::read(&wire(items)).is_some();
        assert!(reads(&with(empty())) && !reads(&with(rlp::string(b""))));
        let twice = [&with(empty())[..FIELDS], &[empty()], &with(empty())[FIELDS..]].concat();
        assert!(!reads(&twice) && !reads(&items()[..FIELDS]) && !reads(&[]));
        let whole = wire(&items());
        for other in
            [&whole[1..], &[&[0x77], &whole[1..]].concat(), &[&*whole, &[0]].concat(), &whole[..whole.len() - 1], b"", &[TYPE], &[TYPE, 0x80]]
        {
            assert!(Transaction::read(other).is_none());
        }
    }

    #[test]
    fn is_bounded_in_size_and_depth() {
        let nested = |levels: usize| (1..levels).fold(empty(), |inner, _| rlp::list(&[inner]));
        assert!(reads(ACCESS_LIST, nested(8)) && !reads(ACCESS_LIST, nested(9)));
        let sized = |size: usize| {
            let mut items = items();
            let rest = wire(&items).len();
            items[FEE_TOKEN] = rlp::string(&vec![1; size - rest - 3]);
            wire(&items)
        };
        assert_eq!((sized(MAX_TRANSACTION).len(), sized(MAX_TRANSACTION + 1).len()), (MAX_TRANSACTION, MAX_TRANSACTION + 1));
        assert!(Transaction::read(&sized(MAX_TRANSACTION)).is_some() && Transaction::read(&sized(MAX_TRANSACTION + 1)).is_none());
    }

    #[test]
    fn a_sender_needs_well_formed_authorizations() {
        let case = &cases("transactions")[0];
        let wire = bytes(case, "wire");
        let sender = |authorization: Vec<u8>| {
            let items = Item::read(&wire[1..], MAX_DEPTH).unwrap().items().unwrap();
            let mut items: Vec<_> = items.into_iter().map(|item| item.raw().to_vec()).collect();
            items[AUTHORIZATIONS] = rlp::list(&[authorization]);
            Transaction::read(&self::wire(&items)).unwrap().sender()
        };
        let of = |signature: &[u8]| rlp::list(&[empty(), empty(), empty(), rlp::string(signature)]);
        // The signature was over none: it recovers to some other account.
        for signature in [&[][..], &[3; 65], &[4; 20], &[1]] {
            assert!(sender(of(signature)).is_some(), "{signature:?}");
        }
        assert_eq!(sender(of(&[3; 64])), None);
        for parts in [vec![], vec![empty(); 3], vec![empty(); 4], vec![rlp::string(b""); 5]] {
            assert_eq!(sender(rlp::list(&parts)), None, "{parts:?}");
        }
        assert_eq!(sender(rlp::string(b"x")), None);
    }

    fn cut_or_changed() -> impl Strategy<Value = Vec<u8>> {
        (0..11_usize, prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)).prop_map(|(case, changes)| {
            let mut wire = bytes(&cases("transactions")[case], "wire");
            for (place, byte) in changes {
                let place = place.index(wire.len());
                wire[place] = byte;
            }
            wire
        })
    }

    proptest! {
        /// What is read is the one encoding of its parts.
        #[test]
        fn any_bytes(wire in cut_or_changed()) {
            if let Some(transaction) = Transaction::read(&wire) {
                transaction.sender();
                let fields = Item::read(&wire[1..], MAX_DEPTH).unwrap().items().unwrap();
                let sponsored = fields[FEE_PAYER_SIGNATURE].raw() != [0x80];
                let signature = rlp::string(transaction.signature);
                let whole = [&[TYPE], &*rlp::list(&[&*transaction.signed, &[&*signature]].concat())].concat();
                prop_assert!(sponsored || whole == wire);
            }
        }
    }
}
