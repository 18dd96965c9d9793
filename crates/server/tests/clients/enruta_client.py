"""The public Python client, unchanged, against a running server: every method that is served, each answer checked; every
other method answers that it is not available yet.

Environment: BASE (the server's URL), FIRST_START (what `POST /v0/sandbox/keys` answered), STRICT_BASE and STRICT_KEY (a server
that takes three calls at once with a key, and a key of it).
"""

import datetime
import hashlib
import inspect
import json
import os
import re
import sys
import threading
import time

import enruta
import openapi_spec_validator
from enruta.client import create_sandbox_keys, iterate

import checks
import shapes
from checks import client, holds, refused, same
from person import Person

BASE = os.environ["BASE"]
FIRST = json.loads(os.environ["FIRST_START"])
SHOP = FIRST["seller_domain"]
MILLIS = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"

agent = client(FIRST["agent_key"], BASE)
developer = client(FIRST["developer_key"], BASE)
seller = client(FIRST["seller_key"], BASE)
TYPES = enruta.types
NOBODY = {kind: f"{kind}_{'0' * 26}" for kind in ("apv", "mnd", "rec", "agt", "q")}


def body(value="12.00", purpose="printer paper", **more):
    return {"payee": {"name": "Sandbox Shop", "domain": SHOP}, "amount": {"value": value, "currency": "USD"}, "purpose": purpose, **more}


def ask(purpose, value="12.00", by=agent, **more):
    """Asks to pay; the purpose is the key, too."""
    return by.payment_requests.create(body(value, purpose, **more), idempotency_key=re.sub(r"\W", "-", purpose))


# Who the keys are.
me = agent.me()
same((me["role"], me["agent_id"], me["org_id"]), ("agent", FIRST["agent_id"], FIRST["org_id"]), "me of the agent")
holds("the prefix is the key's", FIRST["agent_key"].startswith(me["key_prefix"]) and len(me["key_prefix"]) < 24)
same((developer.me()["role"], developer.me()["agent_id"]), ("developer", None), "me of the developer")
same((seller.me()["role"], seller.me()["org_id"]), ("seller", FIRST["org_id"]), "me of the seller")

# An allowed payment, with every member that the client's types name.
digest = "sha256:" + hashlib.sha256(b"quote").hexdigest()
whole = body(
    agent_id=FIRST["agent_id"],
    checkout={"protocol": "ucp", "reference": "chk_1"},
    evidence=[{"type": "quote", "ref": f"https://{SHOP}/quote/1", "digest": digest}],
    trace={"ref": "run-1", "digest": digest},
    complete_checkout=False,
    intent={
        "text": "Paper for the printer",
        "slots": {
            "category": "office_supplies", "items": [{"description": "A4", "quantity": 2, "unit_max": "6.00"}], "quantity": 2, "max_total": "12.00",
            "currency": "USD", "payee": SHOP, "deliver_by": "2027-01-31", "substitutions_allowed": False, "recurrence": "none", "notes": "recycled",
        },
    },
    catalog_snapshot_hash=digest,
    policy_snapshot_hash=developer.policies.list()["data"][0]["hash"],
)
allowed = agent.payment_requests.create(whole, idempotency_key="paper-1")
same(checks.seen[-1][:3], ("POST", "/v0/payment-requests", 201), "create is a 201")
first_headers = dict(checks.last)
same((allowed["state"], allowed["decision"]["result"], allowed["decision"]["reasons"]), ("decided", "allow", []), "allow")
holds("every check is listed and ok", len(allowed["decision"]["checks"]) > 20 and all(check["ok"] for check in allowed["decision"]["checks"]))
holds("members that are there from the start", all(
    name in allowed
    for name in ("approval", "order", "completion", "outcome", "handoff", "risk", "reversals", "settlement", "reconciliation", "disputes", "fulfillment", "intent", "identity", "record_id", "summary")
))
same((allowed["intent"]["text"], allowed["intent"]["slots"]), (whole["intent"]["text"], whole["intent"]["slots"]), "the intent as it was given")
mandate = allowed["mandate"]
same((mandate["amount"], mandate["currency"], mandate["state"], mandate["payee"], mandate["request_id"]), ("12.00", "USD", "issued", SHOP, allowed["id"]), "the mandate")
token = mandate["credential"]["token"]
same(mandate["credential"]["type"], "token", "the credential")
holds("the token is there", token.startswith("tok_sandbox_"))
same(mandate["jws"].count("."), 2, "the mandate's JWS")

same(shapes.faults(allowed, TYPES.PaymentRequest), [], "the answer is of the client's shape")
same(shapes.lacks(allowed, TYPES.PaymentRequest), [], "with every member of it")
same(shapes.lacks(allowed["decision"], TYPES.Decision), ["judgement"], "and of the decision, but the one that no policy here asks for")
same(shapes.lacks(mandate, TYPES.Mandate), [], "and of the mandate")
same((shapes.faults(me, TYPES.Me), shapes.lacks(me, TYPES.Me)), ([], []), "me is of its shape")

# The same key replays, byte for byte; also to many at once.
same(agent.payment_requests.create(whole, idempotency_key="paper-1"), allowed, "the same key replays")
same((checks.last.get("idempotent-replayed"), first_headers.get("idempotent-replayed")), ("true", None), "and says so")
same(agent.payment_requests.create(dict(reversed(whole.items())), idempotency_key="paper-1"), allowed, "members in another order are the same body")
refused("another body under the key", 409, "idempotency_key_reused", agent.payment_requests.create, body("13.00"), idempotency_key="paper-1")
answers = []
together = [threading.Thread(target=lambda: answers.append(client(FIRST["agent_key"], BASE).payment_requests.create(body(purpose="stamps"), idempotency_key="stamps-1"))) for _ in range(8)]
[thread.start() for thread in together]
[thread.join() for thread in together]
holds("one key, eight callers, one payment", len(answers) == 8 and all(answer == answers[0] for answer in answers))
same(ask("stamps")["decision"]["reasons"], ["possible_duplicate"], "the same facts under another key ask a person")
older = body(purpose="books", checkout=None, trace=None, intent={"intent_text": "books", "constraints": {"category": "books"}, "intent_mapping": {"category": "category"}})
older = agent.payment_requests.create(older, idempotency_key="books-1")
same((older["decision"]["result"], older["intent"]["text"], older["intent"]["slots"]), ("allow", "books", {"category": "books"}), "the older form of the intent")

# Reading it again.
got = agent.payment_requests.get(allowed["id"])
same((got["mandate"]["jws"], got["mandate"]["credential"]["token"]), (mandate["jws"], token), "get shows mandate and token to its agent")
holds("get hides the token from others", checks.without_secrets(developer.payment_requests.get(allowed["id"]), [token]))
since = time.monotonic()
same(agent.payment_requests.get(allowed["id"], wait=25)["state"], "decided", "get does not wait for what waits for nobody")
holds("it answers at once", time.monotonic() - since < 10)
refused("a wait that is too long", 422, "parameter_malformed", agent.payment_requests.get, allowed["id"], wait=26)
completing = ask("ink", checkout={"protocol": "ucp", "reference": "chk_2"}, complete_checkout=True)
same((completing["completion"]["state"], completing["mandate"]["state"]), ("failed", "issued"), "completing the checkout is not available, and the mandate stays")
holds("with a code", completing["completion"]["error"])

# A denial is a success with a record; another rail ends with a person.
denied = ask("a car", "5000.00")
same((denied["decision"]["result"], denied["decision"]["retryable"], denied["decision"]["retry_after"], denied["mandate"]), ("deny", False, None, None), "deny")
holds("the reasons are codes", "over_payment_limit" in denied["decision"]["reasons"])
same(agent.records.verify(denied["record_id"])["verdict"], "verified", "a denial's record is sealed")
for protocol in ("x402", "mpp", "bill"):
    handed = ask(f"weather by {protocol}", checkout={"protocol": protocol, "reference": f"https://{SHOP}/weather"})
    same((handed["state"], handed["handoff"]["reason"], handed["mandate"]), ("handed_off", "rail_unavailable", None), f"{protocol}, which no rail serves")
    holds(f"{protocol}: what to do next", handed["handoff"]["message"] and handed["handoff"]["next_step"])
for protocol in ("card", "acp"):
    same(ask(f"paper by {protocol}", "1.00", checkout={"protocol": protocol, "reference": f"chk_{protocol}"})["mandate"]["state"], "issued", f"{protocol}, which the sandbox serves")

# A person is asked, and answers on the page while the agent waits.
person = Person()
holds("the link sets the password", "Nothing waits" not in person.set_password(FIRST["setup_url"], "a few words in a row"))


def decided(asked, verdict):
    """The request as the waiting agent gets it when the person clicks."""
    got = {}

    def wait():
        got["view"] = client(FIRST["agent_key"], BASE).payment_requests.get(asked["id"], wait=25)
        got["at"] = time.monotonic()

    waiting = threading.Thread(target=wait)
    waiting.start()
    clicked = person.decide(asked["approval"]["url"], verdict, lambda: got.update(clicked=time.monotonic()))
    waiting.join()
    holds(f"the waiting get returned by the click ({verdict})", 0 < got["at"] - got["clicked"] < 15)
    return got["view"], clicked


chair = ask("a chair", "80.00")
same((chair["state"], chair["decision"]["result"], chair["decision"]["reasons"], chair["mandate"]), ("awaiting_approval", "step_up", ["approval_required"], None), "step_up")
same(chair["approval"]["url"], f"{BASE}/approve/{chair['approval']['id']}", "the approval's page")
approval = agent.approvals.get(chair["approval"]["id"])
same((approval["state"], approval["url"], approval["expires_at"]), ("pending", chair["approval"]["url"], chair["approval"]["expires_at"]), "approvals.get")
refused("an approval of nobody", 404, "not_found", agent.approvals.get, NOBODY["apv"])
refused("a hand-off before the person answered", 409, "not_allowed_yet", agent.payment_requests.hand_off, chair["id"], {"continue_url": f"https://{SHOP}/1"})
approved, page = decided(chair, "approve")
holds("the page says so", "Approved" in page)
same((approved["state"], approved["decision"]["result"], approved["mandate"]["amount"]), ("approved", "allow", "80.00"), "approved")
holds("the waiting agent gets the token", approved["mandate"]["credential"]["token"].startswith("tok_sandbox_"))
same(agent.approvals.get(chair["approval"]["id"])["state"], "approved", "approvals.get afterwards")
same(ask("a chair", "80.00")["state"], "awaiting_approval", "the replay is still the first answer")
declined, _ = decided(ask("a table", "90.00"), "decline")
same((declined["state"], declined["mandate"]), ("declined", None), "declined")
same(agent.records.verify(declined["record_id"])["verdict"], "verified", "its record is sealed")

# Questions and answers, under a policy of another agent.
other = developer.request("POST", "/v0/agents", body={"name": "Asker"})
document = {
    "name": "Asks", "currency": "USD", "agents": [other["id"]], "payees": {"unknown": "allow"},
    "limits": {"per_payment": "100.00", "windows": [{"kind": "day", "max": "60.00"}]}, "approval": {"threshold": "20.00"},
    "intent": {"required": ["category", "quantity"]}, "require_consent": True,
}
signed = developer.request("POST", "/v0/policies", body=document)
version = developer.policies.version(signed["id"], 1)
same((version["document"]["intent"], version["version"]), ({"required": ["category", "quantity"]}, 1), "policies.version")
same((version["hash"], version["hash"] in [policy["hash"] for policy in developer.policies.list()["data"]]), (signed["hash"], True), "with its hash")
holds("and its signature", len(version["signature"]) == 86 and version["key"])
same((shapes.faults(version, TYPES.PolicyVersion), shapes.lacks(version, TYPES.PolicyVersion)), ([], []), "of its shape")
same(len(developer.policies.list()["data"]), 2, "policies.list")
refused("a version that is not there", 404, "not_found", developer.policies.version, signed["id"], 2)
refused("a version that is no number", 404, "not_found", developer.policies.version, signed["id"], "1/../2")


def ask_for_other(purpose, value="12.00", **more):
    return ask(purpose, value, developer, agent_id=other["id"], **more)


slots = {"category": "books", "quantity": 1}
same(ask_for_other("no consent", intent={"slots": slots})["decision"]["reasons"], ["consent_missing"], "a policy that requires a consent")

# Consents.
principal = {"name": "Ada"}
consent = developer.consents.create({"agent_id": other["id"], "principal": principal, "scope": {"categories": ["books"]}})
same((consent["state"], consent["revocation"], consent["source"], consent["agent_id"]), ("active", None, "api", other["id"]), "consents.create")
same((shapes.faults(consent, TYPES.Consent), shapes.lacks(consent, TYPES.Consent)), ([], []), "of its shape")
same(developer.consents.get(consent["id"])["principal"], principal, "consents.get")
same(developer.records.get(consent["record_id"])["kind"], "consent", "a consent's record")
spare = [developer.consents.create({"agent_id": FIRST["agent_id"], "principal": principal, "scope": {}}) for _ in range(2)]
same([item["id"] for item in developer.consents.list(agent_id=other["id"])["data"]], [consent["id"]], "consents.list by agent")
same([item["id"] for item in iterate(developer.consents.list, limit=1)], [spare[1]["id"], spare[0]["id"], consent["id"]], "consents.list pages, newest first")
ago = datetime.datetime(2026, 1, 2, 3, 4, 5)
zone = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
planned = developer.consents.revoke(spare[0]["id"], later.astimezone(zone), institution_notified_at=ago)
same(planned["revocation"]["effective_at"], later.isoformat(timespec="milliseconds").replace("+00:00", "Z"), "consents.revoke at a datetime of another zone")
same(planned["revocation"]["institution_notified_at"], "2026-01-02T03:04:05.000Z", "a naive datetime is one of UTC")
same((planned["state"], planned["revocation"]["cascades_scheduled"], planned["revocation"]["cascade"]), ("active", False, None), "until then it is active")
same(developer.consents.revoke(spare[1]["id"])["state"], "revoked", "consents.revoke without a body")
same(developer.consents.revoke(spare[1]["id"])["revocation"]["revoked_at"], developer.consents.get(spare[1]["id"])["revocation"]["revoked_at"], "twice is once")
same([item["id"] for item in developer.consents.list(state="revoked")["data"]], [spare[1]["id"]], "consents.list by state")
refused("a time that is none", 422, "malformed", developer.consents.revoke, spare[0]["id"], "tomorrow")

# Clarify, and what the answers lead to.
asked = ask_for_other("something", intent={"slots": {"category": "books"}})
same((asked["state"], [question["slot"] for question in asked["decision"]["questions"]], asked["mandate"]), ("awaiting_clarification", ["quantity"], None), "clarify")
question = asked["decision"]["questions"][0]
refused("an answer to no question", 422, "unknown_question", developer.clarifications.answer, asked["id"], [{"question_id": NOBODY["q"], "answer": "x"}])
answered = developer.clarifications.answer(asked["id"], [{"question_id": question["id"], "answer": "3"}], answered_by="user")
same((answered["state"], answered["decision"]["result"], answered["intent"]["slots"]["quantity"]), ("decided", "allow", 3), "clarifications.answer")
given = answered["intent"]["clarifications"][0]
same((given["answer"], given["answered_by"], given["question"]), ("3", "user", question["question"]), "the answer is kept")
refused("an answer after the end", 409, "not_awaiting_clarification", developer.clarifications.answer, asked["id"], [{"question_id": question["id"], "answer": "4"}])

# A budget says from when there is room again.
over = ask_for_other("all books", "49.00", intent={"slots": slots})
same((over["decision"]["result"], "over_budget" in over["decision"]["reasons"], over["decision"]["retryable"]), ("deny", True, True), "over the budget")
holds("from when on", re.fullmatch(MILLIS, over["decision"]["retry_after"]))

# A revocation that takes effect in a moment: its cascade releases who waits for the person.
unused = ask_for_other("a small book", "5.00", intent={"slots": slots})
pending = ask_for_other("a dear book", "25.00", intent={"slots": slots})
same((unused["mandate"]["state"], pending["state"]), ("issued", "awaiting_approval"), "what stands on the consent")
soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)
revoked = developer.consents.revoke(consent["id"], soon, True)
same((revoked["state"], revoked["revocation"]["cascades_scheduled"], revoked["revocation"]["cascade"]), ("active", True, None), "consents.revoke in two seconds")
over_by = developer.payment_requests.get(pending["id"], wait=25)
same((over_by["state"], over_by["approval"]["state"], over_by["mandate"]), ("expired", "void", None), "the wait ends when it takes effect")
revoked = developer.consents.get(consent["id"])
cascade = revoked["revocation"]["cascade"]
same((shapes.faults(revoked, TYPES.Consent), shapes.lacks(cascade, TYPES.ConsentRevocationCascade)), ([], []), "of its shape")
same((revoked["state"], cascade["agent_paused"]), ("revoked", True), "the consent is revoked")
same((set(cascade["mandates_voided"]), cascade["approvals_expired"]), ({answered["mandate"]["id"], unused["mandate"]["id"]}, [pending["approval"]["id"]]), "what the cascade ended")
same(developer.mandates.get(unused["mandate"]["id"])["state"], "void", "an unused mandate is void")
holds("the page of a void approval has nothing to click", "<form" not in person.read(pending["approval"]["url"]).split("<main")[1].split("</main")[0])

# Pausing: the agent is paused by now.
frozen = ask_for_other("anything", intent={"slots": slots})
holds("a paused agent", frozen["decision"]["result"] == "deny" and "agent_paused" in frozen["decision"]["reasons"])
same(developer.agents.resume(other["id"])["state"], "active", "agents.resume")
paused = developer.agents.pause(other["id"], "testing")
same((paused["id"], paused["state"]), (other["id"], "paused"), "agents.pause")
same(developer.agents.pause(other["id"], "again"), paused, "pausing twice is pausing once")
same(developer.agents.resume(other["id"])["state"], "active", "agents.resume again")
refused("an agent of nobody", 404, "not_found", developer.agents.pause, NOBODY["agt"], "x")
refused("a pause without a reason", 422, "too_short", developer.agents.pause, other["id"], "")

# A hand-off, its order, and the record that seals with it.
lamp = ask("a lamp")
url = f"https://{SHOP}/checkout/9"
handed = agent.payment_requests.hand_off(lamp["id"], {"continue_url": url})
same((handed["state"], handed["mandate"]["state"], handed["handoff"]["order"]), ("handed_off", "void", None), "hand_off")
same(agent.payment_requests.hand_off(lamp["id"], {"continue_url": url}), handed, "the same hand-off again")
held = agent.records.get(lamp["record_id"])
same((held["record"].get("seq"), held["kind"]), (None, "payment"), "an open record has no place yet")
bundle = agent.records.bundle(lamp["record_id"])
same((bundle["sealed"], bool(re.fullmatch(MILLIS, bundle["seals_at"]))), (False, True), "its bundle says when it seals")
same(agent.records.verify(lamp["record_id"])["verdict"], "open", "verifying an open record")
order = {"id": "ord-9", "status": "placed", "total": {"value": "12.00", "currency": "USD"}}
completed = agent.payment_requests.hand_off(lamp["id"], {"continue_url": url, "order": order})
same((completed["state"], completed["handoff"]["order"]["id"], completed["outcome"]["status"]), ("completed", "ord-9", "completed"), "hand_off with the order")
same(agent.payment_requests.hand_off(lamp["id"], {"continue_url": url, "order": order}), completed, "the same order again")
refused("another address", 409, "handoff_url_differs", agent.payment_requests.hand_off, lamp["id"], {"continue_url": url + "0"})
refused("another order", 409, "handoff_order_differs", agent.payment_requests.hand_off, lamp["id"], {"continue_url": url, "order": {**order, "id": "ord-10"}})
refused("a page of another shop", 422, "payee_mismatch", agent.payment_requests.hand_off, allowed["id"], {"continue_url": f"https://not{SHOP}/1"})
refused("a hand-off of what was denied", 409, "not_payable", agent.payment_requests.hand_off, denied["id"], {"continue_url": url})

# Mandates.
issued = agent.mandates.list(state="issued")["data"]
same({item["state"] for item in issued}, {"issued"}, "mandates.list by state")
holds("an agent sees its own", {item["agent_id"] for item in agent.mandates.list()["data"]} == {FIRST["agent_id"]})
holds("no list has a token", checks.without_secrets([agent.mandates.list(), developer.mandates.list(), agent.mandates.get(mandate["id"])], ["tok_sandbox_"]))
same({item["agent_id"] for item in developer.mandates.list(agent_id=other["id"])["data"]}, {other["id"]}, "mandates.list by agent")
same(developer.mandates.list(agent_id=other["id"], state="consumed"), {"data": [], "next_cursor": None}, "mandates.list by both")
refused("a state that is none", 422, "parameter_malformed", agent.mandates.list, state="gone")
one = agent.mandates.get(mandate["id"])
same((one["id"], one["mode"], one["refill_policy"], one["finality_class"]), (mandate["id"], "specified", "on_void_only", "conditionally_reversible"), "mandates.get")
holds("what is kept back is committed to", one["hidden_constraints_digest"].startswith("sha256:"))
refused("a mandate of nobody", 404, "not_found", agent.mandates.get, NOBODY["mnd"])

# Records.
listed = list(iterate(developer.records.list, limit=1))
same([item["seq"] for item in listed], list(reversed(range(len(listed)))), "records.list pages through all of them, newest first, each once")
same({item["id"] for item in developer.records.list()["data"]}, {item["id"] for item in listed}, "in one page as in many")
kinds = {"consent", "revocation", "pause", "resume", "payment"}
same({item["kind"] for item in listed}, kinds, "every kind that was sealed")
for kind in kinds:
    same([item["id"] for item in developer.records.list(kind=kind)["data"]], [item["id"] for item in listed if item["kind"] == kind], f"records.list of kind {kind}")
same(
    [item["id"] for item in developer.records.list(agent_id=other["id"], kind="payment")["data"]],
    [item["id"] for item in listed if item["agent_id"] == other["id"] and item["kind"] == "payment"],
    "records.list by agent and kind",
)
holds("an agent lists its own", {item["agent_id"] for item in agent.records.list()["data"]} == {FIRST["agent_id"]})
middle = listed[len(listed) // 2]["sealed_at"]
same([item["id"] for item in developer.records.list(from_=middle)["data"]], [item["id"] for item in listed if item["sealed_at"] >= middle], "records.list from a time on")
same([item["id"] for item in developer.records.list(to=middle)["data"]], [item["id"] for item in listed if item["sealed_at"] < middle], "records.list up to a time")
same(developer.records.list(**{"from": middle, "to": middle})["data"], [], "records.list of no time")
refused("a cursor that is none", 422, "parameter_malformed", developer.records.list, cursor="x")
same(developer.records.list(from_=later)["data"], [], "records.list from a datetime on, as the client writes it")
error = refused("a time that is none", 422, "parameter_malformed", developer.records.list, from_="yesterday")
holds("which says what a time looks like", "2026-11-30T12:00:00Z" in error.message)
refused("a kind that is none", 422, "parameter_malformed", developer.records.list, kind="x")
refused("an unknown parameter", 422, "unknown_parameter", developer.records.list, colour="red")
record = agent.records.get(lamp["record_id"])
same(shapes.faults(record, TYPES.RecordText), [], "of its shape")
same((record["kind"], record["record"]["id"]), ("payment", lamp["record_id"]), "records.get")
same("sha256:" + hashlib.sha256(record["text"].encode()).hexdigest(), next(item["hash"] for item in listed if item["id"] == record["id"]), "the text is what is hashed")
holds("no secret is in it", checks.without_secrets([agent.records.get(allowed["record_id"]), agent.records.bundle(denied["record_id"])], [token, "tok_sandbox_"]))
bundle = agent.records.bundle(lamp["record_id"])
same(bundle["record"]["text"], record["text"], "records.bundle holds the text")
report = agent.records.verify(lamp["record_id"])
same((report["verdict"], {check["result"] for check in report["checks"]} <= {"PASS", "SKIP"}), ("verified", True), "records.verify")
same(agent.request("POST", "/v0/records/verify", body=bundle)["verdict"], "verified", "a bundle that is sent")
changed = json.loads(json.dumps(bundle))
changed["record"]["text"] = changed["record"]["text"].replace("a lamp", "a lamb")
same(agent.request("POST", "/v0/records/verify", body=changed)["verdict"], "fails", "a bundle with a letter changed")
refused("a record of nobody", 404, "not_found", agent.records.get, NOBODY["rec"])
same(agent.records.linked(lamp["record_id"], limit=5), {"data": [], "next_cursor": None}, "records.linked of one that nothing follows from")
following = developer.records.linked(consent["record_id"])["data"]
holds("records.linked of a consent: its revocation and its payments", {"revocation", "payment"} <= {item["kind"] for item in following})
same(list(iterate(lambda **query: developer.records.linked(consent["record_id"], **query), limit=1)), following, "records.linked pages")

# The seller.
verdict = seller.sellers.verify({"mandate": mandate["jws"], "domain": SHOP})
same((verdict["valid"], verdict["reasons"], verdict["claims"]["mandate_id"]), (True, [], mandate["id"]), "sellers.verify")
same((verdict["claims"]["amount"], verdict["claims"]["payee"], verdict["claims"]["checkout"]), ("12.00", SHOP, whole["checkout"]), "the claims")
same(shapes.faults(verdict["claims"], TYPES.MandateClaims), [], "of their shape")
same(seller.sellers.verify({"mandate": mandate["jws"], "domain": SHOP}), verdict, "it changes nothing")
same(seller.sellers.verify({"mandate": mandate["jws"], "domain": "other.example"})["reasons"], ["other_payee"], "sellers.verify for another domain")
same(seller.sellers.verify({"mandate": mandate["jws"], "amount": {"value": "12.01", "currency": "USD"}})["reasons"], ["over_mandate"], "sellers.verify for more")
same(seller.sellers.verify({"mandate": lamp["mandate"]["jws"]})["reasons"], ["mandate_void"], "sellers.verify of a void one")
broken = mandate["jws"][:-6] + ("AAAA" if mandate["jws"][-6:-2] != "AAAA" else "BBBB") + mandate["jws"][-2:]
verdict = seller.sellers.verify({"mandate": broken, "domain": SHOP})
same((verdict["valid"], verdict["claims"]), (False, None), "sellers.verify of a broken one")
order = {"mandate": mandate["jws"], "order": {"id": "shop-1", "status": "placed", "total": {"value": "11.50", "currency": "USD"}}}
refused("an order of too much", 409, "over_mandate", seller.sellers.orders.observe, {**order, "order": {**order["order"], "total": {"value": "12.01", "currency": "USD"}}})
observed = seller.sellers.orders.observe(order)
same((observed["mandate_state"], observed["order"]["id"], observed["request_id"], observed["mandate_id"]), ("consumed", "shop-1", allowed["id"], mandate["id"]), "sellers.orders.observe")
same(seller.sellers.orders.observe(order), observed, "the same order again")
refused("another order with the mandate", 409, "mandate_consumed", seller.sellers.orders.observe, {**order, "order": {"id": "shop-2"}})
refused("an order with a broken mandate", 409, "jws_bad_signature", seller.sellers.orders.observe, {**order, "mandate": broken})
same(seller.sellers.verify({"mandate": mandate["jws"]})["reasons"], ["mandate_consumed"], "sellers.verify afterwards")
after = agent.payment_requests.get(allowed["id"])
same((after["state"], after["mandate"]["state"], after["order"]["id"], after["order"]["total"]["value"]), ("completed", "consumed", "shop-1", "11.50"), "the request is completed")
holds("the token is gone", checks.without_secrets(after, [token]))
same(agent.records.verify(allowed["record_id"])["verdict"], "verified", "its record is sealed and verified")
same(agent.payment_requests.create(whole, idempotency_key="paper-1"), allowed, "the replay is the first answer still")

# Settings.
secret = "https://hooks.slack.example/services/T/B/secret"
updated = developer.org.settings.update({"slack_webhook_url": secret, "psp_profile": "adyen"})
same((updated["psp_profile"], updated["slack_webhook_url_set"]), ("adyen", True), "org.settings.update")
same(developer.org.settings.get(), updated, "org.settings.get")
updated = developer.org.settings.update({"sso": {"issuer": "https://id.example", "client_id": "chancery", "client_secret": "very secret"}})
same((updated["psp_profile"], updated["sso"]["client_id"]), ("adyen", "chancery"), "what is left out stays")
holds("no secret comes back", checks.without_secrets([updated, developer.org.settings.get()], ["secret\"", "very secret", "hooks.slack"]))
same(developer.org.settings.update({"slack_webhook_url": None})["slack_webhook_url_set"], False, "null takes it away")
refused("a member that is none", 422, "unknown_member", developer.org.settings.update, {"colour": "red"})

# Who may not.
refused("an agent manages nothing", 403, "forbidden", agent.org.settings.get)
refused("an agent pauses nobody", 403, "forbidden", agent.agents.pause, other["id"], "x")
refused("an agent for another", 403, "other_agent", agent.payment_requests.create, body(agent_id=other["id"]), idempotency_key="other-1")
refused("a developer without an agent", 422, "agent_id_missing", developer.payment_requests.create, body(), idempotency_key="other-2")
refused("an agent reads no other's request", 404, "not_found", agent.payment_requests.get, asked["id"])
refused("a developer verifies no mandate", 403, "forbidden", developer.sellers.verify, {"mandate": mandate["jws"]})
refused("a seller reads no records", 403, "forbidden", seller.records.list)
refused("a key for another account", 403, "account_not_connected", agent.for_account("org_x").me)
refused("nobody's key", 401, "unauthenticated", client("enruta_agt_nobody", BASE).me)
refused("an id that would leave its place", 404, "not_found", agent.records.get, "../me")

# Sandboxes of one's own, and what another organization sees.
fresh = agent.sandbox.create_keys()
same(set(fresh), set(FIRST), "sandbox.create_keys")
holds("it is another organization", fresh["org_id"] != FIRST["org_id"] and fresh["agent_key"].startswith("enruta_agt_"))
stranger, strange_seller = client(fresh["developer_key"], BASE), client(fresh["seller_key"], BASE)
for what, call, ident in [
    ("request", stranger.payment_requests.get, allowed["id"]),
    ("record", stranger.records.get, allowed["record_id"]),
    ("bundle", stranger.records.bundle, allowed["record_id"]),
    ("report", stranger.records.verify, allowed["record_id"]),
    ("links", stranger.records.linked, allowed["record_id"]),
    ("mandate", stranger.mandates.get, mandate["id"]),
    ("approval", stranger.approvals.get, chair["approval"]["id"]),
    ("consent", stranger.consents.get, consent["id"]),
    ("consent, to revoke it", stranger.consents.revoke, consent["id"]),
    ("agent, to resume it", stranger.agents.resume, other["id"]),
]:
    refused(f"another organization's {what}", 404, "not_found", call, ident)
refused("another organization's policy", 404, "not_found", stranger.policies.version, signed["id"], 1)
same((stranger.records.list()["data"], stranger.mandates.list()["data"], stranger.consents.list()["data"]), ([], [], []), "another organization's lists")
unused = ask("a mandate for a stranger", "1.00")
same(strange_seller.sellers.verify({"mandate": unused["mandate"]["jws"]}), {"valid": False, "claims": None, "reasons": ["mandate_unknown"]}, "another organization's seller")

# Bad input.
for what, change, status, code in [
    ("a negative amount", body("-5"), 422, "amount_malformed"),
    ("an amount of nothing", body("0.00"), 422, "amount_zero"),
    ("a fraction of a cent", body("5.001"), 422, "amount_precision"),
    ("a number for an amount", {**body(), "amount": {"value": 5, "currency": "USD"}}, 422, "wrong_type"),
    ("an unknown currency", {**body(), "amount": {"value": "5", "currency": "XXY"}}, 422, "unknown_currency"),
    ("an unknown member", body(colour="red"), 422, "unknown_member"),
    ("a look-alike domain", {**body(), "payee": {"domain": "p\u0430ypal.com"}}, 422, "domain_confusable"),
    ("a purpose that is too long", body(purpose="x" * 100_000), 422, "too_long"),
    ("a purpose of a mebibyte", body(purpose="x" * (1 << 20)), 413, "body_too_large"),
    ("a card number", body(purpose="pay with 4242 4242 4242 4242"), 422, "card_number_rejected"),
    ("a card number for a name", body(intent={"slots": {"4111111111111111": "x"}}), 422, "card_number_rejected"),
]:
    error = refused(what, status, code, agent.payment_requests.create, change, idempotency_key="bad")
    holds(what + ", not repeated", error and "4242" not in f"{error} {error.details}" and "4111" not in f"{error} {error.details}")
holds("nothing was kept under the key", agent.payment_requests.create(body("2.00", "good"), idempotency_key="bad")["id"])
refused("a key that is none", 400, "idempotency_key_invalid", agent.payment_requests.create, body(), idempotency_key="a b")

# Every state that a request was seen in, in the client's shape.
views = [allowed, older, completing, denied, chair, approved, declined, asked, answered, over, pending, over_by, frozen, handed, completed, after]
for view in views:
    same((shapes.faults(view, TYPES.PaymentRequest), shapes.lacks(view, TYPES.PaymentRequest)), ([], []), f"a request that is {view['state']}")
same({view["state"] for view in views}, {"decided", "awaiting_clarification", "awaiting_approval", "approved", "handed_off", "declined", "expired", "completed"}, "all states but the one that no rail reaches yet")

# Every operation of the client that is served was driven to an answer; every other one says that it is not available.
document = agent.request("GET", "/v0/openapi.json")
openapi_spec_validator.validate(document)
operations = checks.operations(document)
not_served = 0
for name, method in checks.methods(agent):
    if name in operations and operations[name].is_driven():
        same(True, True, f"{name} was driven")
        continue
    given = {
        parameter.name: checks.stand_in(parameter)
        for parameter in inspect.signature(method).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    }
    refused(name, 501, "not_available", method, **given)
    not_served += 1
holds("methods that are not served", not_served > 60)
for name, operation in operations.items():
    same(operation.faults(), [], f"every answer to {name} is as the OpenAPI document says")

# Too often: how long to wait, in whole seconds.
strict = client(os.environ["STRICT_KEY"], os.environ["STRICT_BASE"])
same([strict.me()["role"] for _ in range(3)], ["agent"] * 3, "as often as the limit allows")
limited = refused("once more", 429, "rate_limited", strict.me)
holds("RateLimitError says for how long", isinstance(limited, enruta.RateLimitError) and type(limited.retry_after) is int and 1 <= limited.retry_after <= 2)
limited = None
for _ in range(12):
    try:
        create_sandbox_keys(base_url=BASE)
    except enruta.RateLimitError as error:
        limited = error
        break
holds("sandbox keys have a limit of their own", limited and limited.code == "rate_limited" and 60 < limited.retry_after <= 360)
same(agent.me()["role"], "agent", "which stops nothing else")

print(f"{len(checks.done)} answers checked")
sys.exit(1 if checks.wrong else 0)
