use curve25519_dalek::{Scalar, edwards::CompressedEdwardsY};
use k256::ecdsa::VerifyingKey;

use super::{
    super::bytes::Reader,
    clarity::{address, clarity_name, contract_name, count, optional_principal, principal, sized, value},
};
use crate::Refusal;

/// The bytes are no transaction.
pub const TX_MALFORMED: Refusal = Refusal::new("mpp/stacks-tx-malformed");

/// Largest transaction, in bytes.
pub const MAX_WIRE: usize = 16_384;

/// A transaction, as far as it calls a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction<'a> {
    /// Whether it is for the main network.
    pub mainnet: bool,
    /// The chain.
    pub chain_id: u32,
    /// The call, if its payload is one.
    pub call: Option<ContractCall<'a>>,
}

/// A call of a contract's function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractCall<'a> {
    /// The function's name.
    pub function: &'a str,
    /// The arguments, in the one form that each value has.
    pub arguments: Vec<&'a [u8]>,
}

impl<'a> Transaction<'a> {
    /// Reads a transaction of at most [`MAX_WIRE`] bytes. Signatures are read, not verified.
    pub fn decode(wire: &'a [u8]) -> Result<Self, Refusal> {
        let mut reader = Reader::new(wire);
        let transaction = Some(()).filter(|()| wire.len() <= MAX_WIRE).and_then(|()| Self::read(&mut reader));
        transaction.filter(|_| reader.left() == 0).ok_or(TX_MALFORMED)
    }

    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let mainnet = match reader.byte()? {
            0x00 => true,
            0x80 => false,
            _ => return None,
        };
        let chain_id = u32::from_be_bytes(reader.array()?);
        match reader.byte()? {
            STANDARD => spending_condition(reader)?,
            SPONSORED => {
                spending_condition(reader)?;
                spending_condition(reader)?;
            }
            _ => return None,
        }
        let anchor = reader.byte().filter(|mode| (ON_CHAIN..=3).contains(mode))?;
        reader.byte().filter(|mode| (1..=3).contains(mode))?;
        for _ in 0..count(reader)? {
            post_condition(reader)?;
        }
        let (call, is_anchored) = payload(reader)?;
        (anchor == ON_CHAIN || !is_anchored).then_some(Self { mainnet, chain_id, call })
    }
}

/// The authorization of one account.
const STANDARD: u8 = 4;
/// That of an account, and of another that pays the fee.
const SPONSORED: u8 = 5;

/// The anchor mode in which a transaction is only in a block, never in a microblock.
const ON_CHAIN: u8 = 1;

/// Hash modes, which say how an account's keys are hashed.
mod mode {
    pub(super) const P2PKH: u8 = 0;
    pub(super) const P2SH: u8 = 1;
    pub(super) const P2WPKH: u8 = 2;
    pub(super) const P2WSH: u8 = 3;
    pub(super) const P2SH_ANY_ORDER: u8 = 5;
    pub(super) const P2WSH_ANY_ORDER: u8 = 7;
}

/// Reads past an account's keys and signatures.
fn spending_condition(reader: &mut Reader<'_>) -> Option<()> {
    let mode = reader.byte()?;
    // The account's hash, its nonce and its fee.
    reader.take(20 + 8 + 8)?;
    let segwit = matches!(mode, mode::P2WPKH | mode::P2WSH | mode::P2WSH_ANY_ORDER);
    match mode {
        mode::P2PKH | mode::P2WPKH => {
            reader.byte().filter(|&encoding| encoding == 0 || (encoding == 1 && !segwit))?;
            reader.take(65)?;
        }
        mode::P2SH | mode::P2WSH | mode::P2SH_ANY_ORDER | mode::P2WSH_ANY_ORDER => {
            let mut signatures = 0;
            for _ in 0..count(reader)? {
                let field = reader.byte()?;
                match field {
                    0 | 1 => public_key(reader)?,
                    2 | 3 => {
                        reader.take(65)?;
                        signatures += 1;
                    }
                    _ => return None,
                }
                // The odd fields are of uncompressed keys.
                if segwit && field % 2 == 1 {
                    return None;
                }
            }
            let required = u32::from(u16::from_be_bytes(reader.array()?));
            let any_order = matches!(mode, mode::P2SH_ANY_ORDER | mode::P2WSH_ANY_ORDER);
            if signatures < required || (signatures > required && !any_order) {
                return None;
            }
        }
        _ => return None,
    }
    Some(())
}

/// Reads past a compressed point of secp256k1.
fn public_key(reader: &mut Reader<'_>) -> Option<()> {
    let point = reader.take(33).filter(|point| matches!(point.first(), Some(2 | 3)))?;
    VerifyingKey::from_sec1_bytes(point).ok().map(|_| ())
}

/// Reads past what must hold of the assets that the transaction moves.
fn post_condition(reader: &mut Reader<'_>) -> Option<()> {
    let kind = reader.byte()?;
    match reader.byte()? {
        1 => {}
        2 => address(reader)?,
        3 => {
            address(reader)?;
            contract_name(reader)?;
        }
        _ => return None,
    }
    if matches!(kind, 1 | 2) {
        // The asset.
        address(reader)?;
        contract_name(reader)?;
        clarity_name(reader)?;
    }
    if kind == 2 {
        value(reader)?;
    }
    let codes = match kind {
        // Of an amount, of which the chain's coin sent and staked are kinds 0 and 3, a token's kind 1.
        0 | 1 | 3 => 0x01..=0x05,
        2 => 0x10..=0x12,
        4 => 0x30..=0x32,
        _ => return None,
    };
    reader.byte().filter(|code| codes.contains(code))?;
    if matches!(kind, 0 | 1 | 3) {
        reader.take(8)?;
    }
    Some(())
}

/// Kinds of payload.
mod kind {
    pub(super) const TOKEN_TRANSFER: u8 = 0;
    pub(super) const SMART_CONTRACT: u8 = 1;
    pub(super) const CONTRACT_CALL: u8 = 2;
    pub(super) const POISON_MICROBLOCK: u8 = 3;
    pub(super) const COINBASE: u8 = 4;
    pub(super) const COINBASE_TO_OTHER: u8 = 5;
    pub(super) const VERSIONED_CONTRACT: u8 = 6;
    pub(super) const TENURE_CHANGE: u8 = 7;
    pub(super) const NAKAMOTO_COINBASE: u8 = 8;
}

/// Reads the payload: a call, if it is one, and whether it must be on the chain.
fn payload<'a>(reader: &mut Reader<'a>) -> Option<(Option<ContractCall<'a>>, bool)> {
    let kind = reader.byte()?;
    match kind {
        kind::TOKEN_TRANSFER => {
            principal(reader)?;
            // The amount and the memo.
            reader.take(8 + 34)?;
        }
        kind::SMART_CONTRACT => contract_body(reader)?,
        kind::VERSIONED_CONTRACT => {
            // Clarity 1 to 7.
            reader.byte().filter(|version| (1..=7).contains(version))?;
            contract_body(reader)?;
        }
        kind::CONTRACT_CALL => {
            address(reader)?;
            contract_name(reader)?;
            let function = clarity_name(reader)?;
            let mut arguments = Vec::new();
            for _ in 0..count(reader)? {
                arguments.push(value(reader)?);
            }
            return Some((Some(ContractCall { function, arguments }), false));
        }
        kind::POISON_MICROBLOCK => {
            let (one, other) = (Microblock::read(reader)?, Microblock::read(reader)?);
            // Two of one signer at one height, or after one parent.
            if one == other || (one.sequence != other.sequence && one.parent != other.parent) {
                return None;
            }
        }
        kind::COINBASE => {
            reader.take(32)?;
        }
        kind::COINBASE_TO_OTHER => {
            reader.take(32)?;
            principal(reader)?;
        }
        kind::TENURE_CHANGE => {
            // Three consensus hashes, a block's hash, and a number of blocks; the cause; a hash of the key.
            reader.take(3 * 20 + 32 + 4)?;
            reader.byte().filter(|&cause| cause <= 6)?;
            reader.take(20)?;
        }
        kind::NAKAMOTO_COINBASE => {
            reader.take(32)?;
            optional_principal(reader)?;
            vrf_proof(reader)?;
        }
        _ => return None,
    }
    let is_anchored = matches!(kind, kind::POISON_MICROBLOCK | kind::COINBASE | kind::COINBASE_TO_OTHER | kind::NAKAMOTO_COINBASE);
    Some((None, is_anchored))
}

/// Reads past a contract's name and source.
fn contract_body(reader: &mut Reader<'_>) -> Option<()> {
    contract_name(reader)?;
    sized(reader)?.iter().all(|b| matches!(b, b'\t' | b'\n' | b' '..=b'~')).then_some(())
}

#[derive(PartialEq, Eq)]
struct Microblock<'a> {
    version: u8,
    sequence: [u8; 2],
    parent: [u8; 32],
    /// The root of its transactions, and the signature.
    rest: &'a [u8],
}

impl<'a> Microblock<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let header = Self { version: reader.byte()?, sequence: reader.array()?, parent: reader.array()?, rest: reader.take(32 + 65)? };
        let mut signature = Reader::new(header.rest.get(32..)?);
        signature.byte().filter(|&recovery| recovery < 4)?;
        let [r, s]: [[u8; 32]; 2] = [signature.array()?, signature.array()?];
        (r < ORDER && s < ORDER).then_some(header)
    }
}

/// The order of secp256k1.
const ORDER: [u8; 32] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE, 0xBA, 0xAE, 0xDC, 0xE6, 0xAF, 0x48, 0xA0, 0x3B,
    0xBF, 0xD2, 0x5E, 0x8C, 0xD0, 0x36, 0x41, 0x41,
];

/// Reads past a proof: a point of edwards25519 in its canonical form that is not of small order, and two scalars, of which
/// the first is short.
fn vrf_proof(reader: &mut Reader<'_>) -> Option<()> {
    let compressed = CompressedEdwardsY(reader.array()?);
    compressed.decompress().filter(|point| point.compress() == compressed && !point.is_small_order())?;
    reader.take(16)?;
    Option::<Scalar>::from(Scalar::from_canonical_bytes(reader.array()?)).map(|_| ())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::some_buffer, *};
    use crate::{Hash, Value, encoding, json};

    /// Transactions as @stacks/transactions writes them: the row, the bytes.
    fn made() -> Vec<(Value, Vec<u8>)> {
        let rows = json::lines(include_str!("../../../tests/peers/stacks/transactions.jsonl"));
        let wire = |row: &Value| encoding::from_hex(&format!("0x{}", row.get("transaction").and_then(Value::as_str).unwrap())).unwrap();
        rows.into_iter().map(|row| (row.clone(), wire(&row))).collect()
    }

    #[test]
    fn transactions_of_a_public_library() {
        for (row, wire) in made() {
            let transaction = Transaction::decode(&wire).unwrap();
            assert_eq!(transaction.mainnet, row.get("network") == Some(&"mainnet".into()));
            assert_eq!(transaction.chain_id, if transaction.mainnet { 1 } else { 1 << 31 });
            let memo = transaction.call.as_ref().and_then(|call| call.arguments.get(3)).copied();
            match row.get("h").and_then(Value::as_str).and_then(Hash::parse) {
                Some(h) => assert_eq!(memo, some_buffer(h.bytes()).as_deref()),
                None => assert!(memo.is_none_or(|memo| memo == [9])),
            }
            assert!(super::super::is_address(row.get("sender").and_then(Value::as_str).unwrap()));
        }
    }

    #[test]
    fn ends_where_its_payload_does() {
        for (_, wire) in made() {
            assert_eq!(Transaction::decode(&[&wire[..], &[0]].concat()), Err(TX_MALFORMED));
            for end in 0..wire.len() {
                assert_eq!(Transaction::decode(&wire[..end]), Err(TX_MALFORMED), "{end}");
            }
        }
        assert_eq!(Transaction::decode(&[0; MAX_WIRE + 1]), Err(TX_MALFORMED));
    }

    /// A transaction with another authorization, anchor mode, post-conditions and payload.
    fn assembled(authorization: &[u8], modes: [u8; 2], conditions: &[&[u8]], payload: &[u8]) -> Result<bool, Refusal> {
        let count = u32::try_from(conditions.len()).unwrap().to_be_bytes();
        let wire = [&[0x80, 0x80, 0, 0, 0], authorization, &modes, &count, &conditions.concat(), payload].concat();
        Transaction::decode(&wire).map(|transaction| transaction.call.is_some())
    }

    fn single(mode: u8, encoding: u8) -> Vec<u8> {
        [&[mode][..], &[7; 36], &[encoding], &[0; 65]].concat()
    }

    const COINBASE: &[u8] = &[4; 33];

    #[test]
    fn authorizations() {
        let key = |prefix: u8| [&[0, prefix][..], &[0x79; 32]].concat();
        let generator = [&[0, 2][..], &encoding::from_hex("0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798").unwrap()].concat();
        let signature = |field: u8| [&[field][..], &[0; 65]].concat();
        let multi = |mode: u8, fields: &[Vec<u8>], required: u8| {
            [&[STANDARD, mode][..], &[7; 36], &[0, 0, 0, u8::try_from(fields.len()).unwrap()], &fields.concat(), &[0, required]].concat()
        };
        let standard = |condition: Vec<u8>| [vec![STANDARD], condition].concat();
        let is = |authorization: &[u8]| assembled(authorization, [1, 2], &[], COINBASE).is_ok();
        for authorization in [
            standard(single(0, 0)),
            standard(single(0, 1)),
            standard(single(2, 0)),
            [vec![SPONSORED], single(0, 0), single(2, 0)].concat(),
            multi(1, &[signature(2), generator.clone()], 1),
            multi(1, &[signature(3)], 1),
            multi(5, &[signature(2), signature(2)], 1),
            multi(7, &[signature(2)], 1),
            multi(1, &[], 0),
        ] {
            assert!(is(&authorization), "{authorization:02x?}");
        }
        for authorization in [
            standard(single(2, 1)),
            standard(single(0, 2)),
            standard(single(4, 0)),
            standard(single(6, 0)),
            [vec![SPONSORED], single(0, 0)].concat(),
            multi(1, &[signature(2), signature(2)], 1),
            multi(5, &[signature(2)], 2),
            multi(3, &[signature(3)], 1),
            multi(7, &[signature(3)], 1),
            multi(1, &[signature(4)], 0),
            multi(1, &[key(4)], 0),
            multi(1, &[key(5)], 0),
            multi(1, &[[&[0, 2][..], &[0xFF; 32]].concat()], 0),
        ] {
            assert!(!is(&authorization), "{authorization:02x?}");
        }
    }

    #[test]
    fn post_conditions() {
        let authorization = [vec![STANDARD], single(0, 0)].concat();
        let is = |condition: &[u8]| assembled(&authorization, [1, 2], &[condition], COINBASE).is_ok();
        let amount = |kind: u8, code: u8| [&[kind, 1, code][..], &[0; 8]].concat();
        let asset = [&[26; 21][..], b"\x01n", b"\x01a"].concat();
        let token = |code: u8| [&[2, 1], &asset[..], &[3, code]].concat();
        for code in 0..=255 {
            assert_eq!(is(&amount(0, code)), (1..=5).contains(&code));
            assert_eq!(is(&amount(3, code)), (1..=5).contains(&code));
            assert_eq!(is(&token(code)), (0x10..=0x12).contains(&code));
            assert_eq!(is(&[4, 1, code]), (0x30..=0x32).contains(&code));
        }
        assert!(is(&[&[1, 1], &asset[..], &[1], &[0; 8]].concat()));
        assert!(!is(&amount(5, 1)) && !is(&[&[0, 2, 32][..], &[0; 20], &[1], &[0; 8]].concat()));
    }

    #[test]
    fn payloads() {
        let authorization = [vec![STANDARD], single(0, 0)].concat();
        let is = |payload: &[u8], anchor: u8| assembled(&authorization, [anchor, 3], &[], payload).is_ok();
        let tenure = |cause: u8| [&[7][..], &[0; 96], &[cause], &[0; 20]].concat();
        let contract = |version: u8, source: u8| [&[6, version][..], b"\x01c", &[0, 0, 0, 1, source]].concat();
        let microblock = |sequence: u8, parent: u8, signature: [u8; 65]| [&[0, 0, sequence][..], &[parent; 32], &[0; 32], &signature].concat();
        let poison = |other: Vec<u8>| [vec![3], microblock(0, 0, [0; 65]), other].concat();
        let base = [&[0x58][..], &[0x66; 31]].concat();
        let proof = |point: &[u8], scalar: u8| [&[8][..], &[0; 32], &[9], point, &[0xFF; 16], &[scalar; 32]].concat();
        assert!(is(COINBASE, 1) && !is(COINBASE, 2) && !is(COINBASE, 0) && !is(COINBASE, 4));
        assert!(is(&tenure(6), 3) && !is(&tenure(7), 3));
        assert!(is(&contract(7, b'\t'), 2) && !is(&contract(8, b'a'), 2) && !is(&contract(0, b'a'), 2) && !is(&contract(1, b'\r'), 2));
        assert!(is(&poison(microblock(1, 0, [0; 65])), 1) && is(&poison(microblock(0, 1, [0; 65])), 1));
        assert!(!is(&poison(microblock(0, 0, [0; 65])), 1) && !is(&poison(microblock(1, 1, [0; 65])), 1));
        assert!(!is(&poison(microblock(0, 1, [4; 65])), 1) && !is(&poison(microblock(0, 1, [0xFF; 65])), 1));
        assert!(is(&proof(&base, 0), 1) && !is(&proof(&base, 0x7F), 1));
        // The neutral point, what is no point, and 3 with the modulus added.
        assert!(!is(&proof(&[&[1][..], &[0; 31]].concat(), 0), 1) && !is(&proof(&[0xFF; 32], 0), 1));
        assert!(!is(&proof(&[&[0xF0][..], &[0xFF; 30], &[0x7F]].concat(), 0), 1));
        assert!(!is(&[9; 33], 1));
    }

    proptest! {
        #[test]
        fn any_change_is_read_or_refused(row in 0..14usize, place: prop::sample::Index, byte: u8) {
            let (_, mut wire) = made().swap_remove(row);
            let place = place.index(wire.len());
            wire[place] = byte;
            let _ = Transaction::decode(&wire);
        }
    }
}
