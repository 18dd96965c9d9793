//! What the MPP methods on Solana share.

use super::{CHOICE_MALFORMED, INPUT_MISSING, Method, NO_PAYABLE_OPTION, Offer, REQUEST_MALFORMED, credential::CREDENTIAL_MALFORMED};
use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding,
    mpp::credential::{OneStep, Waiting},
    pairing::{Buyer, Choice, Unsigned},
    solana::{self, Budget, Chosen, INPUT_MALFORMED, MEMO_COUNT, PDA_NOT_FOUND},
    wire::solana::{Address, Message, Transaction, memo, system, token},
};

const NETWORK_MALFORMED: Refusal = Refusal::new("svm/network-malformed");
const NO_CARRIER: Refusal = Refusal::new("svm/no-carrier");
pub(crate) const CARRIER_NOT_CHALLENGE: Refusal = Refusal::new("mpp/carrier-not-challenge");

/// Longest `externalId`, in UTF-8 bytes: the longest memo that the memo program takes.
const MAX_MEMO: usize = 566;
const UNIT_LIMIT: u32 = 40_000;

/// A cluster that details name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cluster {
    Mainnet,
    Devnet,
    /// One of the seller's own, which no CAIP-2 network names.
    Localnet,
}

impl Cluster {
    /// The cluster in `network`; `None` where that is absent.
    pub(crate) fn of(details: &Object) -> Result<Option<Self>, Refusal> {
        match details.get("network").map(Value::as_str) {
            None => Ok(None),
            Some(Some("mainnet")) => Ok(Some(Self::Mainnet)),
            Some(Some("devnet")) => Ok(Some(Self::Devnet)),
            Some(Some("localnet")) => Ok(Some(Self::Localnet)),
            Some(_) => Err(NETWORK_MALFORMED),
        }
    }

    /// The same, where it must be there.
    pub(crate) fn named(details: &Object) -> Result<Self, Refusal> {
        Self::of(details)?.ok_or(NETWORK_MALFORMED)
    }

    /// Its CAIP-2 network.
    pub(crate) fn network(self) -> Option<&'static str> {
        match self {
            Self::Mainnet => Some("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"),
            Self::Devnet => Some("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"),
            Self::Localnet => None,
        }
    }
}

/// What a charge asks for.
pub(crate) struct Charge<'a> {
    details: &'a Object,
    pub(crate) cluster: Cluster,
    amount: u64,
    /// The mint; `None` for lamports.
    pub(crate) mint: Option<Address>,
    recipient: Address,
    /// What the transaction's memo is to be.
    external_id: Option<&'a Value>,
    /// Who pays the fee instead of the payer.
    fee_payer: Option<Address>,
}

impl<'a> Charge<'a> {
    /// Reads a request and its details on Solana.
    pub(crate) fn of(request: &'a Object, details: &'a Object, cluster: Cluster) -> Result<Self, Refusal> {
        let text = |name| request.get(name).and_then(Value::as_str);
        let amount = text("amount").and_then(encoding::uint64).filter(|&amount| amount > 0);
        let mint = match text("currency") {
            Some("sol") => None,
            _ => Some(Address::of(request, "currency").ok_or(REQUEST_MALFORMED)?),
        };
        let external_id = request.get("externalId");
        let is_memo = |id: &Value| id.as_text().is_some_and(|id| id.utf8_len() <= MAX_MEMO);
        if !external_id.is_none_or(is_memo) {
            return Err(REQUEST_MALFORMED);
        }
        let fee_payer = match details.get("feePayer") {
            None | Some(Value::Bool(false)) => None,
            Some(Value::Bool(true)) => Some(Address::of(details, "feePayerKey").ok_or(REQUEST_MALFORMED)?),
            Some(_) => return Err(REQUEST_MALFORMED),
        };
        let recipient = Address::of(request, "recipient").ok_or(REQUEST_MALFORMED)?;
        let charge = Self { details, cluster, amount: amount.ok_or(REQUEST_MALFORMED)?, mint, recipient, external_id, fee_payer };
        if charge.is_built_here() { Ok(charge) } else { Err(INPUT_MALFORMED) }
    }

    /// Whether it asks for nothing that is not built, and what it names of the transaction is of the right form.
    fn is_built_here(&self) -> bool {
        let details = self.details;
        let token = || {
            (!self.names_decimals() || solana::decimals(details).is_some())
                && (!self.names("tokenProgram") || solana::token_program(details).is_some())
        };
        !details.has("splits")
            && details.get("confidential") != Some(&Value::Bool(true))
            && (self.mint.is_none() || token())
            && (!self.names("recentBlockhash") || solana::recent_blockhash(details).is_some())
    }

    fn names_decimals(&self) -> bool {
        matches!(self.details.get("decimals"), Some(Value::Number(_)))
    }

    fn names(&self, name: &str) -> bool {
        self.details.get(name).is_some_and(|value| value.as_text().is_some())
    }

    /// The members of the choice: the payer, what of the transaction the charge does not name, and the budget. `token`
    /// says whether the token's members are among those.
    pub(crate) fn choose(&self, buyer: &Buyer<'_>, token: bool) -> Result<Object, Refusal> {
        let account = Account::parse(buyer.account).ok_or(NO_PAYABLE_OPTION)?;
        let mut choice = Chosen::by(&account, buyer.inputs, INPUT_MISSING).ok_or(NO_PAYABLE_OPTION)?;
        if token && !self.names_decimals() {
            choice = choice.decimals()?;
        }
        if token && !self.names("tokenProgram") {
            choice = choice.token_program()?;
        }
        if !self.names("recentBlockhash") {
            choice = choice.recent_blockhash()?;
        }
        Ok(choice.budget()?.done())
    }

    /// The payment of the charge over H.
    pub(crate) fn build(&self, offer: &Offer<'_>, choice: &Object) -> Result<Box<dyn Unsigned>, Refusal> {
        solana::judge_offered(offer.h, self.external_id)?;
        let payer = Address::of(choice, "payer").ok_or(INPUT_MALFORMED)?;
        let message = self.message(offer.h, payer, choice)?;
        let request = solana::message_request(&message);
        let payload = move |answer: &Value| {
            let signature = solana::hex_signature(answer).ok_or(CREDENTIAL_MALFORMED)?;
            Ok(Object::new().with("type", "transaction").with("transaction", solana::signed(&message, &payer, signature)?))
        };
        Ok(Box::new(Waiting::new(&offer.challenge, None, OneStep { request, payload })))
    }

    fn message(&self, h: Hash, payer: Address, choice: &Object) -> Result<Message, Refusal> {
        let budget = Budget::of(choice, UNIT_LIMIT).ok_or(INPUT_MALFORMED)?;
        let transfer = match self.mint {
            None => system::transfer(payer, self.recipient, self.amount),
            Some(mint) => {
                let decimals = solana::decimals(if self.names_decimals() { self.details } else { choice }).ok_or(INPUT_MALFORMED)?;
                let program = solana::token_program(self.naming("tokenProgram", choice)).ok_or(INPUT_MALFORMED)?;
                token::transfer_checked(program, mint, payer, self.recipient, self.amount, decimals).ok_or(PDA_NOT_FOUND)?
            }
        };
        let blockhash = solana::recent_blockhash(self.naming("recentBlockhash", choice)).ok_or(INPUT_MALFORMED)?;
        solana::compiled(self.fee_payer.unwrap_or(payer), blockhash, budget, [transfer, memo::write(&h.lcp_string())])
    }

    /// Where a member is read from: the details if they name it, else the choice.
    fn naming<'b>(&'b self, name: &str, choice: &'b Object) -> &'b Object {
        if self.names(name) { self.details } else { choice }
    }

    /// H, which the one memo of the transaction that is an LCP string names; other memos are let be.
    pub(crate) fn carried(&self, transaction: &Transaction, h: Hash) -> Result<Hash, Refusal> {
        let named = |memo| std::str::from_utf8(memo).ok().and_then(|memo| Some((memo, Hash::from_lcp_string(memo)?)));
        let mut carriers = memo::written(&transaction.message).filter_map(named);
        let (memo, named) = carriers.next().ok_or(NO_CARRIER)?;
        if carriers.next().is_some() {
            return Err(MEMO_COUNT);
        }
        let named = solana::carried(memo, named, self.external_id)?;
        if named == h { Ok(h) } else { Err(CARRIER_NOT_CHALLENGE) }
    }
}

/// The offer of a choice. The form of the budget's price is judged before it.
pub(crate) fn chosen<'a>(method: &dyn Method, chosen: &Choice<'a>) -> Result<Offer<'a>, Refusal> {
    chosen.choice.get("challenge").and_then(Value::as_object).ok_or(CHOICE_MALFORMED)?;
    Budget::judge_form(chosen.choice)?;
    Offer::chosen(method, chosen)
}
