//! The routes that are served.

use control::{
    access::Action,
    consent,
    payment::{AnswersGiven, HandOffReport},
    request, seller, settings,
};

use super::route::{
    Answer, Call, Kind, Parameter, Route,
    Verb::{Get, Patch, Post},
    Who,
};
use crate::service::{MAX_LIMIT, MAX_WAIT};

pub(super) const ANY_KEY: Who = Who::Keys(&[Action::ReadSelf]);
const ASKS: Who = Who::Keys(&[Action::Ask, Action::AskForAgent]);
const ANSWERS: Who = Who::Keys(&[Action::Answer]);
const HANDS_OFF: Who = Who::Keys(&[Action::HandOff]);
/// Those who read payments: an agent its own, the others all of the organization.
const READS: Who = Who::Keys(&[Action::ReadOwn, Action::ReadAll]);
/// Those who read how the organization is set up.
const READS_SETUP: Who = Who::Keys(&[Action::ReadAll]);
const READS_LOG: Who = Who::Keys(&[Action::ReadLog]);
const SIGNS_POLICIES: Who = Who::Keys(&[Action::ManagePolicies]);
const MANAGES_AGENTS: Who = Who::Keys(&[Action::ManageAgents]);
const MANAGES_CONSENTS: Who = Who::Keys(&[Action::ManageConsents]);
const CHANGES_SETTINGS: Who = Who::Keys(&[Action::ManageSettings]);
const VERIFIES: Who = Who::Keys(&[Action::VerifyMandates]);
const OBSERVES: Who = Who::Keys(&[Action::ObserveOrders]);

const AGENT: Parameter = Parameter { name: "agent_id", kind: Kind::Typed, about: "Only of this agent." };
const STATE: Parameter = Parameter { name: "state", kind: Kind::Text, about: "Only in this state." };
const CURSOR: Parameter = Parameter { name: "cursor", kind: Kind::Typed, about: "The `next_cursor` of the page before." };
const LIMIT: Parameter = Parameter { name: "limit", kind: Kind::Whole(1, MAX_LIMIT), about: "How many at most." };
const FROM: Parameter = Parameter { name: "from", kind: Kind::Typed, about: "Only from this time on (RFC 3339)." };
const TO: Parameter = Parameter { name: "to", kind: Kind::Typed, about: "Only before this time (RFC 3339)." };
const KIND: Parameter = Parameter { name: "kind", kind: Kind::Text, about: "Only records of this kind." };
const WAIT: Parameter =
    Parameter { name: "wait", kind: Kind::Whole(0, MAX_WAIT), about: "For how many seconds to wait for a change while a person is waited for." };

const POLICY: &[&str] =
    &["/id", "/created_at", "/agents/*", "/limits/per_payment", "/limits/windows/*/max", "/approval/threshold", "/approval/approvers/*"];

pub(super) const ROUTES: &[Route] = &[
    Route::new(Get, "/v0/me", "me", Call::Me, ANY_KEY, "Me").says("Who the key is"),
    // Payments
    Route::new(Post, "/v0/payment-requests", "payment_requests.create", Call::CreatePaymentRequest, ASKS, "PaymentRequest")
        .says("Ask to pay; a denial is an answer, too")
        .takes("PaymentRequestCreate", request::TYPED_FIELDS)
        .with_idempotency_key()
        .creates(),
    Route::new(Get, "/v0/payment-requests/{id}", "payment_requests.get", Call::GetPaymentRequest, READS, "PaymentRequest")
        .says("A request with its current state")
        .query(&[WAIT]),
    Route::new(Post, "/v0/payment-requests/{id}/handoff", "payment_requests.hand_off", Call::HandOff, HANDS_OFF, "PaymentRequest")
        .says("Say that the checkout was handed to a person, and later which order came of it")
        .takes("HandOff", HandOffReport::TYPED_FIELDS),
    Route::new(Post, "/v0/payment-requests/{id}/clarifications", "clarifications.answer", Call::AnswerClarification, ANSWERS, "PaymentRequest")
        .says("Give the person's answers; the request is decided again")
        .takes("ClarificationAnswers", AnswersGiven::TYPED_FIELDS),
    Route::new(Get, "/v0/approvals/{id}", "approvals.get", Call::GetApproval, READS, "Approval").says("An approval and its state"),
    Route::new(Get, "/v0/mandates", "mandates.list", Call::ListMandates, READS, "MandatePage")
        .says("Mandates, newest first")
        .query(&[AGENT, STATE, CURSOR, LIMIT]),
    Route::new(Get, "/v0/mandates/{id}", "mandates.get", Call::GetMandate, READS, "Mandate").says("A mandate"),
    // Records
    Route::new(Get, "/v0/records", "records.list", Call::ListRecords, READS, "RecordPage")
        .says("Records")
        .query(&[AGENT, FROM, TO, KIND, CURSOR, LIMIT]),
    Route::new(Post, "/v0/records/verify", "records.verify_bundle", Call::VerifyBundle, READS, "VerificationReport")
        .says("The verifier's report on a bundle that is sent")
        .takes("RecordBundle", &[]),
    Route::new(Get, "/v0/records/{id}", "records.get", Call::GetRecord, READS, "Record").says("A record, as the exact text that is signed"),
    Route::new(Get, "/v0/records/{id}/bundle", "records.bundle", Call::GetRecordBundle, READS, "RecordBundle")
        .says("A record with all that it takes to verify it"),
    Route::new(Get, "/v0/records/{id}/verify", "records.verify", Call::VerifyRecord, READS, "VerificationReport")
        .says("The verifier's report on a record"),
    Route::new(Get, "/v0/records/{id}/linked", "records.linked", Call::ListLinkedRecords, READS, "RecordPage")
        .says("The records chained to a record")
        .query(&[CURSOR, LIMIT]),
    // What the organization manages
    Route::new(Get, "/v0/policies", "policies.list", Call::ListPolicies, READS_SETUP, "PolicyPage").says("The policies"),
    Route::new(Post, "/v0/policies", "policies.create", Call::SignPolicy, SIGNS_POLICIES, "PolicyVersion")
        .says("Sign a document as a new policy, or as a new version of the one that it names")
        .takes("PolicyDocument", POLICY)
        .creates(),
    Route::new(Get, "/v0/policies/{id}/versions/{n}", "policies.version", Call::GetPolicyVersion, READS_SETUP, "PolicyVersion")
        .says("One signed version of a policy"),
    Route::new(Get, "/v0/agents", "agents.list", Call::ListAgents, READS_SETUP, "AgentPage").says("Agents, newest first").query(&[CURSOR, LIMIT]),
    Route::new(Post, "/v0/agents", "agents.create", Call::CreateAgent, MANAGES_AGENTS, "Agent")
        .says("Make an agent")
        .takes("AgentCreate", &[])
        .creates(),
    Route::new(Get, "/v0/agents/{id}", "agents.get", Call::GetAgent, READS_SETUP, "Agent").says("An agent"),
    Route::new(Post, "/v0/agents/{id}/pause", "agents.pause", Call::PauseAgent, MANAGES_AGENTS, "Agent")
        .says("Stop an agent: every payment that it asks for is denied")
        .takes("AgentPause", &[]),
    Route::new(Post, "/v0/agents/{id}/resume", "agents.resume", Call::ResumeAgent, MANAGES_AGENTS, "Agent")
        .says("Let it go on")
        .may_take("Empty", &[]),
    Route::new(Get, "/v0/consents", "consents.list", Call::ListConsents, READS_SETUP, "ConsentPage")
        .says("Consents, newest first")
        .query(&[AGENT, STATE, CURSOR, LIMIT]),
    Route::new(Post, "/v0/consents", "consents.create", Call::CreateConsent, MANAGES_CONSENTS, "Consent")
        .says("Record a principal's consent to an agent")
        .takes("ConsentCreate", consent::TYPED_FIELDS)
        .creates(),
    Route::new(Get, "/v0/consents/{id}", "consents.get", Call::GetConsent, READS_SETUP, "Consent").says("A consent"),
    Route::new(Post, "/v0/consents/{id}/revoke", "consents.revoke", Call::RevokeConsent, MANAGES_CONSENTS, "Consent")
        .says("Revoke a consent, now or at a time")
        .may_take("ConsentRevoke", consent::TYPED_FIELDS),
    Route::new(Get, "/v0/org/settings", "org.settings.get", Call::GetSettings, READS_SETUP, "OrgSettings").says("The organization's settings"),
    Route::new(Patch, "/v0/org/settings", "org.settings.update", Call::UpdateSettings, CHANGES_SETTINGS, "OrgSettings")
        .says("Change them; what is left out stays")
        .takes("OrgSettingsUpdate", settings::TYPED_FIELDS),
    // Sellers
    Route::new(Post, "/v0/sellers/verify", "sellers.verify", Call::VerifyMandate, VERIFIES, "MandateVerification")
        .says("Whether a mandate is good for the seller; changes nothing")
        .takes("MandateVerify", seller::TYPED_FIELDS),
    Route::new(Post, "/v0/sellers/orders", "sellers.orders.observe", Call::ObserveOrder, OBSERVES, "SellerOrder")
        .says("Report the order that a mandate paid for, which uses the mandate")
        .takes("SellerOrderCreate", seller::TYPED_FIELDS),
    // The log
    Route::new(Get, "/log/{org}/checkpoint", "log.checkpoint", Call::GetCheckpoint, READS_LOG, "")
        .says("The log's signed head (C2SP tlog-checkpoint); 404 for another organization's")
        .answers(Answer::Text),
    Route::new(Get, "/log/{org}/tile/{*path}", "log.tile", Call::GetTile, READS_LOG, "")
        .says("A tile of the log (C2SP tlog-tiles); 404 for another organization's")
        .answers(Answer::Bytes),
    // Public
    Route::new(Post, "/v0/sandbox/keys", "sandbox.create_keys", Call::CreateSandboxKeys, Who::Anybody, "SandboxKeys")
        .says("Make a sandbox organization with keys; only on a server in sandbox mode")
        .may_take("Empty", &[]),
    Route::new(Get, "/v0/openapi.json", "openapi", Call::OpenApi, Who::Anybody, "OpenApi").says("This API as an OpenAPI 3.1 document"),
    Route::new(Get, "/.well-known/jwks.json", "jwks", Call::Keys, Who::Anybody, "JwkSet")
        .says("The keys that records, policies and mandates are signed with"),
    Route::new(Get, "/healthz", "health", Call::Health, Who::Anybody, "Health").says("Whether the server runs"),
];
