//! What the methods on EVM networks share.

pub(crate) mod charge;

use super::{
    CHOICE_MALFORMED, INPUT_MALFORMED, INPUT_MISSING, Method, NO_PAYABLE_OPTION, Offer,
    credential::{CREDENTIAL_MALFORMED, CREDENTIAL_TYPE, OneStep, Waiting},
};
use crate::{
    Hash, Object, Refusal, Text, Value,
    account::Account,
    encoding,
    inputs::{self, MAX_DECIMAL},
    json,
    pairing::{Buyer, Choice, Unsigned},
    wire::evm::{self, U256, Word, eip3009},
};

pub(crate) const CHAIN_ID_REQUIRED: Refusal = Refusal::new("mpp/chain-id-required");
pub(crate) const ESCROW_MALFORMED: Refusal = Refusal::new("mpp/escrow-malformed");
pub(crate) const CREDENTIAL_TYPES: Refusal = Refusal::new("mpp/credential-types");
const AMOUNT_MALFORMED: Refusal = Refusal::new("evm/amount-malformed");
const FIELD_MALFORMED: Refusal = Refusal::new("evm/field-malformed");

/// Who pays.
#[derive(Clone, Copy)]
pub(crate) struct Payer<'a> {
    pub(crate) from: &'a str,
}

impl<'a> Payer<'a> {
    /// The members that a choice keeps: `from` and `now`.
    pub(crate) fn members(buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let account = Account::parse(buyer.account).filter(|account| evm::is_address(&account.address)).ok_or(NO_PAYABLE_OPTION)?;
        Ok(Object::new().with("from", account.address).with("now", buyer.now))
    }

    /// The offer and the payer of a choice.
    pub(crate) fn chosen(method: &dyn Method, chosen: &Choice<'a>) -> Result<(Offer<'a>, Self), Refusal> {
        let is_decimal = |deposit: &Value| deposit.as_str().is_some_and(|text| encoding::is_decimal(text, MAX_DECIMAL));
        if chosen.choice.get("deposit").is_some_and(|deposit| !is_decimal(deposit)) {
            return Err(CHOICE_MALFORMED);
        }
        let offer = Offer::chosen(method, chosen)?;
        let from = evm::address(chosen.choice, "from").ok_or(INPUT_MALFORMED)?;
        Ok((offer, Self { from }))
    }

    /// The payer as a credential's source.
    pub(crate) fn source(self, chain_id: u64) -> String {
        format!("did:pkh:eip155:{chain_id}:{}", self.from)
    }
}

/// The `chainId` of a request's details: a positive safe integer.
pub(crate) fn chain_id(details: &Object) -> Option<u64> {
    details.get("chainId").and_then(Value::as_safe_unsigned).filter(|&id| id > 0)
}

/// The offer's expiry as a deadline, in Unix seconds.
pub(crate) fn deadline(offer: &Offer<'_>) -> Result<u64, Refusal> {
    offer.expires.and_then(|expires| u64::try_from(expires).ok()).ok_or(FIELD_MALFORMED)
}

/// The hash that names a challenge: Keccak-256 of the JSON of its id and realm.
pub(crate) fn challenge_hash(offer: &Offer<'_>) -> Word {
    let names = [offer.challenge.id, Some(offer.challenge.realm)].map(|name| name.cloned().map_or(Value::Null, Value::from));
    evm::keccak(json::write(&names.into()).as_bytes())
}

/// A signature of 1 to 8,192 bytes in `0x` hex.
pub(crate) fn signature(answer: &Value) -> Result<&str, Refusal> {
    hex_bytes(answer, 8192)
}

/// 1 to `max` bytes in `0x` hex.
pub(crate) fn hex_bytes(answer: &Value, max: usize) -> Result<&str, Refusal> {
    let text = answer.as_str().filter(|text| encoding::hex_len(text).is_some_and(|len| (1..=max).contains(&len)));
    text.ok_or(CREDENTIAL_MALFORMED)
}

/// A payload's member that is 32 bytes in `0x` hex.
pub(crate) fn bytes32(object: &Object, name: &str) -> Option<Hash> {
    object.get(name).and_then(Value::as_str).and_then(Hash::parse)
}

/// The receipt that an answer holds in `landed`, if it holds one.
pub(crate) fn landed(answer: &Object) -> Result<Option<Value>, Refusal> {
    let landed = answer.get("landed").filter(|landed| !landed.is_null());
    landed.map(|landed| receipt(landed).map(Value::from).ok_or(CREDENTIAL_MALFORMED)).transpose()
}

/// A transaction's receipt, as far as it is held.
fn receipt(landed: &Value) -> Option<Object> {
    let text = |name| landed.get(name).and_then(Value::as_text);
    let block = text("blockNumber")?.as_str().filter(|block| encoding::is_decimal(block, MAX_DECIMAL))?;
    Some(
        Object::new()
            .with("transaction", text("transaction")?.clone())
            .with("blockNumber", encoding::plain_decimal(block))
            .with("logs", landed.get("logs").filter(|logs| logs.as_array().is_some())?),
    )
}

/// Whether a payload is of a type.
pub(crate) fn judge_type(payload: &Object, kind: &str) -> Result<(), Refusal> {
    if payload.get("type").and_then(Value::as_str) == Some(kind) { Ok(()) } else { Err(CREDENTIAL_TYPE) }
}

/// The input `tokenDomain`, if it is there: an object.
pub(crate) fn token_domain_input(inputs: &Object) -> Result<Option<&Value>, Refusal> {
    inputs::member(inputs, "tokenDomain", |value| value.as_object().map(|_| value)).map_err(|_| INPUT_MISSING)
}

/// The members that a choice keeps to open a channel, beside the challenge: the payer, the deposit, and what the buyer says
/// of the rest.
pub(crate) fn opening_choice(buyer: &Buyer<'_>) -> Result<Object, Refusal> {
    let payer = Payer::members(buyer)?;
    let deposit = inputs::decimal(buyer.inputs, "deposit").ok().flatten().ok_or(INPUT_MISSING)?;
    let text = |name, is_form: fn(&str) -> bool| {
        inputs::member(buyer.inputs, name, |value| value.as_str().filter(|text| is_form(text))).map_err(|_| INPUT_MISSING)
    };
    Ok(payer
        .with("deposit", deposit)
        .with_some("authorizedSigner", text("authorizedSigner", evm::is_address)?)
        .with_some("credentialType", text("credentialType", |name| matches!(name, "hash" | "authorization" | "permit2"))?)
        .with_some("tokenDomain", token_domain_input(buyer.inputs)?))
}

/// Who signs a channel's vouchers, as an address: the member `authorizedSigner`, or zero for the payer.
pub(crate) fn authorized_signer(object: &Object) -> Option<&str> {
    match object.get("authorizedSigner") {
        None | Some(Value::Null) => Some(evm::ZERO_ADDRESS),
        Some(_) => evm::address(object, "authorizedSigner"),
    }
}

/// The token's EIP-712 domain, as a request holds it: the choice's `tokenDomain` names it and its version.
pub(crate) fn token_domain(choice: &Object, chain_id: u64, token: &str) -> Result<Object, Refusal> {
    let named = |name| choice.get("tokenDomain")?.get(name)?.as_text().filter(|text| text.utf16_len() > 0);
    let text = |name| named(name).cloned().ok_or(INPUT_MALFORMED);
    Ok(Object::new().with("name", text("name")?).with("version", text("version")?).with("chainId", chain_id).with("verifyingContract", token))
}

/// A charge that its payer's signed transfer (EIP-3009) pays, the nonce naming the challenge.
pub(crate) struct Transfer<'a> {
    pub(crate) chain_id: u64,
    pub(crate) token: &'a str,
    pub(crate) to: &'a str,
    /// Decimal, as the challenge writes it.
    pub(crate) amount: &'a str,
    pub(crate) nonce: Word,
}

impl Transfer<'_> {
    pub(crate) fn build(self, offer: &Offer<'_>, payer: Payer<'_>, choice: &Object) -> Result<Box<dyn Unsigned>, Refusal> {
        let domain = token_domain(choice, self.chain_id, self.token)?;
        let value = U256::from_decimal(self.amount).ok_or(AMOUNT_MALFORMED)?.to_string();
        let authorization = eip3009::Authorization { from: payer.from, to: self.to, value, valid_before: deadline(offer)?, nonce: self.nonce };
        let request = authorization.request(eip3009::TRANSFER, domain);
        let members = authorization.members().with("value", self.amount);
        let payload = move |answer: &Value| {
            let typed = Object::new().with("type", "authorization");
            let typed = members.iter().fold(typed, |typed, (name, value)| typed.with(name.clone(), value));
            Ok(typed.with("signature", signature(answer)?))
        };
        Ok(Box::new(Waiting::new(&offer.challenge, Some(payer.source(self.chain_id)), OneStep { request, payload })))
    }
}

/// The nonce of a payload by signed transfer.
pub(crate) fn transfer_nonce(payload: &Object) -> Result<Word, Refusal> {
    judge_type(payload, "authorization")?;
    bytes32(payload, "nonce").map(|nonce| *nonce.bytes()).ok_or(CREDENTIAL_MALFORMED)
}

/// A string member, or the empty string where there is none.
pub(crate) fn text_or_empty(object: &Object, name: &str) -> Option<Text> {
    object.get(name).map_or(Some(Text::from("")), |value| value.as_text().cloned())
}
