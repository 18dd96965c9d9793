"""Checks a bundle, and the log it points into, with libraries that this project did not write.

    python verify.py BUNDLE.json JWKS.json [LOG_FOLDER]

The bundle: RFC 8785 text by rfc8785, Ed25519 by cryptography, key ids and the mandate's JWS by joserfc, the checkpoint's
note and the inclusion proof by tlog-scales. The log folder holds the checkpoint and tiles as they are served, with
records.txt (a record's text on each line) and consistency.json: its tiles are read by tlog-scales, and its tree is built
once more by pymerkle. Prints a line for each check, and ends with status 1 at the first that fails.
"""

import base64
import hashlib
import json
import sys
from pathlib import Path

import pymerkle
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from joserfc import jwk, jws
from tlog_scales.backend import LocalBackend
from tlog_scales.reader import TilesReader
from tlog_scales.signing import Vkey
from tlog_scales.tiles import leaf_hash
from tlog_scales.tlog import Checkpoint, ConsistencyProof, InclusionProof


def base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def hashes(texts: list[str]) -> list[bytes]:
    return [base64.b64decode(text, validate=True) for text in texts]


def equal(found, expected):
    if found != expected:
        raise ValueError(f"{found!r} is not {expected!r}")


def keys_of(jwks: dict) -> dict[str, bytes]:
    keys = {}
    for key in jwks["keys"]:
        equal(jwk.OKPKey.import_key(key).thumbprint(), key["kid"])
        keys[key["kid"]] = base64url(key["x"])
    return keys


def signed(sealed: dict, keys: dict[str, bytes]) -> dict:
    """A record or policy document: its canonical text, its hash, and the signature over exactly the text's bytes."""
    text = sealed["text"].encode()
    value = json.loads(text)
    equal(rfc8785.dumps(value), text)
    equal(sealed["hash"], digest(text))
    Ed25519PublicKey.from_public_bytes(keys[sealed["kid"]]).verify(base64url(sealed["signature"]), text)
    return value


def note(text: str, keys: dict[str, bytes]) -> Checkpoint:
    checkpoint = Checkpoint.from_text(text)
    vkeys = [Vkey(checkpoint.origin, None, 1, key) for key in keys.values()]
    mine = [vkey for vkey in vkeys if any(vkey.match(signature) for signature in checkpoint.signatures)]
    equal(bool(mine), True)
    for vkey in mine:
        checkpoint.verify(vkey)
    return checkpoint


def names(record: dict, member: str) -> list[str]:
    return [item["digest"] for item in record.get(member) or []]


def check_bundle(bundle: dict, jwks: dict):
    def keys():
        trusted = keys_of(jwks)
        for kid, key in keys_of(bundle["jwks"]).items():
            equal(trusted.get(kid), key)
        return trusted

    trusted = yield "keys", keys
    record = yield "record", lambda: signed(bundle["record"], trusted)
    yield "format", lambda: equal((record["format"], bundle["format"], bundle["kind"], bundle["sealed"]), ("enruta/0.3", "enruta/0.3", "bundle", True))

    def chain():
        previous = signed(bundle["previous"], trusted)
        equal((record["seq"], record["org"]), (previous["seq"] + 1, previous["org"]))
        equal(record["prev"], digest(bundle["previous"]["text"].encode()))

    yield "chain", chain
    checkpoint = yield "checkpoint", lambda: note(bundle["log"]["checkpoint"], trusted)
    yield "origin", lambda: equal(checkpoint.origin.rsplit("/")[-1], record["org"])

    def inclusion():
        equal(bundle["log"]["index"], record["seq"])
        leaf = leaf_hash(hashlib.sha256(bundle["record"]["text"].encode()).digest())
        proof = InclusionProof(record["seq"], checkpoint.size, hashes(bundle["log"]["proof"]))
        proof.check(leaf, checkpoint.root_hash)

    yield "inclusion", inclusion

    def linked():
        parents = [{"id": signed(parent, trusted)["id"], "hash": parent["hash"]} for parent in bundle["parents"]]
        equal(parents, record["parents"])
        own = {"id": record["id"], "hash": bundle["record"]["hash"]}
        for child in bundle["children"]:
            equal(own in signed(child, trusted)["parents"], True)

    yield "linked", linked

    def policy():
        document = signed(bundle["policy"], trusted)
        equal("format" in document, False)
        found = {"id": document["id"], "version": document["version"], "hash": bundle["policy"]["hash"]}
        equal(found, record["policy"])

    yield "policy", policy

    def mandate():
        stated = record["mandate"]
        equal(digest(bundle["mandate"].encode()), stated["digest"])
        header = json.loads(base64url(bundle["mandate"].split(".")[0]))
        key = jwk.OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": base64.urlsafe_b64encode(trusted[header["kid"]]).decode().rstrip("=")})
        token = jws.deserialize_compact(bundle["mandate"], key, algorithms=["EdDSA"])
        equal(token.headers()["typ"], "enruta-mandate+jwt")
        claims = json.loads(token.payload)
        for claim, member in [("mandate_id", "id"), ("amount", "amount"), ("currency", "currency"), ("payee", "payee"), ("agent", "agent_id")]:
            equal(claims[claim], stated[member])

    yield "mandate", mandate

    def contents():
        for member in ("evidence", "receipts"):
            found = [digest(base64.b64decode(item["content"], validate=True)) for item in bundle[member]]
            equal(found, names(record, member))
            equal(found, [item["digest"] for item in bundle[member]])
        terms = "0x" + hashlib.sha256(base64.b64decode(bundle["terms"]["atr"], validate=True)).hexdigest()
        equal((terms, terms), (bundle["terms"]["hash"], record["terms"]["hash"]))

    yield "contents", contents


def check_log(folder: Path, bundle: dict, jwks: dict):
    trusted = keys_of(jwks)
    texts = (folder / "records.txt").read_bytes().splitlines()
    leaves = [hashlib.sha256(text).digest() for text in texts]
    reader = TilesReader(LocalBackend(folder))

    def checkpoint():
        text = (folder / "checkpoint").read_text()
        equal(text, bundle["log"]["checkpoint"])
        reader.get_checkpoint()
        return note(text, trusted)

    head = yield "log checkpoint", checkpoint

    def chain():
        previous = None
        for seq, text in enumerate(texts):
            record = json.loads(text)
            equal((record["seq"], record.get("prev")), (seq, previous))
            previous = digest(text)
        equal(len(texts), head.size)

    yield "log chain", chain

    def tiles():
        equal(reader.calculate_root_hash(), head.root_hash)
        equal([reader.mth(index, index + 1) for index in range(head.size)], [leaf_hash(leaf) for leaf in leaves])

    yield "log tiles", tiles
    yield "log entries", lambda: equal([reader.get_entry(index) for index in range(head.size)], leaves)

    tree = pymerkle.InmemoryTree(algorithm="sha256")
    tree.append_entries(leaves)

    def rebuilt():
        equal(tree.get_root(), head.root_hash)
        index = bundle["log"]["index"]
        proof = tree.prove_inclusion(index + 1)
        leaf = tree.get_leaf(index + 1)
        # Its paths begin with the leaf itself. The bundle's proof takes the place of the one it made.
        proof.path = [leaf, *hashes(bundle["log"]["proof"])]
        pymerkle.verify_inclusion(leaf, head.root_hash, proof, index=index + 1, size=head.size)

    yield "log tree", rebuilt

    def consistency():
        stated = json.loads((folder / "consistency.json").read_text())
        old = note(stated["checkpoint"], trusted)
        equal(tree.get_root(old.size), old.root_hash)
        proof = ConsistencyProof(old.size, head.size, hashes(stated["proof"]))
        proof.check(old.root_hash, head.root_hash)
        equal(reader.get_consistency_proof(old.size, head.size).node_hashes, proof.node_hashes)

    yield "log consistency", consistency


def run(checks):
    """Makes each check, and gives it back what it found."""
    found = None
    while True:
        try:
            name, check = checks.send(found)
        except StopIteration:
            return
        try:
            found = check()
        except Exception as fault:  # whatever a library raises is a check that failed
            print(f"FAIL {name}: {type(fault).__name__} {fault}")
            sys.exit(1)
        print(f"PASS {name}")


if __name__ == "__main__":
    bundle, jwks = (json.loads(Path(path).read_bytes()) for path in sys.argv[1:3])
    run(check_bundle(bundle, jwks))
    if len(sys.argv) > 3:
        run(check_log(Path(sys.argv[3]), bundle, jwks))
