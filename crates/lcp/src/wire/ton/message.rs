//! Internal messages, by the rules of the network's global version 15.

use super::{Address, Builder, Cell, Slice};

/// Most cells of a dictionary of libraries that are read.
const MAX_DICTIONARY: u32 = 1024;

/// An internal message without extra currencies.
pub struct Message<'a> {
    /// Who sends it; `None` where the sender's contract is to be filled in.
    pub source: Option<Address>,
    /// Who receives it.
    pub destination: Address,
    /// What it says.
    pub body: Slice<'a>,
}

impl<'a> Message<'a> {
    /// Reads a message that a validator takes, between addresses of the two workchains that there are.
    pub fn read(cell: &'a Cell) -> Option<Self> {
        let mut slice = cell.parse()?;
        let external = slice.bit()?;
        // Whether hypercube routing is disabled, whether it bounces, and whether it did.
        slice.skip(3)?;
        let source = match slice.uint(2)? {
            0 => None,
            2 => Some(plain_address(&mut slice)?),
            _ => return None,
        };
        let destination = match slice.uint(2)? {
            2 => plain_address(&mut slice)?,
            3 => variable_address(&mut slice)?,
            _ => return None,
        };
        let (_, value_is_short) = slice.coins()?;
        let has_currencies = slice.bit()?;
        let (flags, flags_are_short) = slice.coins()?;
        // The forwarding fee, which the validator writes anew, as it does the times.
        slice.coins()?;
        slice.skip(64 + 32)?;
        if external || !value_is_short || has_currencies || !flags_are_short || flags > 3 {
            return None;
        }
        if slice.bit()? {
            if slice.bit()? {
                StateInit::read(slice.reference()?)?;
            } else {
                StateInit::of(&mut slice)?;
            }
        }
        let body = if slice.bit()? {
            let body = slice.reference()?.parse()?;
            if !slice.is_empty() {
                return None;
            }
            body
        } else {
            slice
        };
        Some(Self { source, destination, body })
    }
}

/// A standard address of a workchain that there is, without anycast.
fn plain_address(slice: &mut Slice<'_>) -> Option<Address> {
    slice.standard_address().filter(|(address, anycast)| !anycast && address.exists()).map(|(address, _)| address)
}

/// An address of variable length that names what a standard one could.
fn variable_address(slice: &mut Slice<'_>) -> Option<Address> {
    let anycast = slice.bit()?;
    let length = slice.uint(9)?;
    let workchain = match u32::try_from(slice.uint(32)?).ok()?.cast_signed() {
        -1 => -1,
        0 => 0,
        _ => return None,
    };
    let hash = slice.hash()?;
    (!anycast && length == 256).then_some(Address { workchain, hash })
}

/// A message to write: without a source, which the contract fills in.
pub struct Outgoing {
    /// Who receives it.
    pub destination: Address,
    /// In nanotons, below 2^120.
    pub value: u128,
    /// Whether it comes back if it fails.
    pub bounce: bool,
    /// What makes the receiver's account, if there is none.
    pub init: Option<Cell>,
    /// What it says.
    pub body: Cell,
}

impl Outgoing {
    /// The message. `None` if it is too deep.
    pub fn build(self) -> Option<Cell> {
        let head = Builder::new().bit(false).bit(true).bit(self.bounce).bit(false);
        // No currencies, flags, fees and times.
        let head = head.address(None).address(Some(self.destination)).coins(self.value).bit(false).coins(0).coins(0).uint(0, 64 + 32);
        let with_init = match self.init {
            Some(init) => head.bit(true).bit(true).reference(init),
            None => head.bit(false),
        };
        with_init.bit(true).reference(self.body).build()
    }
}

/// What an account begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateInit {
    /// How many of the first bits of the account's address are free.
    pub free_bits: u8,
    /// Whether it names libraries.
    pub has_libraries: bool,
}

impl StateInit {
    /// Reads a cell that holds nothing else.
    pub fn read(cell: &Cell) -> Option<Self> {
        let mut slice = cell.parse()?;
        Self::of(&mut slice).filter(|_| slice.is_empty())
    }

    fn of(slice: &mut Slice<'_>) -> Option<Self> {
        let free_bits = if slice.bit()? { slice.uint(5)?.try_into().ok()? } else { 0 };
        if slice.bit()? {
            // Whether it is called at every tick and tock.
            slice.skip(2)?;
        }
        // Code and data.
        for _ in 0..2 {
            if slice.bit()? {
                slice.reference()?;
            }
        }
        let has_libraries = slice.bit()?;
        if has_libraries {
            libraries(slice.reference()?, 256, &mut { MAX_DICTIONARY })?;
        }
        Some(Self { free_bits, has_libraries })
    }

    /// Whether an account of this hash may begin with the cell.
    pub fn makes(&self, cell: &Cell, hash: &[u8; 32]) -> bool {
        let free = usize::from(self.free_bits);
        let differs = |place: usize| {
            let byte = |bytes: &[u8; 32]| bytes.get(place / 8).map(|byte| byte >> (7 - place % 8) & 1);
            byte(hash) != byte(&cell.hash())
        };
        !(free..256).any(differs)
    }
}

/// Judges a dictionary of libraries whose keys have so many bits left. Each step down takes a bit: there are at most 256.
fn libraries(cell: &Cell, bits: u32, budget: &mut u32) -> Option<()> {
    *budget = budget.checked_sub(1)?;
    let mut slice = cell.parse()?;
    let left = bits.checked_sub(label(&mut slice, bits)?)?;
    if left == 0 {
        // Whether the library is public, and its root.
        slice.bit()?;
        slice.reference()?;
    } else {
        let branches = [slice.reference()?, slice.reference()?];
        for branch in branches {
            libraries(branch, left - 1, budget)?;
        }
    }
    slice.is_empty().then_some(())
}

/// Reads a label of at most so many bits: how many it has.
fn label(slice: &mut Slice<'_>, most: u32) -> Option<u32> {
    let width = u32::BITS - most.leading_zeros();
    if !slice.bit()? {
        let mut length = 0;
        while slice.bit()? {
            length += 1;
        }
        slice.skip(length as usize)?;
        return Some(length);
    }
    let same = slice.bit()?;
    if same {
        slice.bit()?;
    }
    let length = u32::try_from(slice.uint(width)?).ok()?;
    if !same {
        slice.skip(length as usize)?;
    }
    Some(length)
}

/// Most Merkle proofs and updates that stand one below the other.
pub fn merkle_nesting(root: &Cell) -> u32 {
    let mut deepest = std::collections::HashMap::new();
    nesting(root, &mut deepest)
}

fn nesting(cell: &Cell, known: &mut std::collections::HashMap<[u8; 32], u32>) -> u32 {
    if let Some(&nesting) = known.get(&cell.hash()) {
        return nesting;
    }
    let below = cell.references().iter().map(|cell| nesting(cell, known)).max().unwrap_or(0);
    let all = below + u32::from(cell.is_merkle());
    known.insert(cell.hash(), all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Value, encoding, json,
        wire::ton::{decode, encode, jetton, wallet},
    };

    /// As pytoniq-core 0.2.1 makes a payment, and @ton/core 0.63.1 reads it, from the comment up to the delivered message.
    #[test]
    fn the_library_makes_the_same_payments() {
        let cases = json::parse(include_str!("../../../tests/peers/ton/cases.json"), 8).unwrap();
        let text = |of: &Value, name: &str| of.get(name).unwrap().as_str().unwrap().to_owned();
        let comment = jetton::comment(&text(&cases, "comment")).unwrap();
        let signature: wallet::Signature = encoding::from_bare_hex(&text(&cases, "signature")).unwrap().try_into().unwrap();
        let ours = json::lines(include_str!("../../../tests/peers/ton/settlements.jsonl"));
        let other = json::parse(include_str!("../../../tests/peers/ton/bags.json"), 8).unwrap();
        let other = other.get("settlements").unwrap().as_array().unwrap();
        assert_eq!((ours.len(), other.len()), (3, 3));
        for ((case, ours), other) in cases.get("payments").unwrap().as_array().unwrap().iter().zip(&ours).zip(other) {
            let address = |name| Address::of(case.as_object().unwrap(), name);
            let amount = |name| encoding::uint128(&text(case, name)).unwrap();
            let number = |name| u32::try_from(case.get(name).unwrap().as_safe_unsigned().unwrap()).unwrap();
            let transfer = jetton::Transfer {
                amount: amount("amount"),
                destination: address("payee").unwrap(),
                response: address("response"),
                forward_amount: amount("forward"),
                forward_payload: comment.clone(),
            };
            let message = Outgoing {
                destination: address("jettonWallet").unwrap(),
                value: amount("attached"),
                bounce: true,
                init: None,
                body: transfer.build().unwrap(),
            };
            let request = wallet::Request {
                wallet_id: number("walletId"),
                valid_until: number("validUntil"),
                seqno: number("seqno"),
                mode: 3,
                message: message.build().unwrap(),
            };
            let request = request.build().unwrap();
            assert_eq!(encoding::bare_hex(&request.hash().unwrap()), text(case, "requestHash"));
            let init = case.get("stateInit").and_then(Value::as_str).map(|bag| decode(&encoding::from_bare_hex(bag).unwrap()).unwrap());
            let wallet = address("wallet").unwrap();
            assert!(init.as_ref().is_none_or(|init| StateInit::read(init).unwrap().makes(init, &wallet.hash)));
            let has_init = init.is_some();
            let settlement = Outgoing { destination: wallet, value: 0, bounce: false, init, body: request.signed(&signature).unwrap() };
            let settlement = settlement.build().unwrap();
            assert_eq!(encoding::bare_hex(&settlement.hash()), text(case, "settlementHash"));
            assert_eq!(decode(&encoding::from_bare_hex(&text(case, "settlement")).unwrap()), Ok(settlement.clone()));

            let written = encode(&settlement);
            assert_eq!(encoding::bare_hex(&written), text(ours, "bag"));
            for name in ["wallet", "payee", "jettonWallet", "response", "amount", "forward", "attached", "walletId", "validUntil", "seqno"] {
                assert_eq!(other.get(name), case.get(name), "{name}");
            }
            for name in ["comment", "signature"] {
                assert_eq!(text(other, name), text(&cases, name));
            }
            assert_eq!(other.get("hasInit"), Some(&has_init.into()));
            assert_eq!(other.get("mode"), Some(&3u32.into()));

            let read = decode(&written).unwrap();
            let delivered = Message::read(&read).unwrap();
            assert_eq!((delivered.source, delivered.destination), (None, wallet));
            let (mode, sent) = wallet::sent(delivered.body).unwrap();
            let sent = Message::read(sent).filter(|_| mode == 3).unwrap();
            assert_eq!(Some(sent.destination), address("jettonWallet"));
            let payload = jetton::forward_payload(sent.body).unwrap().unwrap();
            assert_eq!(jetton::comment_text(payload), Some(text(&cases, "comment")));
        }
    }

    #[test]
    fn a_state_may_leave_its_first_bits_free() {
        let state = |bits: u128| Builder::new().bit(true).uint(bits, 5).uint(0, 4).build().unwrap();
        for (bits, flipped, makes) in [(0, 0, false), (1, 0, true), (8, 7, true), (8, 8, false), (31, 30, true), (31, 255, false)] {
            let cell = state(bits);
            let mut hash = cell.hash();
            assert!(StateInit::read(&cell).unwrap().makes(&cell, &hash));
            hash[flipped / 8] ^= 0x80 >> (flipped % 8);
            assert_eq!(StateInit::read(&cell).unwrap().makes(&cell, &hash), makes, "{bits} {flipped}");
        }
        assert_eq!(StateInit::read(&Builder::new().uint(0, 6).build().unwrap()), None);
    }

    #[test]
    fn a_dictionary_is_read_by_its_cells() {
        let root = Builder::new().build().unwrap();
        let leaf = |left: u32| {
            // A label of zeros only.
            let width = u32::BITS - left.leading_zeros();
            Builder::new().uint(0b110, 3).uint(left.into(), width).bit(true).reference(root.clone()).build().unwrap()
        };
        let tree = |levels: u32| {
            (0..levels).fold(leaf(256 - levels), |cell, _| Builder::new().uint(0, 2).reference(cell.clone()).reference(cell).build().unwrap())
        };
        let state = |dictionary| Builder::new().uint(1, 5).reference(dictionary).build().unwrap();
        for levels in [0, 1, 9] {
            assert!(StateInit::read(&state(tree(levels))).unwrap().has_libraries);
        }
        assert_eq!(StateInit::read(&state(tree(10))), None);
        assert_eq!(StateInit::read(&state(leaf(255))), None);
    }
}
