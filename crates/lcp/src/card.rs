//! Card payments: what their pairings share in reading the document the buyer is shown.

use crate::{
    Object, Refusal, Value,
    account::Account,
    legal_context::LegalContext,
    pairing::{Advertised, Buyer},
};

pub(crate) const NO_SIGNED_PLACE: Refusal = Refusal::new("card/no-signed-place");
const NO_LEGAL_CONTEXT: Refusal = Refusal::new("card/no-legal-context");
const LEGAL_CONTEXT_MALFORMED: Refusal = Refusal::new("card/legal-context-malformed");
const NO_PAYABLE_OPTION: Refusal = Refusal::new("card/no-payable-option");

/// What a shown document advertises: the `legalContext` of `holder`, which is the document or what a token in it holds.
pub(crate) fn advertised(document: &Value, holder: &Value) -> Result<Advertised, Refusal> {
    let info = holder.get("legalContext").ok_or(NO_LEGAL_CONTEXT)?;
    let context = LegalContext::read(info).map_err(|_| LEGAL_CONTEXT_MALFORMED)?;
    Ok(Advertised { h: context.h, link: context.link, agreement: context.agreement, document: document.clone(), options: Vec::new() })
}

/// The choice, the document itself: any account names the buyer.
pub(crate) fn choose(advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
    Account::parse(buyer.account).ok_or(NO_PAYABLE_OPTION)?;
    Ok(Object::new().with("doc", &advertised.document))
}
