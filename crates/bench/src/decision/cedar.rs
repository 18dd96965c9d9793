//! Cedar's side of the question: one policy for each check that Cedar can express, named after it. Whoever forbids, is told.

use cedar_policy::{Authorizer, Context, Decision, Entities, Entity, EntityUid, PolicySet, Request, Response, RestrictedExpression as Expression};

use super::{Case, PURPOSE, TERMS, allowed, denied, screened};

const POLICIES: &str = r#"
@check("permit") permit(principal, action == Action::"pay", resource);
@check("key") @result("deny") forbid(principal, action, resource) when { context.key != "active" };
@check("agent") @result("deny") forbid(principal, action, resource) when { principal.paused };
@check("agent_covered") @result("deny") forbid(principal, action, resource) when { !Policy::"office".agents.contains(principal) };
@check("consent") @result("deny") forbid(principal, action, resource) when { context.consent == "revoked" };
@check("card_number") @result("deny") forbid(principal, action, resource) when { context.card_number };
@check("currency") @result("deny") forbid(principal, action, resource) when { context.currency != "USD" };
@check("per_payment") @result("deny") forbid(principal, action, resource) when { context.amount > 20000 };
@check("budget_day") @result("deny") forbid(principal, action, resource) when { context.day + context.amount > 50000 };
@check("budget_week") @result("deny") forbid(principal, action, resource) when { context.week + context.amount > 100000 };
@check("budget_month") @result("deny") forbid(principal, action, resource) when { context.month + context.amount > 200000 };
@check("budget_rolling_3600") @result("deny") forbid(principal, action, resource) when { context.hour + context.amount > 30000 };
@check("payee_denied") @result("deny") forbid(principal, action, resource) when { Policy::"office".denied.contains(resource.domain) };
@check("screening") @result("deny") forbid(principal, action, resource) when { Policy::"office".screened.contains(resource.domain) || TERMS };
@check("payee_known") @result("step_up") forbid(principal, action, resource) when { !Policy::"office".allowed.contains(resource.domain) };
@check("payee_identity") @result("deny") forbid(principal, action, resource) when { resource.identity == "mismatch" };
@check("category") @result("deny") forbid(principal, action, resource) when { !Policy::"office".categories.contains(context.category) };
@check("rail") @result("deny") forbid(principal, action, resource) when { !Policy::"office".rails.contains(context.rail) };
@check("agent_identity") @result("step_up") forbid(principal, action, resource) when { principal.assurance < 1 };
@check("duplicate") @result("step_up") forbid(principal, action, resource) when {
    context.earlier.contains({ "payee": resource.domain, "amount": context.amount, "currency": context.currency, "purpose": context.purpose })
};
@check("retry") @result("deny") forbid(principal, action, resource) when { context.attempts >= 3 };
@check("intent") @result("clarify") forbid(principal, action, resource) unless { context has category && context has max_total };
@check("deviation") @result("deny") forbid(principal, action, resource) when { context.amount > context.max_total };
@check("approval") @result("step_up") forbid(principal, action, resource) when { context.amount > 5000 && !context.approved };
"#;

/// The policies and what they know of agents and payees.
pub(super) struct Engine {
    authorizer: Authorizer,
    policies: PolicySet,
    entities: Entities,
}

fn name(kind: &str, id: &str) -> EntityUid {
    format!("{kind}::{id:?}").parse().unwrap()
}

fn text(text: &str) -> Expression {
    Expression::new_string(text.to_owned())
}

fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Expression {
    Expression::new_set(texts.into_iter().map(|name| text(name.as_ref())))
}

fn entity<const N: usize>(uid: EntityUid, members: [(&str, Expression); N]) -> Entity {
    Entity::new(uid, members.map(|(name, value)| (name.to_owned(), value)).into(), [].into()).unwrap()
}

impl Engine {
    pub(super) fn new() -> Self {
        let terms = TERMS.map(|term| format!("context.purpose like \"*{term}*\"")).join(" || ");
        let policies: PolicySet = POLICIES.replace("TERMS", &terms).parse().unwrap();
        let agent = name("Agent", "agt_1");
        let mut entities = vec![
            entity(agent.clone(), [("paused", Expression::new_bool(false)), ("assurance", Expression::new_long(1))]),
            entity(
                name("Policy", "office"),
                [
                    ("agents", Expression::new_set([Expression::new_entity_uid(agent)])),
                    ("allowed", texts(allowed())),
                    ("denied", texts(denied())),
                    ("screened", texts(screened())),
                    ("categories", texts(["office_supplies", "books"])),
                    ("rails", texts(["card", "ucp"])),
                ],
            ),
        ];
        entities.extend(
            allowed().iter().chain(&denied()).map(|domain| entity(name("Payee", domain), [("domain", text(domain)), ("identity", text("verified"))])),
        );
        Self { authorizer: Authorizer::new(), policies, entities: Entities::from_entities(entities, None).unwrap() }
    }

    /// The question as Cedar is asked it.
    pub(super) fn question(case: &Case) -> Request {
        let earlier = (0..4).map(|number| {
            let members = [
                ("payee", text("shop-27.example")),
                ("amount", Expression::new_long(1200 + number)),
                ("currency", text("USD")),
                ("purpose", text("Envelopes")),
            ];
            Expression::new_record(members.map(|(name, value)| (name.to_owned(), value))).unwrap()
        });
        let members = [
            ("key", text("active")),
            ("consent", text("none")),
            ("card_number", Expression::new_bool(false)),
            ("currency", text("USD")),
            ("amount", Expression::new_long(case.cents)),
            ("day", Expression::new_long(10_000)),
            ("week", Expression::new_long(10_000)),
            ("month", Expression::new_long(10_000)),
            ("hour", Expression::new_long(10_000)),
            ("purpose", text(PURPOSE)),
            ("category", text("office_supplies")),
            ("max_total", Expression::new_long(30_000)),
            ("rail", text("card")),
            ("earlier", Expression::new_set(earlier)),
            ("attempts", Expression::new_long(0)),
            ("approved", Expression::new_bool(false)),
        ];
        let context = Context::from_pairs(members.map(|(name, value)| (name.to_owned(), value))).unwrap();
        Request::new(name("Agent", "agt_1"), name("Action", "pay"), name("Payee", &case.payee), context, None).unwrap()
    }

    pub(super) fn decide(&self, question: &Request) -> Response {
        self.authorizer.is_authorized(question, &self.policies, &self.entities)
    }

    /// The strongest result that a policy gives.
    pub(super) fn decided(&self, question: &Request) -> &'static str {
        let response = self.decide(question);
        assert_eq!(response.diagnostics().errors().count(), 0);
        if response.decision() == Decision::Allow {
            return "allow";
        }
        let results: Vec<&str> = response.diagnostics().reason().filter_map(|id| self.policies.annotation(id, "result")).collect();
        ["deny", "clarify", "step_up"].into_iter().find(|result| results.contains(result)).unwrap()
    }

    /// The policies that forbid, sorted.
    pub(super) fn found(&self, question: &Request) -> Vec<String> {
        let response = self.decide(question);
        let checks = response.diagnostics().reason().filter_map(|id| self.policies.annotation(id, "check"));
        let mut found: Vec<String> = checks.filter(|check| *check != "permit").map(str::to_owned).collect();
        found.sort();
        found
    }

    pub(super) fn policies(&self) -> usize {
        self.policies.policies().count()
    }
}
