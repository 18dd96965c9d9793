//! Algorand's addresses and transactions: as they are signed, in canonical msgpack, and as the parties to a payment read them.

mod msgpack;
mod schema;
mod signed;

use base64::BASE32_NOPAD;
use sha2::{Digest, Sha512_256};

use msgpack::Members;
pub use signed::{MAX_TEXT, decode_note, transfer_note};

/// A SHA-512/256 digest.
pub type Digest256 = [u8; 32];

/// Base32's letters.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// How many bytes a signature adds to a transaction that is sent, as fees count them.
const SIGNED_EXTRA: u64 = 75;

/// An address: an Ed25519 key or a program's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub [u8; 32]);

impl Address {
    /// Reads base32 of the key and its checksum, 58 letters. The last one's spare two bits may be anything, as everyone who
    /// reads addresses takes them.
    pub fn parse(text: &str) -> Option<Self> {
        let (&last, letters) = text.as_bytes().split_last()?;
        let digit = BASE32.iter().position(|&letter| letter == last)? & !0b11;
        let canonical = [letters, BASE32.get(digit..=digit)?].concat();
        let bytes: [u8; 36] = BASE32_NOPAD.decode(&canonical).ok()?.try_into().ok()?;
        let (key, checksum) = bytes.split_first_chunk()?;
        (checksum == Self(*key).checksum()).then_some(Self(*key))
    }

    fn checksum(&self) -> [u8; 4] {
        let [.., a, b, c, d] = hash(&[&self.0]);
        [a, b, c, d]
    }
}

/// A transaction.
#[derive(Clone, Debug)]
pub struct Transaction<'a> {
    /// Who acts.
    pub sender: Address,
    /// In microalgos.
    pub fee: u64,
    /// The first round in which it may be taken.
    pub first_valid: u64,
    /// The last.
    pub last_valid: u64,
    /// The network's name.
    pub genesis_id: &'a str,
    /// The network.
    pub genesis_hash: Digest256,
    /// The group that it is part of.
    pub group: Option<Digest256>,
    /// Anything.
    pub note: &'a str,
    /// What it does.
    pub act: Act,
}

/// What a transaction does.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Pays nothing, which leaves the fee.
    PayNothing {
        /// To whom.
        to: Address,
    },
    /// Transfers an asset.
    Transfer {
        /// The asset.
        asset: u64,
        /// In its smallest unit.
        amount: u64,
        /// To whom.
        to: Address,
    },
}

impl Transaction<'_> {
    /// The transaction in canonical msgpack: members sorted, those that are zero or empty left out.
    pub fn encode(&self) -> Vec<u8> {
        let mut members = Members::default();
        members.bytes("snd", &self.sender.0);
        members.uint("fee", self.fee);
        members.uint("fv", self.first_valid);
        members.uint("lv", self.last_valid);
        members.text("gen", self.genesis_id);
        members.bytes("gh", &self.genesis_hash);
        members.bytes("grp", &self.group.unwrap_or_default());
        members.bytes("note", self.note.as_bytes());
        match self.act {
            Act::PayNothing { to } => {
                members.text("type", "pay");
                members.bytes("rcv", &to.0);
            }
            Act::Transfer { asset, amount, to } => {
                members.text("type", "axfer");
                members.uint("xaid", asset);
                members.uint("aamt", amount);
                members.bytes("arcv", &to.0);
            }
        }
        members.encode()
    }

    /// The bytes that are signed.
    pub fn signing_bytes(&self) -> Vec<u8> {
        [b"TX".as_slice(), &self.encode()].concat()
    }

    /// What names it.
    pub fn id(&self) -> Digest256 {
        hash(&[&self.signing_bytes()])
    }

    /// How many bytes of a transaction that is sent fees are charged for. Those of the fee count as its value stands.
    pub fn charged_size(&self) -> u64 {
        self.encode().len() as u64 + SIGNED_EXTRA
    }
}

/// An encoded transaction as it is sent, signed or not yet.
pub fn sent(transaction: &[u8], signature: Option<&[u8; 64]>) -> Vec<u8> {
    let mut members = Members::default();
    if let Some(signature) = signature {
        members.all_bytes("sig", signature);
    }
    members.raw("txn", transaction.to_vec());
    members.encode()
}

/// The group of transactions that are taken together or not at all, in their order.
pub fn group_id(transactions: &[&Transaction<'_>]) -> Digest256 {
    let ids: Vec<_> = transactions.iter().map(|transaction| transaction.id()).collect();
    let mut members = Members::default();
    members.list("txlist", &ids);
    hash(&[b"TG", &members.encode()])
}

fn hash(parts: &[&[u8]]) -> Digest256 {
    let mut hasher = Sha512_256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Value, encoding, json};

    /// What `peers/algorand/cases.py` made.
    pub(super) fn cases() -> Value {
        json::parse(include_str!("../../tests/peers/algorand/cases.json"), json::MAX_DEPTH).unwrap()
    }

    pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
        value.get(name).unwrap().as_array().unwrap()
    }

    pub(super) fn text<'a>(case: &'a Value, name: &str) -> &'a str {
        case.get(name).unwrap().as_str().unwrap()
    }

    fn bytes(case: &Value, name: &str) -> Vec<u8> {
        encoding::from_hex(text(case, name)).unwrap()
    }

    /// The transaction that a case describes, in no group.
    fn transaction<'a>(case: &'a Value, cases: &Value) -> Transaction<'a> {
        let uint = |name| text(case, name).parse().unwrap();
        let to = Address::parse(text(case, "to")).unwrap();
        Transaction {
            sender: Address::parse(text(case, "sender")).unwrap(),
            fee: uint("fee"),
            first_valid: uint("first"),
            last_valid: uint("last"),
            genesis_id: text(case, "genesisId"),
            genesis_hash: encoding::from_base64(text(cases, "genesisHash")).unwrap().try_into().unwrap(),
            group: None,
            note: text(case, "note"),
            act: match text(case, "type") {
                "pay" => Act::PayNothing { to },
                _ => Act::Transfer { asset: uint("asset"), amount: uint("amount"), to },
            },
        }
    }

    #[test]
    fn addresses() {
        let cases = cases();
        for case in list(&cases, "addresses") {
            let address = Address::parse(text(case, "text")).unwrap();
            assert_eq!(encoding::hex(&address.0), text(case, "key"));
            assert!(Address::parse(&text(case, "text").to_lowercase()).is_none());
        }
        // The last letter's two spare bits may be anything.
        let text = text(&list(&cases, "addresses")[0], "text");
        let (head, last) = text.split_at(57);
        let digit = BASE32.iter().position(|&letter| letter == last.as_bytes()[0]).unwrap();
        for (other, &letter) in BASE32.iter().enumerate() {
            let same = other / 4 == digit / 4;
            assert_eq!(Address::parse(&format!("{head}{}", char::from(letter))).is_some(), same, "{other}");
        }
        for odd in ["", "A", &text[1..], &format!("{text}A"), &format!("{text}=="), &text.replace('A', "0")] {
            assert!(Address::parse(odd).is_none(), "{odd}");
        }
    }

    #[test]
    fn transactions_are_those_of_the_sdk() {
        let cases = cases();
        for case in list(&cases, "transfers") {
            let transaction = transaction(case, &cases);
            assert_eq!(encoding::hex(&transaction.signing_bytes()), text(case, "bytes"));
            assert_eq!(base64::BASE32_NOPAD.encode(&transaction.id()), text(case, "id"));
        }
    }

    #[test]
    fn groups_are_those_of_the_sdk() {
        let cases = cases();
        for case in list(&cases, "groups") {
            let members = list(case, "transactions");
            let transactions: Vec<_> = members.iter().map(|member| transaction(member, &cases)).collect();
            let id = group_id(&transactions.iter().collect::<Vec<_>>());
            assert_eq!(id.to_vec(), bytes(case, "id"));
            for (member, transaction) in members.iter().zip(transactions) {
                let transaction = Transaction { group: Some(id), ..transaction };
                assert_eq!(transaction.signing_bytes(), bytes(member, "bytes"));
            }
        }
    }

    #[test]
    fn a_sent_transaction_is_that_of_the_sdk() {
        let cases = cases();
        let sent_by_sdk = encoding::from_base64(text(&list(&cases, "signed")[0], "wire")).unwrap();
        let transaction = transaction(&list(&cases, "transfers")[0], &cases);
        // The signature stands behind the head and the name of its member.
        let signature: [u8; 64] = sent_by_sdk[7..71].try_into().unwrap();
        assert_eq!(sent(&transaction.encode(), Some(&signature)), sent_by_sdk);
        assert_eq!(transaction.charged_size(), sent_by_sdk.len() as u64);
        assert_eq!(decode_note(&sent(&transaction.encode(), None)).unwrap(), transaction.note.as_bytes());
        assert_eq!(decode_note(&sent(&transaction.encode(), Some(&[0; 64]))).unwrap(), transaction.note.as_bytes());
    }
}
