//! What the MPP methods on Solana share.

use super::{
    CARRIER_NOT_CHALLENGE, CHOICE_MALFORMED, INPUT_MISSING, Method, NO_PAYABLE_OPTION, Offer, REQUEST_MALFORMED, credential::CREDENTIAL_MALFORMED,
};
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ConfirmedHash, encoding,
        mpp::sample::{challenge, credential},
        pairing::{Completed, Pairing},
        pairings::mpp::charge::solana::PAIRING,
        wire::solana::base58,
    };

    const PAYER: &str = "H114TvVMTRoh9Aar3vdpfyxEVLdSDH4oi4xihVuWAgWN";
    const SELLER: &str = "2Fub4Rhb6TuNZ6XTEKAxbLeogqp52UHW7qAWF1WTk9Ka";
    const MINT: &str = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
    const BLOCKHASH: &str = "439bvEwoZYj9kQfuXnDqffdKRrjt6B9XYEbVGns7mvFn";
    const TOKEN_PROGRAM: &str = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn details() -> Object {
        Object::new().with("network", "devnet").with("recentBlockhash", BLOCKHASH).with("decimals", 6u32).with("tokenProgram", TOKEN_PROGRAM)
    }

    fn request(details: Object) -> Object {
        Object::new()
            .with("amount", "0010")
            .with("currency", MINT)
            .with("recipient", SELLER)
            .with("externalId", h().lcp_string())
            .with("methodDetails", details)
    }

    fn choose(request: Object, inputs: &Object) -> Result<Object, Refusal> {
        let account = format!("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:{PAYER}");
        let buyer = Buyer { account: &account, inputs, now: 1, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&[challenge(&h(), "charge", "solana", request).into()].into())?, &buyer)
    }

    fn build(choice: &Object) -> Result<Box<dyn Unsigned>, Refusal> {
        PAIRING.build(&Choice { choice, reference: &Value::Null, h: &ConfirmedHash::rehash(b"abc"), atr: b"abc" })
    }

    fn signed(choice: &Object) -> Value {
        match build(choice).unwrap().complete(&encoding::hex(&[5; 64]).into()) {
            Ok(Completed::Payment { signed, .. }) => signed,
            other => panic!("{other:?}"),
        }
    }

    fn message(payment: &Value) -> Message {
        Transaction::read(payment.get("payload").unwrap().get("transaction")).unwrap().message
    }

    /// What pays refuses a request with.
    fn fault(request: Object) -> String {
        let payment = credential(challenge(&h(), "charge", "solana", request));
        PAIRING.bound(&payment, None).unwrap_err().code().to_owned()
    }

    #[test]
    fn inputs_give_what_the_charge_does_not_name() {
        let kept =
            |request, inputs: Object| choose(request, &inputs).map(|choice| choice.without("challenge")).map_err(|refusal| refusal.code().to_owned());
        let payer = Object::new().with("payer", PAYER);
        assert_eq!(kept(request(details()), Object::new().with("decimals", "x")), Ok(payer.clone()));
        let bare = Object::new().with("network", "devnet");
        let inputs = Object::new().with("decimals", 9u32).with("tokenProgram", TOKEN_PROGRAM).with("recentBlockhash", BLOCKHASH);
        let all = inputs.iter().fold(payer, |choice, (name, value)| choice.with(name.clone(), value));
        assert_eq!(kept(request(bare.clone()), inputs.clone()), Ok(all));
        for name in ["decimals", "tokenProgram", "recentBlockhash"] {
            assert_eq!(kept(request(bare.clone()), inputs.without(name)), Err("mpp/input-missing".to_owned()));
        }
        // Lamports have no decimals and no program.
        let lamports = request(bare.clone()).with("currency", "sol");
        assert!(kept(lamports, inputs.without("decimals").without("tokenProgram")).is_ok());
        // The account is on devnet.
        assert_eq!(kept(request(bare.with("network", "mainnet")), inputs), Err("mpp/no-payable-option".to_owned()));
    }

    #[test]
    fn a_transfer_of_tokens_and_of_lamports() {
        let choice = choose(request(details()), &Object::new()).unwrap();
        let payment = signed(&choice);
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        assert_eq!(encoding::hex(&message(&payment).instructions[2].data), "0x0c0a0000000000000006");

        let lamports = request(details().with("feePayer", true).with("feePayerKey", SELLER)).with("currency", "sol");
        let payment = signed(&choose(lamports, &Object::new()).unwrap());
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let message = message(&payment);
        assert_eq!(message.keys[..2], [SELLER, PAYER].map(|text| Address::parse(text).unwrap()));
        assert_eq!(encoding::hex(&message.instructions[2].data), "0x020000000a00000000000000");
    }

    #[test]
    fn requests_that_are_not_paid() {
        for (name, value) in [
            ("amount", Value::from("0")),
            ("amount", 5u32.into()),
            ("currency", "SOL".into()),
            ("recipient", "x".into()),
            ("externalId", 5u32.into()),
        ] {
            assert_eq!(fault(request(details()).with(name, value)), "mpp/request-malformed", "{name}");
        }
        assert_eq!(fault(request(details()).with("externalId", "é".repeat(284))), "mpp/request-malformed");
        assert_eq!(fault(request(details()).with("externalId", "é".repeat(283))), "mpp/credential-type");
        for (code, name, value) in [
            ("svm/network-malformed", "network", Value::from("testnet")),
            ("mpp/request-malformed", "feePayer", 1u32.into()),
            ("mpp/request-malformed", "feePayer", true.into()),
            ("svm/input-malformed", "splits", Value::Null),
            ("svm/input-malformed", "confidential", true.into()),
            ("svm/input-malformed", "decimals", 256u32.into()),
            ("svm/input-malformed", "tokenProgram", "x".into()),
            ("svm/input-malformed", "recentBlockhash", "x".into()),
            ("mpp/credential-type", "confidential", 1u32.into()),
            ("mpp/credential-type", "decimals", "6".into()),
        ] {
            assert_eq!(fault(request(details().with(name, value))), code, "{name}");
        }
    }

    #[test]
    fn one_memo_names_the_challenges_hash() {
        let choice = choose(request(details()), &Object::new()).unwrap();
        let payment = signed(&choice);
        let with_memos = |memos: &[&[u8]]| {
            let mut message = message(&payment);
            let call = message.instructions.pop().unwrap();
            message.instructions.extend(memos.iter().map(|&memo| crate::wire::solana::CompiledInstruction { data: memo.into(), ..call.clone() }));
            let transaction = message.signed(&Address::parse(PAYER).unwrap(), [0; 64]).unwrap();
            let payload = Object::new().with("type", "transaction").with("transaction", encoding::base64(&transaction.encode()));
            let payment = payment.as_object().unwrap().clone().with("payload", payload).into();
            PAIRING.bound(&payment, None).map_err(|refusal| refusal.code().to_owned())
        };
        let (ours, other) = (h().lcp_string(), Hash::of(b"abd").lcp_string());
        assert_eq!(with_memos(&[b"order 12", ours.as_bytes(), b"\xFF"]), Ok(h()));
        let refused = |memos: &[&[u8]]| with_memos(memos).unwrap_err();
        assert_eq!(refused(&[b"order 12"]), "svm/no-carrier");
        assert_eq!(refused(&[ours.as_bytes(), other.as_bytes()]), "svm/memo-count");
        assert_eq!(refused(&[other.as_bytes()]), "svm/carrier-mismatch");
    }

    #[test]
    fn payloads_of_other_types() {
        let payment = signed(&choose(request(details()), &Object::new()).unwrap());
        let transaction = payment.get("payload").unwrap().get("transaction").unwrap();
        let bound = |payload: Object, landed: Option<Object>| {
            let payment = payment.as_object().unwrap().clone().with("payload", payload).into();
            PAIRING.bound(&payment, landed.map(Value::from).as_ref()).map_err(|refusal| refusal.code().to_owned())
        };
        let bundle = |before: usize| {
            let mut transactions = vec![Value::Null; before];
            transactions.push(transaction.clone());
            Object::new().with("type", "bundle").with("transactions", transactions)
        };
        assert_eq!(bound(bundle(7), None), Ok(h()));
        assert_eq!(bound(bundle(8), None).unwrap_err(), "svm/tx-malformed");
        assert_eq!(bound(Object::new().with("type", "bundle").with("transactions", vec![]), None).unwrap_err(), "svm/bundle-empty");
        let signature = Object::new().with("type", "signature").with("signature", base58::encode(&[5; 64]));
        assert_eq!(bound(signature.clone(), None).unwrap_err(), "svm/read-first");
        assert_eq!(bound(signature, Some(Object::new().with("transaction", transaction))), Ok(h()));
        assert_eq!(bound(Object::new().with("transaction", transaction), None).unwrap_err(), "mpp/credential-type");
    }

    #[test]
    fn a_choice_is_refused_for_its_first_fault() {
        let refused = |choice: &Object| build(choice).err().unwrap().code().to_owned();
        let choice = choose(request(details()), &Object::new()).unwrap();
        assert_eq!(refused(&choice.clone().with("challenge", "x")), "mpp/choice-malformed");
        assert_eq!(refused(&choice.clone().with("computeUnitPrice", 5u32).with("payer", "x")), "x402/choice-malformed");
        assert_eq!(refused(&choice.clone().with("payer", "x")), "svm/input-malformed");
        assert_eq!(refused(&choice.clone().with("computeUnitLimit", 5.5.to_string())), "svm/input-malformed");
        let other = challenge(&Hash::of(b"abd"), "charge", "solana", request(details()));
        assert_eq!(refused(&choice.clone().with("challenge", other)), "mpp/id-not-ours");
        let silent = challenge(&h(), "charge", "solana", request(details()).without("externalId"));
        assert_eq!(refused(&choice.with("challenge", silent).with("payer", "x")), "svm/carrier-mismatch");
    }
}
