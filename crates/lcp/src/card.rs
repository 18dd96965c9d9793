//! Card payments: what their pairings share in reading the document the buyer is shown.

pub(crate) mod verifiable_intent;

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    legal_context::{LegalContext, hash_and_link},
    pairing::{Advertised, Buyer, Choice},
};

pub(crate) const SIGNATURE_MALFORMED: Refusal = Refusal::new("card/signature-malformed");
pub(crate) const TOO_LARGE: Refusal = Refusal::new("card/too-large");
pub(crate) const NO_SIGNED_PLACE: Refusal = Refusal::new("card/no-signed-place");
const NO_LEGAL_CONTEXT: Refusal = Refusal::new("card/no-legal-context");
const LEGAL_CONTEXT_MALFORMED: Refusal = Refusal::new("card/legal-context-malformed");
const CHOICE_MALFORMED: Refusal = Refusal::new("card/choice-malformed");
const NO_PAYABLE_OPTION: Refusal = Refusal::new("card/no-payable-option");

/// What a shown document advertises: the `legalContext` of `holder`, which is the document or what a token in it holds.
pub(crate) fn advertised(document: &Value, holder: &Value) -> Result<Advertised, Refusal> {
    let context = LegalContext::read(info(holder)?).map_err(|_| LEGAL_CONTEXT_MALFORMED)?;
    Ok(Advertised::whole(context, document))
}

/// The hash that the `legalContext` of `holder` names, whose agreement URL is not looked at.
pub(crate) fn hash(holder: &Value) -> Result<Hash, Refusal> {
    hash_and_link(info(holder)?).map(|(h, _)| h).map_err(|_| LEGAL_CONTEXT_MALFORMED)
}

fn info(holder: &Value) -> Result<&Value, Refusal> {
    holder.get("legalContext").ok_or(NO_LEGAL_CONTEXT)
}

/// The choice, the document itself: any account names the buyer.
pub(crate) fn choose(advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
    Account::parse(buyer.account).ok_or(NO_PAYABLE_OPTION)?;
    Ok(Object::new().with("doc", &advertised.document))
}

/// The document of a choice.
pub(crate) fn document<'a>(chosen: &Choice<'a>) -> Result<&'a Value, Refusal> {
    chosen.choice.get("doc").ok_or(CHOICE_MALFORMED)
}
