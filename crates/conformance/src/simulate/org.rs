//! An organization of the simulation: who is in it, its policies, its payments, its books and its archive.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use control::{
    Instant,
    agent::Agent,
    consent::Consent,
    decision::{EarlierRequest, KeyState, NoPolicy, PayeeFacts, PayeeStatus, WindowSpend},
    ids::{AgentId, KeyId, OrgId, PolicyId, RecordId, RequestId},
    payee::PayeeKey,
    payment::{Payment, Standing},
    policy::Policy,
};
use lcp::{Hash, jose::Ed25519Key};
use record::{Sealed, sign_policy};

use super::{
    archive::Archive,
    books::Books,
    chance::Chance,
    scene::{self, Tender},
};

/// How long an ended payment is kept: longer than any rule of the simulator's policies looks back.
const KEPT_SECONDS: u32 = 2 * 86_400;

pub(super) struct Org {
    pub(super) id: OrgId,
    pub(super) members: Vec<Member>,
    pub(super) archive: Archive,
    pub(super) books: Books,
    pub(super) payments: HashMap<RequestId, Payment>,
    /// Payments that have not ended, by when time next does something to them.
    pub(super) due: BTreeSet<(Instant, RequestId)>,
    /// Payments that have ended, in that order.
    pub(super) ended: VecDeque<(Instant, RequestId)>,
    /// Records that are open, with the request of each.
    pub(super) open: HashMap<RecordId, RequestId>,
    /// First answers, by agent and idempotency key; ordered, for one is drawn from them.
    pub(super) answered: BTreeMap<(AgentId, String), FirstAnswer>,
    /// Payments that payees say were made to them.
    pub(super) payments_to: HashMap<PayeeKey, u32>,
}

/// What the same key is answered with again.
pub(super) struct FirstAnswer {
    pub(super) body: Hash,
    pub(super) view: String,
    pub(super) request: RequestId,
}

/// An agent with its key, its policy and its consent.
pub(super) struct Member {
    pub(super) agent: Agent,
    pub(super) key: KeyId,
    pub(super) key_state: KeyState,
    pub(super) policy: Result<Signed, NoPolicy>,
    /// What its policy keeps, whatever the version.
    pub(super) policy_id: PolicyId,
    pub(super) tender: Tender,
    pub(super) version: u32,
    pub(super) consent: Option<Consent>,
    /// Its requests that a rule may look back to, in the order asked.
    pub(super) recent: VecDeque<RequestId>,
}

/// A policy in force, and its signed text.
pub(super) struct Signed {
    pub(super) policy: Policy,
    pub(super) sealed: Sealed,
}

/// What is known beside a request, gathered.
pub(super) struct Known {
    spend: Vec<WindowSpend>,
    earlier: Vec<EarlierRequest>,
    payee: PayeeFacts,
}

impl Org {
    pub(super) fn new(number: u8, now: Instant, chance: &mut Chance) -> Result<Self, String> {
        let id = OrgId::fresh(chance);
        let archive = Archive::new(id.clone(), Ed25519Key::from_seed(&[number + 1; 32])).ok_or("the key makes no key set")?;
        let members = (0..3).map(|_| Member::new(now, archive.key(), chance)).collect::<Result<_, _>>()?;
        Ok(Self {
            id,
            members,
            archive,
            books: Books::default(),
            payments: HashMap::new(),
            due: BTreeSet::new(),
            ended: VecDeque::new(),
            open: HashMap::new(),
            answered: BTreeMap::new(),
            payments_to: HashMap::new(),
        })
    }

    /// The place of the agent's member.
    pub(super) fn place_of(&self, agent: &AgentId) -> usize {
        self.members.iter().position(|member| member.agent.id == *agent).unwrap_or_default()
    }

    /// What is known beside a request of a member to a payee.
    pub(super) fn known(&self, place: usize, payee: Option<&PayeeKey>, now: Instant) -> Known {
        let Some(member) = self.members.get(place) else { return Known::nothing() };
        let earlier = member.recent.iter().filter_map(|id| self.payments.get(id)?.earlier()).collect();
        Known {
            spend: member.policy.as_ref().map(|signed| self.books.spend(&signed.policy, now)).unwrap_or_default(),
            earlier,
            payee: PayeeFacts {
                identity: PayeeStatus::Unchecked,
                payments_before: payee.and_then(|payee| self.payments_to.get(payee)).copied().unwrap_or_default(),
            },
        }
    }

    /// Forgets what no rule reaches any more.
    pub(super) fn forget(&mut self, now: Instant) {
        let from = now.minus_seconds(KEPT_SECONDS);
        while let Some((_, id)) = self.ended.front().filter(|(at, _)| *at < from) {
            self.payments.remove(id);
            self.ended.pop_front();
        }
        let payments = &self.payments;
        for member in &mut self.members {
            while member.recent.front().is_some_and(|id| !payments.contains_key(id)) {
                member.recent.pop_front();
            }
        }
        self.answered.retain(|_, answer| payments.contains_key(&answer.request));
        self.books.forget(now);
    }
}

impl Member {
    fn new(now: Instant, key: &Ed25519Key, chance: &mut Chance) -> Result<Self, String> {
        let body = lcp::Object::new().with("name", "Agent");
        let agent = Agent::create(&body.into(), now, chance).map_err(|refusal| refusal.to_string())?;
        let mut member = Self {
            agent,
            key: KeyId::fresh(chance),
            key_state: KeyState::Active,
            policy: Err(NoPolicy::Missing),
            policy_id: PolicyId::fresh(chance),
            tender: Tender::draw(chance),
            version: 0,
            consent: None,
            recent: VecDeque::new(),
        };
        member.sign_policy(key, chance)?;
        Ok(member)
    }

    /// A new version of its policy.
    pub(super) fn sign_policy(&mut self, key: &Ed25519Key, chance: &mut Chance) -> Result<(), String> {
        self.version += 1;
        let document = scene::policy(&self.policy_id, self.version, std::slice::from_ref(&self.agent.id), self.tender, chance);
        let policy = Policy::read(&document.clone().into()).map_err(|fault| fault.to_string())?;
        let sealed = sign_policy(&document, key).map_err(|error| format!("{error:?}"))?;
        self.policy = Ok(Signed { policy, sealed });
        Ok(())
    }

    pub(super) fn standing<'a>(&'a self, known: &'a Known) -> Standing<'a> {
        Standing {
            agent: self.agent.facts(),
            key: self.key_state,
            consent: self.consent.as_ref().map(|consent| (consent.id.clone(), consent.facts())),
            policy: self.policy.as_ref().map(|signed| &signed.policy),
            payee: known.payee,
            spend: &known.spend,
            earlier: &known.earlier,
        }
    }
}

impl Known {
    fn nothing() -> Self {
        let payee = PayeeFacts { identity: PayeeStatus::Unchecked, payments_before: 0 };
        Self { spend: Vec::new(), earlier: Vec::new(), payee }
    }

    pub(super) fn earlier(&self) -> &[EarlierRequest] {
        &self.earlier
    }
}
