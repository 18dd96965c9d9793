//! What a seller sends: a mandate to be judged, and an order that it took one for.

use std::sync::Arc;

use lcp::Value;

use crate::{Asset, Fault, Money, card_number, payee::Domain, payment::SellerOrder, policy::read_domain, read::Field};

/// Longest mandate that is looked at, in characters.
const MAX_MANDATE: usize = 65_536;
/// Ids, times and amounts, whose bare digits the card-number guard spares; a mandate is base64url.
pub const TYPED_FIELDS: &[&str] = &["/mandate", "/amount/value", "/order/total/value", "/order/completed_at"];

/// A mandate that a seller asks about.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifyRequest {
    /// The compact JWS.
    pub mandate: String,
    /// The domain that the seller says it is.
    pub domain: Option<Domain>,
    /// What it wants to take.
    pub amount: Option<Money>,
}

/// An order that a seller took with a mandate.
#[derive(Clone, PartialEq, Eq)]
pub struct Observation {
    /// The mandate, and the domain that the seller says it is.
    pub presented: VerifyRequest,
    /// The order.
    pub order: SellerOrder,
}

/// The compact JWS of a seller's body, before the rest of it is read: what it is of says which assets there are.
pub fn presented_mandate(body: &Value) -> Result<&str, Fault> {
    card_number::refuse(body, TYPED_FIELDS)?;
    let members = Field::root(body).members(&["mandate", "domain", "amount", "order"])?;
    members.required("mandate")?.text(MAX_MANDATE)
}

impl VerifyRequest {
    /// Reads `{"mandate", "domain"?, "amount"?}`. The assets are those of the request that the mandate is of.
    pub fn read(body: &Value, assets: &[Arc<Asset>]) -> Result<Self, Fault> {
        let members = Field::root(body).members(&["mandate", "domain", "amount"])?;
        let amount = |field: &Field<'_>| {
            let members = field.members(&["value", "currency"])?;
            let currency = members.required("currency")?.currency(assets)?;
            members.required("value")?.money(&currency)
        };
        Ok(Self {
            mandate: members.required("mandate")?.text(MAX_MANDATE)?.to_owned(),
            domain: members.nullable("domain").as_ref().map(read_domain).transpose()?,
            amount: members.nullable("amount").as_ref().map(amount).transpose()?,
        })
    }
}

impl Observation {
    /// Reads `{"mandate", "domain"?, "order"}`. The assets are those of the request that the mandate is of.
    pub fn read(body: &Value, assets: &[Arc<Asset>]) -> Result<Self, Fault> {
        let members = Field::root(body).members(&["mandate", "domain", "order"])?;
        let order = SellerOrder::read_field(&members.required("order")?, assets)?;
        let presented = VerifyRequest {
            mandate: members.required("mandate")?.text(MAX_MANDATE)?.to_owned(),
            domain: members.nullable("domain").as_ref().map(read_domain).transpose()?,
            amount: order.report.total.clone(),
        };
        Ok(Self { presented, order })
    }
}
