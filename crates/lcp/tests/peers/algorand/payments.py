"""Signs and reads payments with Algorand's SDK, for the unit tests of x402/exact/algorand.

    python payments.py < ours.jsonl > payments.jsonl

A line of ours.jsonl is a request of the pairing's and the payload that it makes of the wallet's answer. A line that is printed
is that answer, and what the SDK reads in the payload: every transaction's members, whether it is signed, and the fee that the
SDK asks for such a transaction at each fee per byte.

Needs py-algorand-sdk (made with 2.12.0).
"""

import base64
import json
import sys

from algosdk import account, encoding, transaction
from algosdk.transaction import SuggestedParams
from nacl.signing import SigningKey, VerifyKey

SEED = bytes([1]) * 32
KEY = base64.b64encode(SEED + bytes(SigningKey(SEED).verify_key)).decode()


def decoded(wire):
    """The transaction, and its signature if there is one."""
    text = base64.b64encode(wire).decode()
    read = encoding.msgpack_decode(text)
    if isinstance(read, transaction.SignedTransaction):
        assert encoding.msgpack_encode(read) == text
        return read.transaction, base64.b64decode(read.signature)
    # Without a signature, the SDK reads the transaction inside.
    txn = base64.b64decode(encoding.msgpack_encode(read))
    assert wire in (txn, b"\x81\xa3txn" + txn)
    return read, None


def answer(request):
    wire = bytes.fromhex(request["bytes"][2:])
    assert wire.startswith(b"TX")
    txn, _ = decoded(wire[2:])
    assert txn.sender == account.address_from_private_key(KEY)
    return "0x" + base64.b64decode(txn.sign(KEY).signature).hex()


def fee(txn, per_byte):
    params = SuggestedParams(per_byte, txn.first_valid_round, txn.last_valid_round, txn.genesis_hash, gen=txn.genesis_id, min_fee=1000)
    if txn.type == "pay":
        return transaction.PaymentTxn(txn.sender, params, txn.receiver, txn.amt, note=txn.note).fee
    return transaction.AssetTransferTxn(txn.sender, params, txn.receiver, txn.amount, txn.index, note=txn.note).fee


def members(txn, signature):
    if signature is not None:
        signed = b"TX" + base64.b64decode(encoding.msgpack_encode(txn))
        VerifyKey(encoding.decode_address(txn.sender)).verify(signed, signature)
    return {
        "type": txn.type,
        "sender": txn.sender,
        "to": txn.receiver,
        "amount": txn.amt if txn.type == "pay" else txn.amount,
        "asset": getattr(txn, "index", None),
        "note": (txn.note or b"").decode(),
        "fee": txn.fee,
        "first": txn.first_valid_round,
        "last": txn.last_valid_round,
        "genesisId": txn.genesis_id,
        "genesisHash": txn.genesis_hash,
        "signed": signature is not None,
        "fees": {per_byte: fee(txn, per_byte) for per_byte in (0, 7)},
    }


def read(payload):
    entries = [decoded(base64.b64decode(entry)) for entry in payload["paymentGroup"]]
    transactions = [txn for txn, _ in entries]
    groups = [txn.group for txn in transactions]
    printed = [members(*entry) for entry in entries]
    for txn in transactions:
        txn.group = None
    group = transaction.calculate_group_id(transactions) if len(entries) > 1 else None
    assert groups == [group] * len(entries) and payload["paymentIndex"] == len(entries) - 1
    return printed


for line in sys.stdin:
    ours = json.loads(line)
    print(json.dumps({"answer": answer(ours["request"]), "read": "payload" in ours and read(ours["payload"])}))
