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
        if description.is_some_and(|words| String::from_utf8(bytes(words)).is_err()) {
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

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Value,
        encoding::{bare_hex, hex_into},
        json,
    };

    fn word(letter: u8) -> u8 {
        LETTERS.iter().position(|other| *other == letter).unwrap().try_into().unwrap()
    }

    /// Words of bytes, the last filled with zero bits.
    fn words(bytes: &[u8]) -> Vec<u8> {
        let bit = |place: usize| bytes.get(place / 8).map_or(0, |byte| byte >> (7 - place % 8) & 1);
        (0..(bytes.len() * 8).div_ceil(5)).map(|word| (0..5).fold(0, |bits, place| bits << 1 | bit(word * 5 + place))).collect()
    }

    fn number_words(number: u64, count: usize) -> Vec<u8> {
        (0..count).rev().map(|place| (number >> (5 * place)).to_le_bytes()[0] & 31).collect()
    }

    pub(crate) fn field(letter: u8, content: &[u8]) -> Vec<u8> {
        [&[word(letter)], &*number_words(content.len() as u64, 2), content].concat()
    }

    pub(crate) fn hash_field(letter: u8, hash: &[u8; 32]) -> Vec<u8> {
        field(letter, &words(hash))
    }

    fn bech32_text(prefix: &str, words: &[u8]) -> String {
        let expanded = prefix.bytes().map(|byte| byte >> 5).chain([0]).chain(prefix.bytes().map(|byte| byte & 31));
        let sum = checksum(expanded.chain(words.iter().copied()).chain([0; 6])) ^ 1;
        let words = [words, &number_words(sum.into(), 6)].concat();
        format!("{prefix}1{}", words.iter().map(|word| char::from(LETTERS[usize::from(*word)])).collect::<String>())
    }

    /// An invoice of fields, with a signature of zeros.
    pub(crate) fn invoice(prefix: &str, timestamp: u64, fields: &[Vec<u8>]) -> String {
        bech32_text(prefix, &[&*number_words(timestamp, 7), &fields.concat(), &[0; SIGNATURE_WORDS]].concat())
    }

    const T: u64 = 1_790_000_000;

    fn p() -> Vec<u8> {
        hash_field(b'p', &[1; 32])
    }

    fn decode(text: &str) -> Result<Invoice, Refusal> {
        Invoice::decode(&text.into())
    }

    fn of(fields: &[Vec<u8>]) -> Result<Invoice, Refusal> {
        decode(&invoice("lnbc", T, fields))
    }

    #[test]
    fn invoices_are_what_the_libraries_read_and_write() {
        let cases = json::parse(include_str!("../../tests/peers/bolt11/cases.json"), 9).unwrap();
        for case in cases.as_array().unwrap() {
            let member = |name| case.get(name).and_then(Value::as_str);
            let number = |name| case.get(name).unwrap().as_safe_unsigned().unwrap();
            let hash = |name| member(name).map(str::to_owned);
            let text = member("invoice").unwrap();
            let decoded = decode(text).unwrap();
            let currency = match member("currency").unwrap() {
                "bc" => Currency::Bitcoin,
                "tb" => Currency::Testnet,
                "tbs" => Currency::Signet,
                _ => Currency::Regtest,
            };
            assert_eq!((decoded.currency, decoded.amount.as_deref()), (currency, member("amount")), "{text}");
            assert_eq!((decoded.timestamp, decoded.expiry), (number("timestamp"), number("expiry")), "{text}");
            assert_eq!((Some(bare_hex(&decoded.payment_hash)), decoded.has_description), (hash("paymentHash"), member("description").is_some()));
            assert_eq!(decoded.description_hashes.first().map(|hash| bare_hex(hash)), hash("descriptionHash"));
            assert_eq!(decoded.metadata.first().map(|hash| bare_hex(&hash.unwrap())), hash("metadata"));
            // What was decoded is written as it was.
            let (prefix, words) = bech32(text).unwrap();
            assert_eq!(bech32_text(&prefix, &words), text);
            assert_eq!(decode(&text.to_uppercase()), Ok(decoded));
        }
    }

    /// The standard's first example, a donation.
    #[test]
    fn reads_the_standards_example() {
        let text = "lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2\
                    ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa\
                    6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql";
        let mut payment_hash = [0; 32];
        hex_into("0001020304050607080900010203040506070809000102030405060708090102", &mut payment_hash).unwrap();
        let expected = Invoice {
            currency: Currency::Bitcoin,
            amount: None,
            timestamp: 1_496_314_658,
            expiry: 3600,
            payment_hash,
            has_description: true,
            description_hashes: vec![],
            metadata: vec![],
        };
        assert_eq!(decode(text), Ok(expected));
    }

    #[test]
    fn a_prefix_names_a_currency_and_an_amount() {
        let read = |prefix: &str| decode(&invoice(prefix, T, &[p()])).ok().map(|invoice| (invoice.currency, invoice.amount));
        let long = format!("{}n", "9".repeat(700));
        for (prefix, currency, amount) in [
            ("lnbc", Currency::Bitcoin, None),
            ("lntb", Currency::Testnet, None),
            ("lntbs", Currency::Signet, None),
            ("lnbcrt", Currency::Regtest, None),
            ("lnbc3", Currency::Bitcoin, Some("3")),
            ("lntb1", Currency::Testnet, Some("1")),
            ("lntbs00250m", Currency::Signet, Some("00250m")),
            ("lnbcrt1u", Currency::Regtest, Some("1u")),
            ("lnbc10p", Currency::Bitcoin, Some("10p")),
            ("lnbc0p", Currency::Bitcoin, Some("0p")),
            (&format!("lnbc{long}"), Currency::Bitcoin, Some(&*long)),
        ] {
            assert_eq!(read(prefix), Some((currency, amount.map(str::to_owned))), "{prefix}");
        }
        for prefix in
            ["", "ln", "lnsb1u", "lxbc1u", "lnbcu", "lnbc1x", "lnbc1.5u", "lnbc-1u", "lnbc11p", "lnbcp", "lnbc1up", "xlnbc", "lnbc\u{661}", "lnbcrtx"]
        {
            assert_eq!(read(prefix), None, "{prefix}");
        }
    }

    #[test]
    fn letters_are_of_one_case() {
        let text = invoice("lnbc250n", T, &[p()]);
        let upper = text.to_uppercase();
        assert!(upper.contains('K') && decode(&upper).is_ok());
        // Of a capital other than ASCII's, a lower-case `k` is the small letter.
        assert_eq!(decode(&upper.replace('K', "\u{212A}")), decode(&text));
        for refused in [
            text.replacen('k', "K", 1),
            text.replacen('k', "\u{212A}", 1),
            upper.replacen('L', "l", 1),
            format!("{text} "),
            format!("lightning:{text}"),
            format!("\u{131}{text}"),
            text.replacen('1', "", 1),
            text[..text.len() - 1].to_owned(),
            format!("{}b", &text[..text.len() - 1]),
            String::new(),
            "1".to_owned(),
            "lnbc1qqqqq".to_owned(),
        ] {
            assert_eq!(decode(&refused), Err(INVOICE_MALFORMED), "{refused}");
        }
        let (prefix, words) = bech32(&text).unwrap();
        let mut changed = words.clone();
        changed[9] ^= 1;
        assert_ne!(decode(&bech32_text(&prefix, &changed)), decode(&text));
        assert_eq!(decode(&format!("{}{}", &text[..text.len() - 6], &bech32_text(&prefix, &changed)[text.len() - 6..])), Err(INVOICE_MALFORMED));
    }

    #[test]
    fn hashes_are_whole_and_the_payments_stands_once() {
        let hash = words(&[7; 32]);
        let spare = [&hash[..51], &[hash[51] | 15]].concat();
        let h = |content: &[u8]| field(b'h', content);
        let read = of(&[p(), h(&hash), h(&spare), field(b's', &hash), field(b's', &hash)]).unwrap();
        assert_eq!((read.payment_hash, read.description_hashes), ([1; 32], vec![[7; 32]; 2]));
        assert_eq!(of(&[field(b'p', &spare)]).unwrap().payment_hash, [7; 32]);
        for fields in [
            vec![],
            vec![p(), p()],
            vec![field(b'p', &hash[..51])],
            vec![p(), field(b'p', &hash[..51])],
            vec![p(), h(&[])],
            vec![p(), h(&hash), h(&[&hash[..], &[0]].concat())],
            vec![p(), field(b's', &hash[..51])],
        ] {
            assert_eq!(of(&fields), Err(INVOICE_MALFORMED), "{fields:?}");
        }
        let m = |content: &[u8]| field(b'm', content);
        assert_eq!(of(&[p(), m(&hash), m(&hash[..51]), m(&[]), m(&spare)]).unwrap().metadata, [Some([7; 32]), None, None, Some([7; 32])]);
    }

    #[test]
    fn the_first_description_and_the_first_expiry_count() {
        let d = |bytes: &[u8]| field(b'd', &words(bytes));
        for fields in [vec![d(b"")], vec![d(b"\xEF\xBB\xBF")], vec![d(b"a"), d(b"\xFF")], vec![field(b'd', &[31])]] {
            assert!(of(&[vec![p()], fields.clone()].concat()).unwrap().has_description, "{fields:?}");
        }
        assert_eq!(of(&[p(), d(b"\xED\xA0\x80")]), Err(INVOICE_MALFORMED));
        let x = |content: &[u8]| field(b'x', content);
        for (fields, expiry) in
            [(vec![], 3600), (vec![x(&[])], 0), (vec![x(&[0, 0, 1, 28])], 60), (vec![x(&[31; 10])], (1 << 50) - 1), (vec![x(&[1]), x(&[0; 11])], 1)]
        {
            let read = of(&[vec![p()], fields].concat()).unwrap();
            assert_eq!((read.expiry, read.expires()), (expiry, T + expiry));
        }
        assert_eq!(of(&[p(), x(&[0; 11])]), Err(INVOICE_MALFORMED));
    }

    #[test]
    fn fields_are_whole_and_not_too_many() {
        let unknown = field(b'9', &[]);
        let many = |count: usize| [vec![p()], vec![unknown.clone(); count - 1]].concat();
        let (short_p, cut) = (field(b'p', &[0]), vec![5, 0]);
        assert!(of(&many(64)).is_ok());
        assert_eq!(of(&many(65)), Err(INVOICE_TOO_LARGE));
        assert_eq!(of(&[many(65), vec![short_p]].concat()), Err(INVOICE_TOO_LARGE));
        assert_eq!(of(&[many(64), vec![cut.clone()]].concat()), Err(INVOICE_MALFORMED));
        assert_eq!(of(&[many(65), vec![cut]].concat()), Err(INVOICE_TOO_LARGE));
        assert_eq!(of(&[p(), vec![5, 31, 31]]), Err(INVOICE_MALFORMED));
        assert!(of(&[p(), field(b'9', &[0; 1023])]).is_ok());
        let unsigned = bech32_text("lnbc", &[&*number_words(T, 7), &p(), &[0; SIGNATURE_WORDS - 1]].concat());
        assert_eq!(decode(&unsigned), Err(INVOICE_MALFORMED));
        assert_eq!(decode(&bech32_text("lnbc", &[0; 6 + SIGNATURE_WORDS])), Err(INVOICE_MALFORMED));
    }

    #[test]
    fn a_text_is_bounded_before_it_is_read() {
        let sized = |size: usize| {
            let filled = [vec![field(b'9', &[1; 1023]); 7], vec![p()]].concat();
            let rest = size - invoice("lnbc", T, &filled).len() - 3;
            invoice("lnbc", T, &[filled, vec![field(b'9', &vec![1; rest])]].concat())
        };
        assert_eq!(sized(8192).len(), 8192);
        assert!(decode(&sized(8192)).is_ok());
        assert_eq!(decode(&sized(8193)), Err(INVOICE_TOO_LARGE));
        // In code units: a pair counts as two.
        assert_eq!(decode(&"\u{1F600}".repeat(4096)), Err(INVOICE_MALFORMED));
        assert_eq!(decode(&"\u{1F600}".repeat(4097)), Err(INVOICE_TOO_LARGE));
        let lone = json::parse(&format!("\"{}\"", "\\ud800".repeat(8193)), 1).unwrap();
        assert_eq!(Invoice::decode(lone.as_text().unwrap()), Err(INVOICE_TOO_LARGE));
    }

    proptest! {
        #[test]
        fn reads_what_was_written(
            prefix in "ln(bc|tb|tbs|bcrt)(0|[1-9][0-9]{0,20}0[munp]?)?",
            timestamp in 0..1_u64 << 35,
            expiry in prop::option::of(0..1_u64 << 50),
            hashes in prop::collection::vec(any::<[u8; 32]>(), 1..6),
            unknown in prop::collection::vec(0..32_u8, 0..60),
            upper: bool,
        ) {
            let expiry_field = expiry.map(|expiry| field(b'x', &number_words(expiry, 10)));
            let fields = hashes.iter().enumerate().map(|(place, hash)| hash_field(if place == 0 { b'p' } else { b"hm"[place % 2] }, hash));
            let fields: Vec<_> = fields.chain(expiry_field).chain([field(b'9', &unknown)]).collect();
            let text = invoice(&prefix, timestamp, &fields);
            let read = decode(&if upper { text.to_uppercase() } else { text }).unwrap();
            prop_assert_eq!((read.timestamp, read.expiry), (timestamp, expiry.unwrap_or(3600)));
            prop_assert_eq!(read.amount.unwrap_or_default(), prefix.trim_start_matches(|c: char| !c.is_ascii_digit()));
            prop_assert_eq!(read.payment_hash, hashes[0]);
            let of = |parity: usize| hashes.iter().enumerate().skip(1).filter(move |(place, _)| place % 2 == parity).map(|(_, hash)| *hash);
            prop_assert_eq!(read.description_hashes, of(0).collect::<Vec<_>>());
            prop_assert_eq!(read.metadata, of(1).map(Some).collect::<Vec<_>>());
        }

        /// A text of the alphabet, its checksum right, or any text.
        #[test]
        fn is_total(prefix in "(lnbc|lntb1u|\\PC{0,9})", words in prop::collection::vec(0..32_u8, 0..300), text in "\\PC{0,99}") {
            let _ = decode(&bech32_text(&prefix, &words));
            let _ = decode(&text);
        }
    }
}
