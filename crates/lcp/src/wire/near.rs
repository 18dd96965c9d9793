//! NEAR's account ids, keys, and the delegate actions that a relayer sends for their signer (NEP-366), in borsh.
//!
//! Borsh is written and read here by hand: of an action that is no function call, nothing behind its kind may be read.

pub mod ft_transfer;

use sha2::{Digest, Sha256};

use super::{bytes::Reader, solana::base58};
use crate::{Refusal, Text, encoding};

const SDA_MALFORMED: Refusal = Refusal::new("near/sda-malformed");
const SDA_TOO_LARGE: Refusal = Refusal::new("near/sda-too-large");
const ACTIONS: Refusal = Refusal::new("near/actions");
pub(super) const NOT_FT_TRANSFER: Refusal = Refusal::new("near/not-ft-transfer");

/// Longest base64 text of a signed delegate action.
const MAX_TEXT: usize = 8192;

/// What NEP-461 puts before a delegate action that is signed: 2^30 and the number of NEP-366.
const DELEGATE_PREFIX: u32 = (1 << 30) + 366;

/// The kind of an action that calls a function.
const FUNCTION_CALL: u8 = 2;

/// Whether the text is an account id: 2 to 64 small letters and digits, in parts between single `-`, `_` and `.`.
pub fn is_account_id(text: &str) -> bool {
    (2..=64).contains(&text.len())
        && text.split(['-', '_', '.']).all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}

/// A public key of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// Of Ed25519.
    Ed25519([u8; 32]),
    /// Of secp256k1: both coordinates.
    Secp256k1([u8; 64]),
}

impl PublicKey {
    /// Reads the curve's name in any case, `:`, and base58 of the key; without a name, the key is one of Ed25519.
    pub fn parse(text: &str) -> Option<Self> {
        let (curve, key) = text.split_once(':').unwrap_or(("ed25519", text));
        match curve.to_ascii_lowercase().as_str() {
            "ed25519" => base58::decode(key).map(Self::Ed25519),
            "secp256k1" => base58::decode(key).map(Self::Secp256k1),
            _ => None,
        }
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        match reader.byte()? {
            0 => reader.array().map(Self::Ed25519),
            1 => reader.array().map(Self::Secp256k1),
            _ => None,
        }
    }

    fn write(&self, wire: &mut Vec<u8>) {
        match self {
            Self::Ed25519(key) => write_tagged(wire, 0, key),
            Self::Secp256k1(key) => write_tagged(wire, 1, key),
        }
    }
}

/// A signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// Of Ed25519; its last byte is below 0x20, as in every one that a verifier takes.
    Ed25519([u8; 64]),
    /// Of secp256k1: r, s and the recovery id.
    Secp256k1([u8; 65]),
}

impl Signature {
    /// The signature of a key type, 0 for Ed25519 and 1 for secp256k1.
    pub fn of(key_type: u8, bytes: &[u8]) -> Option<Self> {
        match key_type {
            0 => bytes.try_into().ok().filter(|signature: &[u8; 64]| signature[63] < 0x20).map(Self::Ed25519),
            1 => bytes.try_into().ok().map(Self::Secp256k1),
            _ => None,
        }
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let key_type = reader.byte()?;
        Self::of(key_type, reader.take(if key_type == 0 { 64 } else { 65 })?)
    }

    fn write(&self, wire: &mut Vec<u8>) {
        match self {
            Self::Ed25519(signature) => write_tagged(wire, 0, signature),
            Self::Secp256k1(signature) => write_tagged(wire, 1, signature),
        }
    }
}

/// A delegate action of one function call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegateAction<'a> {
    /// The account that acts.
    pub sender: &'a str,
    /// The contract that is called.
    pub receiver: &'a str,
    /// The function.
    pub method: &'a str,
    /// What the function is told, which most contracts read as JSON.
    pub args: &'a [u8],
    /// In units of gas.
    pub gas: u64,
    /// In yoctoNEAR.
    pub deposit: u128,
    /// Above that of the access key.
    pub nonce: u64,
    /// The last block in which it may be sent.
    pub max_block_height: u64,
    /// The access key.
    pub public_key: PublicKey,
}

impl<'a> DelegateAction<'a> {
    /// The action in borsh.
    pub fn encode(&self) -> Vec<u8> {
        let mut wire = Vec::new();
        write_bytes(&mut wire, self.sender.as_bytes());
        write_bytes(&mut wire, self.receiver.as_bytes());
        wire.extend(1u32.to_le_bytes());
        wire.push(FUNCTION_CALL);
        write_bytes(&mut wire, self.method.as_bytes());
        write_bytes(&mut wire, self.args);
        wire.extend(self.gas.to_le_bytes());
        wire.extend(self.deposit.to_le_bytes());
        wire.extend(self.nonce.to_le_bytes());
        wire.extend(self.max_block_height.to_le_bytes());
        self.public_key.write(&mut wire);
        wire
    }

    /// Reads a signed action, which must end with the bytes. An action of another kind is refused before its end is read.
    pub fn decode_signed(wire: &'a [u8]) -> Result<(Self, Signature), Refusal> {
        let mut reader = Reader::new(wire);
        let mut account_id = || read_text(&mut reader).filter(|id| is_account_id(id)).ok_or(SDA_MALFORMED);
        let (sender, receiver) = (account_id()?, account_id()?);
        if reader.array().map(u32::from_le_bytes).ok_or(SDA_MALFORMED)? != 1 {
            return Err(ACTIONS);
        }
        if reader.byte().ok_or(SDA_MALFORMED)? != FUNCTION_CALL {
            return Err(NOT_FT_TRANSFER);
        }
        let mut call = || {
            let action = Self {
                sender,
                receiver,
                method: read_text(&mut reader)?,
                args: read_bytes(&mut reader)?,
                gas: u64::from_le_bytes(reader.array()?),
                deposit: u128::from_le_bytes(reader.array()?),
                nonce: u64::from_le_bytes(reader.array()?),
                max_block_height: u64::from_le_bytes(reader.array()?),
                public_key: PublicKey::read(&mut reader)?,
            };
            let signature = Signature::read(&mut reader)?;
            (reader.left() == 0).then_some((action, signature))
        };
        call().ok_or(SDA_MALFORMED)
    }
}

/// The hash of an encoded action that is signed.
pub fn signing_hash(action: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(DELEGATE_PREFIX.to_le_bytes()).chain_update(action).finalize().into()
}

/// An encoded action with its signature, in borsh.
pub fn signed(action: &[u8], signature: &Signature) -> Vec<u8> {
    let mut wire = action.to_vec();
    signature.write(&mut wire);
    wire
}

/// The bytes of a signed action from base64.
pub fn from_base64(text: &Text) -> Result<Vec<u8>, Refusal> {
    if text.utf16_len() > MAX_TEXT {
        return Err(SDA_TOO_LARGE);
    }
    text.as_str().and_then(encoding::from_base64).ok_or(SDA_MALFORMED)
}

fn write_tagged(wire: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    wire.push(tag);
    wire.extend(bytes);
}

/// Writes bytes behind their count.
#[allow(clippy::cast_possible_truncation)] // an action is far below 2^32 bytes
fn write_bytes(wire: &mut Vec<u8>, bytes: &[u8]) {
    wire.extend((bytes.len() as u32).to_le_bytes());
    wire.extend(bytes);
}

fn read_bytes<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let count = reader.array().map(u32::from_le_bytes)?;
    reader.take(count.try_into().ok()?)
}

fn read_text<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    std::str::from_utf8(read_bytes(reader)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Value, json};

    /// What `peers/near/cases.mjs` made.
    pub(super) fn cases(list: &str) -> Vec<Value> {
        let cases = json::parse(include_str!("../../tests/peers/near/cases.json"), json::MAX_DEPTH).unwrap();
        cases.get(list).unwrap().as_array().unwrap().to_vec()
    }

    pub(super) fn bytes(case: &Value, name: &str) -> Vec<u8> {
        encoding::from_hex(text(case, name)).unwrap()
    }

    pub(super) fn text<'a>(case: &'a Value, name: &str) -> &'a str {
        case.get(name).unwrap().as_str().unwrap()
    }

    #[test]
    fn account_ids() {
        for id in ["ab", "a-b_c.d", "0x1234", &"f".repeat(64), "system"] {
            assert!(is_account_id(id), "{id}");
        }
        for id in ["", "a", &"f".repeat(65), "A.near", "a..b", "a.-b", "-ab", "ab-", "a b", "éa", "a@b", "ab\n"] {
            assert!(!is_account_id(id), "{id}");
        }
    }

    #[test]
    fn public_keys() {
        let key = "3asbSsbWzgmn6AEpxe9y3h4qaReJ2zBkhhCGfXVgbWLJ";
        let secp = "4rVpE8szS4i7D5vkB31sgtku3ecQHVCX3rFqsjpYuJeS6NqrFxbvbwxasR5L3VQQw59XU45YWY9KXsNU8Ygewjp1";
        let parsed = PublicKey::parse(key);
        assert!(matches!(parsed, Some(PublicKey::Ed25519(_))));
        assert!(matches!(PublicKey::parse(&format!("secp256k1:{secp}")), Some(PublicKey::Secp256k1(_))));
        for curve in ["ed25519", "ED25519", "Ed25519"] {
            assert_eq!(PublicKey::parse(&format!("{curve}:{key}")), parsed);
        }
        for text in ["", ":", secp, &format!("secp256k1:{key}"), &format!(":{key}"), &format!("ed25519:{key}:x"), &format!("\u{212A}:{key}")] {
            assert_eq!(PublicKey::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_ed25519_signature_has_a_last_byte_that_verifies() {
        let mut signature = [0; 64];
        signature[63] = 0x1F;
        assert!(Signature::of(0, &signature).is_some());
        signature[63] = 0x20;
        assert!(Signature::of(0, &signature).is_none());
        assert!(Signature::of(1, &[0xFF; 65]).is_some());
        assert!(Signature::of(1, &signature).is_none() && Signature::of(0, &[0; 65]).is_none() && Signature::of(2, &[0; 64]).is_none());
    }

    #[test]
    fn transfers_are_those_of_near_api_js() {
        for case in cases("transfers") {
            let args = ft_transfer::args(text(&case, "to"), text(&case, "amount").parse().unwrap(), text(&case, "memo"));
            let action = DelegateAction {
                sender: text(&case, "sender"),
                receiver: text(&case, "receiver"),
                method: ft_transfer::METHOD,
                args: args.as_bytes(),
                gas: ft_transfer::GAS,
                deposit: ft_transfer::DEPOSIT,
                nonce: text(&case, "nonce").parse().unwrap(),
                max_block_height: text(&case, "height").parse().unwrap(),
                public_key: PublicKey::parse(text(&case, "publicKey")).unwrap(),
            };
            let encoded = action.encode();
            assert_eq!(encoded, bytes(&case, "action"));
            assert_eq!(signing_hash(&encoded).to_vec(), bytes(&case, "hash"));
            let key_type = u8::try_from(case.get("keyType").unwrap().as_safe_unsigned().unwrap()).unwrap();
            let signature = Signature::of(key_type, &bytes(&case, "signature")).unwrap();
            assert_eq!(signed(&encoded, &signature), bytes(&case, "signed"));
            assert_eq!(DelegateAction::decode_signed(&bytes(&case, "signed")), Ok((action.clone(), signature)));
            assert_eq!(ft_transfer::memo(&action), Ok(Some(text(&case, "memo").into())));
        }
    }

    #[test]
    fn another_action_is_refused() {
        for case in cases("others") {
            let wire = bytes(&case, "signed");
            let refusal = DelegateAction::decode_signed(&wire).and_then(|(action, _)| ft_transfer::memo(&action)).unwrap_err();
            assert_eq!(refusal.code(), text(&case, "refusal"), "{}", text(&case, "name"));
        }
        // An action of another kind, with nothing behind it.
        assert_eq!(DelegateAction::decode_signed(b"\x02\0\0\0ab\x02\0\0\0cd\x01\0\0\0\xC8").unwrap_err(), NOT_FT_TRANSFER);
        assert_eq!(DelegateAction::decode_signed(b"\x02\0\0\0ab\x02\0\0\0cd\xFF\xFF\xFF\xFF").unwrap_err(), ACTIONS);
        assert_eq!(DelegateAction::decode_signed(b"\x01\0\0\0a\x02\0\0\0cd\xFF\xFF\xFF\xFF").unwrap_err(), SDA_MALFORMED);
    }

    #[test]
    fn texts_are_bounded() {
        assert_eq!(from_base64(&"A".repeat(8192).into()).unwrap().len(), 6144);
        assert_eq!(from_base64(&"A".repeat(8193).into()), Err(SDA_TOO_LARGE));
        assert_eq!(from_base64(&"\u{1F600}".repeat(4097).into()), Err(SDA_TOO_LARGE));
        assert_eq!(from_base64(&"A".repeat(5).into()), Err(SDA_MALFORMED));
    }

    fn account_id() -> impl Strategy<Value = String> {
        "[a-z0-9]{1,9}([-_.][a-z0-9]{1,9}){1,3}"
    }

    proptest! {
        #[test]
        fn round_trip(
            (sender, receiver, method) in (account_id(), account_id(), "\\PC{0,20}"),
            args in prop::collection::vec(any::<u8>(), 0..40),
            (gas, deposit, nonce, max_block_height) in any::<(u64, u128, u64, u64)>(),
            key in any::<[u8; 32]>(),
            is_secp256k1 in any::<bool>(),
        ) {
            let (public_key, signature) = if is_secp256k1 {
                (PublicKey::Secp256k1([key, key].concat().try_into().unwrap()), Signature::Secp256k1([7; 65]))
            } else {
                (PublicKey::Ed25519(key), Signature::Ed25519([7; 64]))
            };
            let (sender, receiver, method) = (&*sender, &*receiver, &*method);
            let action = DelegateAction { sender, receiver, method, args: &args, gas, deposit, nonce, max_block_height, public_key };
            let mut wire = signed(&action.encode(), &signature);
            prop_assert_eq!(DelegateAction::decode_signed(&wire), Ok((action, signature)));
            prop_assert!((0..wire.len()).all(|len| DelegateAction::decode_signed(&wire[..len]).is_err()));
            wire.push(0);
            prop_assert_eq!(DelegateAction::decode_signed(&wire).unwrap_err(), SDA_MALFORMED);
        }

        /// Bytes that are read are the one form of what they hold.
        #[test]
        fn canonical(place: usize, byte: u8) {
            let mut wire = bytes(&cases("transfers")[0], "signed");
            let place = place % wire.len();
            wire[place] = byte;
            if let Ok((action, signature)) = DelegateAction::decode_signed(&wire) {
                prop_assert_eq!(signed(&action.encode(), &signature), wire.clone());
            }
        }
    }
}
