//! The payment channels program: a payer's tokens wait in a channel until vouchers claim them.

use super::{Account, Address, CompiledInstruction, Instruction, Message, system, token};
use crate::Refusal;

/// The program.
pub const PROGRAM: Address = Address::constant("CHNLxYvVA28MJP9PrFuDXccuoGXAx7jBacfLEkahyGsX");

/// A message calls the program never.
pub const NO_CHANNEL_INSTRUCTION: Refusal = Refusal::new("svm/no-channel-instruction");
/// A message calls it more than once, or in a way that is not known.
pub const CHANNEL_INSTRUCTION: Refusal = Refusal::new("svm/channel-instruction");

const RENT: Address = Address::constant("SysvarRent111111111111111111111111111111111");

const OPEN: u8 = 1;
const TOP_UP: u8 = 3;
const REQUEST_CLOSE: u8 = 5;

/// An opening's kind, salt, deposit, grace period, slot, and the count of those who are paid.
const LEAST_OPEN_DATA: usize = 1 + 8 + 8 + 4 + 8 + 4;

/// All of a claim goes to one recipient, in basis points.
const ALL: u16 = 10_000;

/// What names a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Whose tokens it holds.
    pub payer: Address,
    /// Who pays its rent, and settles it.
    pub payee: Address,
    /// The token.
    pub mint: Address,
    /// Who signs its vouchers.
    pub authorized_signer: Address,
    /// Tells apart channels of the same parties.
    pub salt: u64,
    /// The slot it is opened at.
    pub open_slot: u64,
}

/// How a channel is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// How many tokens it holds.
    pub deposit: u64,
    /// How long the payer waits for a close that the payee does not sign, in seconds.
    pub grace_period: u32,
    /// Who is paid what is claimed.
    pub recipient: Address,
    /// The token's program.
    pub token_program: Address,
}

impl Channel {
    /// The channel's address, which is its id; `None` if none can be derived.
    pub fn address(&self) -> Option<Address> {
        let (salt, open_slot) = (self.salt.to_le_bytes(), self.open_slot.to_le_bytes());
        let parties = [&self.payer, &self.payee, &self.mint, &self.authorized_signer].map(Address::bytes);
        let [payer, payee, mint, authorized_signer] = parties;
        Address::derived(&[b"channel", payer, payee, mint, authorized_signer, &salt, &open_slot], &PROGRAM)
    }

    /// Opens it; `None` if an address cannot be derived.
    pub fn open(&self, opening: &Opening) -> Option<Instruction> {
        let channel = self.address()?;
        let holding = |owner| token::associated_account(owner, &self.mint, &opening.token_program);
        let accounts = vec![
            Account::writable(self.payer).signs(),
            Account::writable(self.payee).signs(),
            Account::readonly(self.payee),
            Account::readonly(self.mint),
            Account::readonly(self.authorized_signer),
            Account::writable(channel),
            Account::writable(holding(&self.payer)?),
            Account::writable(holding(&channel)?),
            Account::readonly(opening.token_program),
            Account::readonly(system::PROGRAM),
            Account::readonly(RENT),
            Account::readonly(token::ASSOCIATED_PROGRAM),
            Account::readonly(Address::derived(&[b"event_authority"], &PROGRAM)?),
            Account::readonly(PROGRAM),
        ];
        let data = [
            &[OPEN],
            &self.salt.to_le_bytes()[..],
            &opening.deposit.to_le_bytes(),
            &opening.grace_period.to_le_bytes(),
            &self.open_slot.to_le_bytes(),
            // Who is paid, a list of one.
            &1u32.to_le_bytes(),
            opening.recipient.bytes(),
            &ALL.to_le_bytes(),
        ];
        Some(Instruction { program: PROGRAM, accounts, data: data.concat() })
    }
}

/// The opening of a channel by a call of a program that is not known beforehand. Its accounts may be loaded from tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The salt, as the call's data hold it.
    pub salt: [u8; 8],
    /// The index of the account that signs vouchers.
    pub authorized_signer: u8,
    /// The index of the channel.
    pub channel: u8,
}

impl OpenCall {
    /// Reads the one call of the program that opens a channel; `None` if there is none, or more than one.
    pub fn only(message: &Message, program: &Address) -> Option<Self> {
        let mut opens = message.calls(program).filter_map(Self::of);
        opens.next().filter(|_| opens.next().is_none())
    }

    fn of(call: &CompiledInstruction) -> Option<Self> {
        let Some((&[OPEN], rest)) = call.data.split_first_chunk() else { return None };
        let [_, _, _, _, authorized_signer, channel, ..] = *call.accounts else { return None };
        let salt = *rest.first_chunk()?;
        (call.data.len() >= LEAST_OPEN_DATA).then_some(Self { salt, authorized_signer, channel })
    }
}

/// Asks for a channel's close, as its payer.
pub fn request_close(payer: Address, channel: Address) -> Instruction {
    let accounts = vec![Account::readonly(payer).signs(), Account::writable(channel)];
    Instruction { program: PROGRAM, accounts, data: vec![REQUEST_CLOSE] }
}

/// What the signer of a channel's vouchers signs: that so much may be claimed in all, without expiry.
pub fn voucher(channel: &Address, max_claimable: u64) -> Vec<u8> {
    let expires_at = [0; 8];
    [b"V\x01", &channel.bytes()[..], &max_claimable.to_le_bytes(), &expires_at].concat()
}

/// What a message does to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Opens it.
    Open,
    /// Adds to its deposit.
    TopUp,
    /// Asks for its close.
    RequestClose,
}

/// What the message's one call of the program does, and to which channel. Only the kind of the call and its count of
/// accounts are held to it; the channel is a key of the message itself.
pub fn act(message: &Message) -> Result<(Act, Address), Refusal> {
    let mut calls = message.calls(&PROGRAM);
    let call = calls.next().ok_or(NO_CHANNEL_INSTRUCTION)?;
    let (act, channel) = match (call.data.first(), &*call.accounts) {
        (Some(&OPEN), [_, _, _, _, _, channel, _, _, _, _, _, _, _, _]) => (Act::Open, channel),
        (Some(&TOP_UP), [_, channel, _, _, _, _]) => (Act::TopUp, channel),
        (Some(&REQUEST_CLOSE), [_, channel]) => (Act::RequestClose, channel),
        _ => return Err(CHANNEL_INSTRUCTION),
    };
    let channel = message.key(*channel).filter(|_| calls.next().is_none()).ok_or(CHANNEL_INSTRUCTION)?;
    Ok((act, *channel))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        encoding,
        wire::solana::{compile, memo},
    };

    fn key(byte: u8) -> Address {
        [byte; 32].into()
    }

    fn channel() -> Channel {
        Channel { payer: key(1), payee: key(2), mint: key(3), authorized_signer: key(4), salt: 5, open_slot: 6 }
    }

    fn opening() -> Instruction {
        channel().open(&Opening { deposit: 7, grace_period: 8, recipient: key(9), token_program: token::PROGRAM }).unwrap()
    }

    fn message(calls: &[Instruction]) -> Message {
        compile(key(2), [0; 32], calls).unwrap()
    }

    #[test]
    fn every_member_names_the_channel() {
        let others = [
            Channel { payer: key(9), ..channel() },
            Channel { payee: key(9), ..channel() },
            Channel { mint: key(9), ..channel() },
            Channel { authorized_signer: key(9), ..channel() },
            Channel { salt: 9, ..channel() },
            Channel { open_slot: 9, ..channel() },
        ];
        let mut addresses: Vec<_> = others.iter().chain([&channel()]).map(|channel| channel.address().unwrap().to_string()).collect();
        addresses.sort();
        addresses.dedup();
        assert_eq!(addresses.len(), 7);
        // As the recorded payment of x402/upto/solana has it.
        let recorded = Channel {
            payer: Address::constant("H114TvVMTRoh9Aar3vdpfyxEVLdSDH4oi4xihVuWAgWN"),
            payee: Address::constant("CNRcamMbSQwrsAsBJbDo68uAWEvpVvqhDeDrCaRt7hym"),
            mint: Address::constant("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"),
            authorized_signer: Address::constant("6NVp5EKfTkRaoHm9a14utkMcLahpigXVF3B6Mk2y46As"),
            salt: 7,
            open_slot: 312_345_678,
        };
        assert_eq!(recorded.address().unwrap().to_string(), "54EzdPWCtV8DyB7PPnXHLdcZDoxFCkUA73XNMiYakdEE");
    }

    #[test]
    fn data_of_an_opening() {
        let data = ["0x01", "0500000000000000", "0700000000000000", "08000000", "0600000000000000", "01000000", &"09".repeat(32), "1027"];
        assert_eq!(encoding::hex(&opening().data), data.concat());
    }

    #[test]
    fn a_message_acts_once_on_a_channel() {
        let id = channel().address().unwrap();
        let top_up = Instruction {
            program: PROGRAM,
            accounts: [key(1), id, key(5), key(6), key(3), token::PROGRAM].map(Account::readonly).into(),
            data: [&[TOP_UP], &[0; 8][..]].concat(),
        };
        let close = request_close(key(1), id);
        for (call, expected) in [(opening(), Act::Open), (top_up.clone(), Act::TopUp), (close.clone(), Act::RequestClose)] {
            assert_eq!(act(&message(&[call.clone(), memo::write("x")])), Ok((expected, id)));
            assert_eq!(act(&message(&[call.clone(), call])), Err(CHANNEL_INSTRUCTION));
        }
        assert_eq!(act(&message(&[memo::write("x")])), Err(NO_CHANNEL_INSTRUCTION));
        let without_accounts = |call: &Instruction| Instruction { accounts: call.accounts[1..].to_vec(), ..call.clone() };
        let of_kind = |kind: u8| Instruction { data: vec![kind], ..close.clone() };
        for other in [without_accounts(&opening()), without_accounts(&top_up), without_accounts(&close), of_kind(0), of_kind(1), of_kind(4)] {
            assert_eq!(act(&message(&[other])), Err(CHANNEL_INSTRUCTION));
        }
        let mut loaded = message(&[close]);
        loaded.instructions[0].accounts[1] = 200;
        assert_eq!(act(&loaded), Err(CHANNEL_INSTRUCTION));
    }

    #[test]
    fn the_one_opening_of_any_program() {
        let program = key(8);
        let called = |call: Instruction| Instruction { program, ..call };
        let short = Instruction { data: opening().data[..LEAST_OPEN_DATA - 1].into(), ..opening() };
        let read = |calls: &[Instruction]| OpenCall::only(&message(calls), &program);
        let open = read(&[called(opening()), called(short.clone()), memo::write("x")]).unwrap();
        assert_eq!(open.salt, 5u64.to_le_bytes());
        let keys = message(&[called(opening()), called(short.clone()), memo::write("x")]).keys;
        assert_eq!(keys[usize::from(open.channel)], channel().address().unwrap());
        assert_eq!(keys[usize::from(open.authorized_signer)], key(4));
        assert_eq!(read(&[called(short)]), None);
        assert_eq!(read(&[opening()]), None);
        assert_eq!(read(&[called(opening()), called(opening())]), None);
    }

    #[test]
    fn voucher_bytes() {
        let expected = format!("0x5601{}{}{}", "01".repeat(32), "6400000000000000", "00".repeat(8));
        assert_eq!(encoding::hex(&voucher(&key(1), 100)), expected);
    }
}
