"""The public Python client, unchanged, against a running server: every method that is served, each answer checked.

Environment: BASE (the server's URL) and FIRST_START (what `POST /v0/sandbox/keys` would answer: the keys of a sandbox).
"""

import datetime
import hashlib
import json
import os
import sys

import enruta
from enruta.client import create_sandbox_keys, iterate

BASE = os.environ["BASE"]
FIRST = json.loads(os.environ["FIRST_START"])
SHOP = FIRST["seller_domain"]

agent = enruta.Enruta(FIRST["agent_key"], base_url=BASE)
developer = enruta.Enruta(FIRST["developer_key"], base_url=BASE)
seller = enruta.Enruta(FIRST["seller_key"], base_url=BASE)
done = []


def same(got, want, what):
    if got != want:
        sys.exit(f"{what}: got {got!r}, not {want!r}")
    done.append(what)


def holds(what, claim):
    same(bool(claim), True, what)


def refused(what, status, code, call, *args, **kwargs):
    try:
        answer = call(*args, **kwargs)
    except enruta.EnrutaError as error:
        same((error.status, error.code), (status, code), what)
        holds(what + " has a request id", error.request_id)
        return error
    sys.exit(f"{what}: answered {answer!r}")


def body(value="12.00", purpose="printer paper", **more):
    return {"payee": {"name": "Sandbox Shop", "domain": SHOP}, "amount": {"value": value, "currency": "USD"}, "purpose": purpose, **more}


# Who the keys are.
me = agent.me()
same((me["role"], me["agent_id"], me["org_id"]), ("agent", FIRST["agent_id"], FIRST["org_id"]), "me of the agent")
holds("the prefix is the key's", FIRST["agent_key"].startswith(me["key_prefix"]) and len(me["key_prefix"]) < 24)
same((developer.me()["role"], developer.me()["agent_id"]), ("developer", None), "me of the developer")
same(seller.me()["role"], "seller", "me of the seller")

# An allowed payment, with every member that the client's types name.
digest = "sha256:" + hashlib.sha256(b"quote").hexdigest()
whole = body(
    checkout={"protocol": "ucp", "reference": "chk_1"},
    evidence=[{"type": "quote", "ref": f"https://{SHOP}/quote/1", "digest": digest}],
    trace={"ref": "run-1", "digest": digest},
    complete_checkout=False,
    intent={"text": "Paper for the printer", "slots": {"category": "office_supplies", "items": [{"description": "A4", "quantity": 2, "unit_max": "6.00"}], "max_total": "12.00", "currency": "USD"}},
    catalog_snapshot_hash=digest,
    policy_snapshot_hash=developer.policies.list()["data"][0]["hash"],
)
allowed = agent.payment_requests.create(whole, idempotency_key="paper-1")
same((allowed["state"], allowed["decision"]["result"], allowed["decision"]["reasons"]), ("decided", "allow", []), "allow")
holds("every check is listed and ok", len(allowed["decision"]["checks"]) > 20 and all(check["ok"] for check in allowed["decision"]["checks"]))
mandate = allowed["mandate"]
same((mandate["amount"], mandate["currency"], mandate["state"], mandate["payee"]), ("12.00", "USD", "issued", SHOP), "the mandate")
same(mandate["credential"]["type"], "token", "the credential")
holds("the token is there", mandate["credential"]["token"].startswith("tok_sandbox_"))
same(mandate["jws"].count("."), 2, "the mandate's JWS")
same(agent.payment_requests.create(whole, idempotency_key="paper-1"), allowed, "the same key replays")
refused("another body under the key", 409, "idempotency_key_reused", agent.payment_requests.create, body("13.00"), idempotency_key="paper-1")
older = body(purpose="books", checkout=None, trace=None, intent={"intent_text": "books", "constraints": {"category": "books"}, "intent_mapping": {"category": "category"}})
same(agent.payment_requests.create(older, idempotency_key="books-1")["decision"]["result"], "allow", "the older form of the intent")
same(agent.payment_requests.get(allowed["id"])["mandate"]["jws"], mandate["jws"], "get shows the mandate to its agent")
holds("get hides the token from others", "token" not in developer.payment_requests.get(allowed["id"])["mandate"]["credential"])
same(agent.payment_requests.get(allowed["id"], wait=25)["state"], "decided", "get does not wait for what waits for nobody")
completing = agent.payment_requests.create(body(purpose="ink", checkout={"protocol": "ucp", "reference": "chk_2"}, complete_checkout=True), idempotency_key="ink-1")
same((completing["completion"]["state"], completing["mandate"]["state"]), ("failed", "issued"), "completing the checkout is not available, and the mandate stays")

# A denial is a success with a record; another rail ends with a person.
denied = agent.payment_requests.create(body("5000.00", "a car"), idempotency_key="car-1")
same((denied["decision"]["result"], denied["decision"]["retryable"], denied.get("mandate")), ("deny", False, None), "deny")
holds("the reasons are codes", "over_payment_limit" in denied["decision"]["reasons"])
same(agent.records.verify(denied["record_id"])["verdict"], "verified", "a denial's record is sealed")
handed = agent.payment_requests.create(body(purpose="weather", checkout={"protocol": "x402", "reference": f"https://{SHOP}/weather"}), idempotency_key="x402-1")
same((handed["state"], handed["handoff"]["reason"], handed["mandate"]), ("handed_off", "rail_unavailable", None), "a protocol that no rail serves")

# A person is asked.
waiting = agent.payment_requests.create(body("80.00", "a chair"), idempotency_key="chair-1")
same((waiting["state"], waiting["decision"]["reasons"], waiting["mandate"]), ("awaiting_approval", ["approval_required"], None), "step_up")
approval = agent.approvals.get(waiting["approval"]["id"])
same((approval["state"], approval["url"]), ("pending", f"{BASE}/approve/{waiting['approval']['id']}"), "approvals.get")
refused("an approval of nobody", 404, "not_found", agent.approvals.get, "apv_00000000000000000000000000")

# Questions and answers, under a policy of another agent.
other = developer.request("POST", "/v0/agents", body={"name": "Asker"})
document = {"name": "Asks", "currency": "USD", "agents": [other["id"]], "payees": {"unknown": "allow"}, "limits": {"per_payment": "100.00"}, "intent": {"required": ["category"]}}
signed = developer.request("POST", "/v0/policies", body=document)
same(developer.policies.version(signed["id"], 1)["document"]["intent"], {"required": ["category"]}, "policies.version")
same(len(developer.policies.list()["data"]), 2, "policies.list")
asked = developer.payment_requests.create({**body(purpose="something"), "agent_id": other["id"]}, idempotency_key="asked-1")
same((asked["state"], asked["decision"]["questions"][0]["slot"]), ("awaiting_clarification", "category"), "clarify")
answers = [{"question_id": asked["decision"]["questions"][0]["id"], "answer": "books"}]
refused("an answer to no question", 422, "unknown_question", developer.clarifications.answer, asked["id"], [{"question_id": "q_00000000000000000000000000", "answer": "x"}])
answered = developer.clarifications.answer(asked["id"], answers, answered_by="user")
same((answered["state"], answered["decision"]["result"], answered["intent"]["slots"]["category"]), ("decided", "allow", "books"), "clarifications.answer")

# A hand-off, its order, and the record that seals with it.
to_hand = agent.payment_requests.create(body(purpose="a lamp"), idempotency_key="lamp-1")
url = f"https://{SHOP}/checkout/9"
first = agent.payment_requests.hand_off(to_hand["id"], {"continue_url": url})
same((first["state"], first["mandate"]["state"], first["handoff"]["order"]), ("handed_off", "void", None), "hand_off")
same(json.loads(agent.request("GET", f"/v0/records/{to_hand['record_id']}", expect="text")).get("seq"), None, "an open record has no place yet")
same(agent.records.verify(to_hand["record_id"])["verdict"], "open", "verifying an open record")
second = agent.payment_requests.hand_off(to_hand["id"], {"continue_url": url, "order": {"id": "ord-9", "status": "placed", "total": {"value": "12.00", "currency": "USD"}}})
same((second["state"], second["handoff"]["order"]["id"]), ("completed", "ord-9"), "hand_off with the order")
refused("another address", 409, "handoff_url_differs", agent.payment_requests.hand_off, to_hand["id"], {"continue_url": url + "0"})

# Mandates and records.
same({item["state"] for item in agent.mandates.list(state="issued")["data"]}, {"issued"}, "mandates.list by state")
holds("no list has a token", "tok_sandbox_" not in json.dumps(agent.mandates.list()))
same(developer.mandates.list(agent_id=other["id"])["data"][0]["agent_id"], other["id"], "mandates.list by agent")
one = agent.mandates.get(mandate["id"])
same((one["id"], one["mode"], one["refill_policy"], one["finality_class"]), (mandate["id"], "specified", "on_void_only", "conditionally_reversible"), "mandates.get")
holds("what is kept back is committed to", one["hidden_constraints_digest"].startswith("sha256:"))
listed = list(iterate(developer.records.list, limit=1))
holds("records.list pages", len(listed) >= 2 and len({item["id"] for item in listed}) == len(listed))
same([item["kind"] for item in developer.records.list(kind="payment", agent_id=FIRST["agent_id"], limit=1)["data"]], ["payment"], "records.list filters")
same(developer.records.list(from_="2099-01-01T00:00:00Z")["data"], [], "records.list by time")
record = agent.records.get(to_hand["record_id"])
same((record["kind"], record["record"]["id"]), ("payment", to_hand["record_id"]), "records.get")
bundle = agent.records.bundle(to_hand["record_id"])
same(bundle["record"]["text"], record["text"], "records.bundle holds the text")
report = agent.records.verify(to_hand["record_id"])
same((report["verdict"], {check["result"] for check in report["checks"]} <= {"PASS", "SKIP"}), ("verified", True), "records.verify")
same(agent.records.linked(to_hand["record_id"], limit=5)["data"], [], "records.linked")

# The seller.
verdict = seller.sellers.verify({"mandate": mandate["jws"], "domain": SHOP})
same((verdict["valid"], verdict["reasons"], verdict["claims"]["mandate_id"]), (True, [], mandate["id"]), "sellers.verify")
broken = mandate["jws"][:-4] + ("AAAA" if mandate["jws"][-4:] != "AAAA" else "BBBB")
same(seller.sellers.verify({"mandate": broken, "domain": SHOP})["valid"], False, "sellers.verify of a broken one")
order = {"mandate": mandate["jws"], "order": {"id": "shop-1", "status": "placed", "total": {"value": "12.00", "currency": "USD"}}}
observed = seller.sellers.orders.observe(order)
same((observed["mandate_state"], observed["order"]["id"]), ("consumed", "shop-1"), "sellers.orders.observe")
same(seller.sellers.orders.observe(order), observed, "the same order again")
refused("another order with the mandate", 409, "mandate_consumed", seller.sellers.orders.observe, {**order, "order": {"id": "shop-2"}})
after = agent.payment_requests.get(allowed["id"])
same((after["state"], after["mandate"]["state"], after["order"]["id"]), ("completed", "consumed", "shop-1"), "the request is completed")
holds("the token is gone", "tok_sandbox_" not in json.dumps(after))

# Agents, consents, settings.
same(developer.agents.pause(other["id"], "testing")["state"], "paused", "agents.pause")
frozen = developer.payment_requests.create({**body(purpose="anything"), "agent_id": other["id"]}, idempotency_key="frozen-1")
same((frozen["decision"]["result"], "agent_paused" in frozen["decision"]["reasons"]), ("deny", True), "a paused agent")
same(developer.agents.resume(other["id"])["state"], "active", "agents.resume")
consent = developer.consents.create({"agent_id": other["id"], "principal": {"name": "Ada"}, "scope": {"categories": ["books"]}})
same((consent["state"], consent["revocation"]), ("active", None), "consents.create")
same(developer.consents.get(consent["id"])["principal"], {"name": "Ada"}, "consents.get")
same([item["id"] for item in developer.consents.list(agent_id=other["id"])["data"]], [consent["id"]], "consents.list")
later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
revoked = developer.consents.revoke(consent["id"], later, True)
same((revoked["state"], revoked["revocation"]["cascades_scheduled"], revoked["revocation"]["cascade"]), ("active", True, None), "consents.revoke at a time")
revoked = developer.consents.revoke(consent["id"], cascades_scheduled=True)
same((revoked["state"], revoked["revocation"]["cascade"]["agent_paused"]), ("revoked", True), "consents.revoke now")
same(agent.records.verify(allowed["record_id"])["verdict"], "verified", "records stay verified")
updated = developer.org.settings.update({"slack_webhook_url": "https://hooks.slack.example/services/T/B/secret", "psp_profile": "adyen"})
same((updated["psp_profile"], updated["slack_webhook_url_set"]), ("adyen", True), "org.settings.update")
holds("the secret never comes back", "secret" not in json.dumps(developer.org.settings.get()))

# Who may not.
refused("an agent manages nothing", 403, "forbidden", agent.org.settings.get)
refused("a developer verifies no mandate", 403, "forbidden", developer.sellers.verify, {"mandate": mandate["jws"]})
refused("a seller reads no records", 403, "forbidden", seller.records.list)
refused("nobody's key", 401, "unauthenticated", enruta.Enruta("enruta_agt_nobody", base_url=BASE).me)
fresh = create_sandbox_keys(base_url=BASE)
holds("sandbox keys", fresh["agent_key"].startswith("enruta_agt_") and fresh["org_id"] != FIRST["org_id"])
same(agent.sandbox.create_keys()["agent_key"].startswith("enruta_agt_"), True, "sandbox.create_keys")
stranger = enruta.Enruta(fresh["developer_key"], base_url=BASE)
for what, call, ident in [
    ("request", stranger.payment_requests.get, allowed["id"]),
    ("record", stranger.records.get, allowed["record_id"]),
    ("mandate", stranger.mandates.get, mandate["id"]),
    ("approval", stranger.approvals.get, waiting["approval"]["id"]),
    ("consent", stranger.consents.get, consent["id"]),
]:
    refused(f"another organization's {what}", 404, "not_found", call, ident)

# Bad input.
for what, change in {
    "a negative amount": body("-5"),
    "a fraction of a cent": body("5.001"),
    "an unknown currency": {**body(), "amount": {"value": "5", "currency": "XXY"}},
    "an unknown member": body(colour="red"),
    "a look-alike domain": {**body(), "payee": {"domain": "p\u0430ypal.com"}},
    "a purpose of a mebibyte": body(purpose="x" * (1 << 20)),
}.items():
    error = None
    try:
        agent.payment_requests.create(change, idempotency_key="bad")
    except enruta.EnrutaError as caught:
        error = caught
    holds(what, error is not None and error.status in (413, 422) and error.code)
refused("a card number", 422, "card_number_rejected", agent.payment_requests.create, body(purpose="pay with 4242 4242 4242 4242"), idempotency_key="bad")
refused("an unknown parameter", 422, "unknown_parameter", developer.records.list, colour="red")

# What is not served yet says so.
for what, call, args in [
    ("pay_resource", agent.payment_requests.pay_resource, (allowed["id"], f"https://{SHOP}/weather")),
    ("merchants.identity", agent.merchants.identity, (SHOP,)),
    ("economics.for_payment", agent.economics.for_payment, (allowed["id"],)),
    ("records.psp_metadata", developer.records.psp_metadata, (allowed["record_id"], "stripe")),
    ("exports.create", developer.exports.create, ({},)),
    ("reversals.create", agent.reversals.create, ({"record_id": allowed["record_id"], "kind": "refund", "reason_code": "other"},)),
    ("settlements.get", agent.settlements.get, (allowed["record_id"],)),
    ("reconciliation.report", developer.reconciliation.report, ("2026-W49",)),
    ("disputes.list", developer.disputes.list, ()),
    ("attestations.nonce", developer.attestations.nonce, ()),
    ("agents.identity", developer.agents.identity, (other["id"],)),
    ("recurrences.list", developer.recurrences.list, ()),
    ("approval_delegations.list", developer.approval_delegations.list, ()),
    ("org.verification.get", developer.org.verification.get, ()),
    ("billing.overview", developer.billing.overview, ()),
    ("rails.list", developer.rails.list, ()),
    ("storefronts.list", seller.storefronts.list, ()),
    ("sellers.domains.list", seller.sellers.domains.list, ()),
]:
    refused(what, 501, "not_available", call, *args)

print(f"{len(done)} answers checked")
