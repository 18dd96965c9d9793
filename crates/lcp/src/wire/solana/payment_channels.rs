//! The payment channels program: a payer's tokens wait in a channel until vouchers claim them.

use super::{Account, Address, Instruction, Message, system, token};
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
