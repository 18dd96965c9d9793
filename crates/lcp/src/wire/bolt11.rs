//! BOLT11: Lightning invoices.
//!
//! Our own decoder: the published ones limit the text and the amount, refuse by what a payer needs to know, and check the
//! signature, which is the wallet's business.

use crate::{Refusal, Text};

const INVOICE_MALFORMED: Refusal = Refusal::new("ln/invoice-malformed");
const INVOICE_TOO_LARGE: Refusal = Refusal::new("ln/invoice-too-large");

/// Longest invoice, in UTF-16 code units.
const MAX_INVOICE: usize = 8192;
/// Most tagged fields of an invoice.
const MAX_FIELDS: usize = 64;
/// Most words of an expiry.
const MAX_EXPIRY: usize = 10;
/// Seconds after which an invoice without an expiry expires.
const DEFAULT_EXPIRY: u64 = 3600;

const TIMESTAMP_WORDS: usize = 7;
const HASH_WORDS: usize = 52;
const SIGNATURE_WORDS: usize = 104;
const CHECKSUM_WORDS: usize = 6;

/// The letters of words, which are numbers of 5 bits.
const LETTERS: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// The currency that an invoice names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Currency {
    /// Bitcoin.
    Bitcoin,
    /// Either of Bitcoin's test networks.
    Testnet,
    /// The signed test network.
    Signet,
    /// A network of the tester's own.
    Regtest,
}

/// An invoice, as far as it is read. Its signature is not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invoice {
    /// The currency.
    pub currency: Currency,
    /// The amount, as it is written: a number of bitcoin, of any length, and a letter that divides it; `None` where the
    /// payer chooses it.
    pub amount: Option<String>,
    /// When it was made, in Unix seconds.
    pub timestamp: u64,
    /// How many seconds later it expires.
    pub expiry: u64,
    /// The hash whose preimage the payer learns.
    pub payment_hash: [u8; 32],
    /// Whether it describes in words what it is for.
    pub has_description: bool,
    /// The hashes of longer descriptions, in the fields' order.
    pub description_hashes: Vec<[u8; 32]>,
    /// What stands in the fields of metadata, in their order; `None` where that is not of 32 bytes.
    pub metadata: Vec<Option<[u8; 32]>>,
}

impl Invoice {
    /// Decodes an invoice; letters are of one case.
    pub fn decode(text: &Text) -> Result<Self, Refusal> {
        if text.utf16_len() > MAX_INVOICE {
            return Err(INVOICE_TOO_LARGE);
        }
        let (prefix, words) = text.as_str().and_then(bech32).ok_or(INVOICE_MALFORMED)?;
        let (currency, amount) = currency_and_amount(&prefix).ok_or(INVOICE_MALFORMED)?;
        let signed = words.len().checked_sub(SIGNATURE_WORDS).and_then(|length| words.get(..length)).ok_or(INVOICE_MALFORMED)?;
        let (timestamp, fields) = signed.split_at_checked(TIMESTAMP_WORDS).ok_or(INVOICE_MALFORMED)?;
        let fields = Fields::read(fields)?;
        fields.invoice(currency, amount, number(timestamp)).ok_or(INVOICE_MALFORMED)
    }

    /// When it expires, in Unix seconds: below 2^51.
    pub fn expires(&self) -> u64 {
        self.timestamp + self.expiry
    }
}

/// Tagged fields, at most [`MAX_FIELDS`].
struct Fields<'a>(Vec<(u8, &'a [u8])>);

impl<'a> Fields<'a> {
    fn read(mut words: &'a [u8]) -> Result<Self, Refusal> {
        let mut fields = Vec::new();
        while let [tag, high, low, rest @ ..] = words {
            let length = usize::from(*high) << 5 | usize::from(*low);
            let (content, rest) = rest.split_at_checked(length).ok_or(INVOICE_MALFORMED)?;
            if fields.len() == MAX_FIELDS {
                return Err(INVOICE_TOO_LARGE);
            }
            fields.push((*tag, content));
            words = rest;
        }
        if words.is_empty() { Ok(Self(fields)) } else { Err(INVOICE_MALFORMED) }
    }

    /// The contents of the fields that a letter names.
    fn named(&self, letter: u8) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |(tag, _)| LETTERS.get(usize::from(*tag)) == Some(&letter)).map(|(_, content)| *content)
    }

    /// The hashes in the fields that a letter names, all of which must be hashes.
    fn hashes(&self, letter: u8) -> Option<Vec<[u8; 32]>> {
        self.named(letter).map(hash).collect()
    }

    fn invoice(&self, currency: Currency, amount: Option<String>, timestamp: u64) -> Option<Invoice> {
        let [payment_hash] = self.hashes(b'p')?[..] else { return None };
        self.hashes(b's')?;
        let description = self.named(b'd').next();
        if !description.is_none_or(|words| String::from_utf8(bytes(words)).is_ok()) {
            return None;
        }
        let expiry = match self.named(b'x').next() {
            None => DEFAULT_EXPIRY,
            Some(words) => Some(words).filter(|words| words.len() <= MAX_EXPIRY).map(number)?,
        };
        Some(Invoice {
            currency,
            amount,
            timestamp,
            expiry,
            payment_hash,
            has_description: description.is_some(),
            description_hashes: self.hashes(b'h')?,
            metadata: self.named(b'm').map(hash).collect(),
        })
    }
}

/// `ln`, the currency, and an amount: digits and a multiplier. Pico-bitcoin must come in tens, of which one is a millionth
/// of a satoshi's thousandth.
fn currency_and_amount(prefix: &str) -> Option<(Currency, Option<String>)> {
    let prefix = prefix.strip_prefix("ln")?;
    let currencies = [("bcrt", Currency::Regtest), ("bc", Currency::Bitcoin), ("tbs", Currency::Signet), ("tb", Currency::Testnet)];
    let (currency, amount) = currencies.into_iter().find_map(|(name, currency)| Some((currency, prefix.strip_prefix(name)?)))?;
    if amount.is_empty() {
        return Some((currency, None));
    }
    let digits = amount.strip_suffix(['m', 'u', 'n', 'p']).unwrap_or(amount);
    let written = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let whole = !amount.ends_with('p') || digits.ends_with('0');
    (written && whole).then(|| (currency, Some(amount.to_owned())))
}

/// Decodes bech32 of any length: the prefix, and the words before the checksum.
fn bech32(text: &str) -> Option<(String, Vec<u8>)> {
    // The Kelvin sign is a capital whose small letter is the ASCII `k`.
    let small = |letter: char| if letter == '\u{212A}' { 'k' } else { letter.to_ascii_lowercase() };
    if text.contains(|letter: char| letter.is_ascii_lowercase()) && text.contains(|letter| small(letter) != letter) {
        return None;
    }
    let text: String = text.chars().map(small).collect();
    let (prefix, letters) = text.rsplit_once('1')?;
    let word = |letter: u8| LETTERS.iter().position(|other| *other == letter).and_then(|word| u8::try_from(word).ok());
    let mut words: Vec<_> = letters.bytes().map(word).collect::<Option<_>>()?;
    let expanded = prefix.bytes().map(|byte| byte >> 5).chain([0]).chain(prefix.bytes().map(|byte| byte & 31));
    let content = words.len().checked_sub(CHECKSUM_WORDS).filter(|_| checksum(expanded.chain(words.iter().copied())) == 1)?;
    words.truncate(content);
    Some((prefix.to_owned(), words))
}

/// The checksum of BIP 173 over words.
fn checksum(words: impl Iterator<Item = u8>) -> u32 {
    const GENERATOR: [u32; 5] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3];
    words.fold(1, |sum, word| {
        let shifted = (sum & 0x1FF_FFFF) << 5 ^ u32::from(word);
        let carried = GENERATOR.iter().enumerate().filter(|(bit, _)| sum >> (25 + bit) & 1 == 1);
        carried.fold(shifted, |sum, (_, generator)| sum ^ generator)
    })
}

/// The number that at most 12 words write.
fn number(words: &[u8]) -> u64 {
    words.iter().fold(0, |number, word| number << 5 | u64::from(*word))
}

/// The 32 bytes that 52 words hold; the bits left over are not looked at.
fn hash(words: &[u8]) -> Option<[u8; 32]> {
    if words.len() == HASH_WORDS { bytes(words).try_into().ok() } else { None }
}

/// The whole bytes that words hold.
fn bytes(words: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(words.len() * 5 / 8);
    let (mut held, mut bits) = (0_u16, 0);
    for word in words {
        held = held << 5 | u16::from(*word);
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits).to_le_bytes()[0]);
            held &= (1 << bits) - 1;
        }
    }
    bytes
}
