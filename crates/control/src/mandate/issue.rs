//! Issuing a mandate: the claims that a merchant sees, what is kept back, and the rail's credential.

use lcp::{Hash, Object, Value, jose, json};

use super::{MANDATE_TTL_SECONDS, MANDATE_TYP, Mandate, MandateState, Secrets, Terms};
use crate::{
    Instant,
    decision::PolicyRef,
    ids::{AgentId, MandateId},
    payment::Desk,
    policy::{Constraint, FinalityClass, Policy},
    rail::{Rail, RailError, RailReason},
    request::{PaymentRequestCreate, digest_text},
};

/// What a mandate is to be issued for.
pub(crate) struct Order<'a> {
    pub(crate) agent: &'a AgentId,
    pub(crate) request: &'a PaymentRequestCreate,
    pub(crate) policy: &'a Policy,
    /// When the consent ends that the agent acts under.
    pub(crate) consent_ends: Option<Instant>,
}

/// Why no mandate was issued: nothing was paid, and nothing counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unissued {
    /// The rail, or the protocol that none serves.
    pub rail: String,
    /// What it says.
    pub error: RailError,
}

impl Mandate {
    /// Signs a mandate and asks the rail for a credential.
    pub(crate) fn issue(order: &Order<'_>, desk: &mut Desk<'_>) -> Result<Self, Unissued> {
        let protocol = order.request.protocol();
        let Some(rail) = desk.rails.iter().copied().find(|rail| rail.serves(protocol)) else {
            return Err(Unissued::none(order.request));
        };
        let policy = PolicyRef::of(order.policy);
        if policy.id.is_none() || policy.version.is_none() {
            return Err(Unissued::by(rail, "The policy that allows it is not signed, so no mandate can name it."));
        }
        let id = MandateId::fresh(desk.ids);
        let expires_at = order.consent_ends.into_iter().fold(desk.now.plus_seconds(MANDATE_TTL_SECONDS), Instant::min);
        let (claims, hidden) = claims(order, &policy, &id, desk, expires_at);
        let salt = salt(desk);
        let hidden_constraints_digest = commit(&salt, &hidden);
        let claims = claims.with_some("hidden_constraints_digest", hidden_constraints_digest.as_ref().map(digest_text));
        let jws = jose::sign(MANDATE_TYP, json::write(&claims.into()).as_bytes(), desk.key)
            .map_err(|_| Unissued::by(rail, "The mandate could not be signed."))?;
        // The rail last: nothing that fails after it would leave a credential behind.
        let credential =
            rail.issue(&id, &order.request.amount, expires_at, desk.ids).map_err(|error| Unissued { rail: rail.name().to_owned(), error })?;
        Ok(Self {
            id,
            state: MandateState::Issued,
            amount: order.request.amount.clone(),
            payee: order.request.payee.shown().to_owned(),
            issued_at: desk.now,
            expires_at,
            digest: Hash::of(jws.as_bytes()),
            hidden_constraints_digest,
            terms: Terms::of(order, policy),
            handler_id: credential.handler_id,
            display: credential.display,
            over_at: None,
            void_reason: None,
            spent: None,
            secrets: Some(Secrets { jws, token: Some(credential.token), salt, hidden }),
        })
    }
}

impl Unissued {
    /// No rail serves the checkout's protocol.
    fn none(request: &PaymentRequestCreate) -> Self {
        let protocol = request.protocol();
        Self {
            rail: protocol.as_str().to_owned(),
            error: RailError {
                reason: RailReason::RailUnavailable,
                message: format!("The payment is allowed, but no rail here serves {protocol}; nothing was paid."),
                next_step: "Pay on the merchant's own page, or ask again once a rail serves this protocol.".to_owned(),
            },
        }
    }

    fn by(rail: &dyn Rail, message: &str) -> Self {
        Self {
            rail: rail.name().to_owned(),
            error: RailError {
                reason: RailReason::RailError,
                message: format!("{message} Nothing was paid."),
                next_step: "Ask for the same payment again when the person wants it, once this is mended.".to_owned(),
            },
        }
    }
}

impl Terms {
    fn of(order: &Order<'_>, policy_ref: PolicyRef) -> Self {
        let policy = order.policy;
        let json = |object: Option<Object>| object.map_or(Value::Null, Value::from);
        Self {
            policy: policy_ref,
            binds: binds(order.request),
            mode: policy.mode,
            refill_policy: policy.refill_policy,
            finality_class: FinalityClass::of(order.request.protocol()),
            deviation: json(policy.deviation.as_ref().map(crate::policy::Deviation::to_json)),
            retry_policy: json(policy.retry_policy.as_ref().map(crate::policy::RetryPolicy::to_json)),
            visibility_scope: json(policy.visibility_scope.as_ref().map(crate::policy::VisibilityScope::to_json)),
        }
    }
}

/// What a mandate is good for beside its payee and amount.
pub(super) fn binds(request: &PaymentRequestCreate) -> &'static str {
    if request.checkout.is_some() { "checkout" } else { "payee" }
}

/// The claims that the merchant sees, and the constraints that it does not.
fn claims(order: &Order<'_>, policy: &PolicyRef, id: &MandateId, desk: &Desk<'_>, expires_at: Instant) -> (Object, Object) {
    let request = order.request;
    let checkout = request.checkout.as_ref().map(crate::request::Checkout::to_json);
    let checkout_hash = checkout.clone().and_then(|checkout| json::canonical(&checkout.into())).map(|text| digest_text(&Hash::of(text.as_bytes())));
    let subject = order.policy.principal.as_deref().unwrap_or(order.agent.as_str());
    let always = Object::new()
        .with("iss", desk.issuer)
        .with("sub", subject)
        .with("mandate_id", id)
        .with("agent", order.agent)
        .with("binds", binds(request))
        .with("amount", request.amount.decimal())
        .with("currency", request.amount.currency())
        .with("payee", request.payee.shown())
        .with("checkout", checkout.map_or(Value::Null, Value::from))
        .with("checkout_hash", checkout_hash.map_or(Value::Null, Value::from))
        .with("iat", desk.now.seconds())
        .with("exp", expires_at.seconds());
    let scope = order.policy.visibility_scope.clone().unwrap_or_default();
    constraints(order, policy).into_iter().fold((always, Object::new()), |(shown, hidden), (constraint, value)| {
        if scope.shows(constraint) { (shown.with(constraint.as_str(), value), hidden) } else { (shown, hidden.with(constraint.as_str(), value)) }
    })
}

/// The constraints that the policy has. A principal's login and a recurrence are not known here.
fn constraints(order: &Order<'_>, policy_ref: &PolicyRef) -> Vec<(Constraint, Value)> {
    let Terms { mode, refill_policy, finality_class, deviation, retry_policy, .. } = Terms::of(order, policy_ref.clone());
    let limits = &order.policy.limits;
    // Windows of one kind may stand side by side in several currencies.
    let budget = limits.windows.iter().fold(Object::new(), |object, limit| {
        let name = format!("{} {}", limit.kind, limit.max.currency().symbol());
        object.with(name, limit.max.decimal())
    });
    let all = [
        (Constraint::Policy, policy_ref.to_json().into()),
        (Constraint::Mode, mode.as_str().into()),
        (Constraint::RefillPolicy, refill_policy.as_str().into()),
        (Constraint::FinalityClass, finality_class.as_str().into()),
        (Constraint::RetryPolicy, retry_policy),
        (Constraint::Deviation, deviation),
        (Constraint::PerPaymentCap, limits.per_payment.to_json().into()),
        (Constraint::Budget, if budget.is_empty() { Value::Null } else { budget.into() }),
    ];
    all.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

fn salt(desk: &mut Desk<'_>) -> [u8; 32] {
    let mut salt = [0; 32];
    salt.chunks_exact_mut(16).for_each(|half| half.copy_from_slice(&desk.ids.secret()));
    salt
}

/// SHA-256 over the salt and the RFC 8785 text of the hidden constraints; `None` if nothing is hidden.
pub(crate) fn commit(salt: &[u8; 32], hidden: &Object) -> Option<Hash> {
    if hidden.is_empty() {
        return None;
    }
    let text = json::canonical(&hidden.clone().into())?;
    Some(Hash::of(&[&salt[..], text.as_bytes()].concat()))
}
