"""Writes memos and token operations by cbor2: python3 -m pip install cbor2==6.3.0 && python3 memos.py > memos.jsonl"""

import hashlib
import json

import cbor2

H = "0x" + hashlib.sha256(b"terms").hexdigest()
TEXT = "lcp:sha256:" + H


def transfer(memo: object) -> str:
    amount = cbor2.CBORTag(4, [-6, 5_000_000])
    recipient = cbor2.CBORTag(40307, {3: bytes(32)})
    return cbor2.dumps([{"transfer": {"amount": amount, "recipient": recipient, "memo": memo}}]).hex()


memo = cbor2.dumps(TEXT)
rows = {
    "memo": memo.hex(),
    "tokenForm": cbor2.dumps(cbor2.CBORTag(24, memo)).hex(),
    "operations": [transfer(memo), transfer(cbor2.CBORTag(24, memo))],
    "short": cbor2.dumps("a" * 24).hex(),
}
print(json.dumps({"text": TEXT, **rows}))
