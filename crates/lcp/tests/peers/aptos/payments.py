"""Makes and reads payments with Aptos's SDK, for the unit tests of x402/exact/aptos.

    python payments.py < ours.jsonl > payments.jsonl

A line of ours.jsonl is a request of the pairing's and the payload that it makes of each of the wallet's answers. A line that is
printed is those answers, a signed transaction and JSON that lists the bytes of an unsigned one, and what the SDK reads in the
payloads.

Needs aptos-sdk (made with 0.11.0).
"""

import base64
import json
import sys

from aptos_sdk.account import Account
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.authenticator import Authenticator, Ed25519Authenticator
from aptos_sdk.bcs import Deserializer, Serializer
from aptos_sdk.transactions import EntryFunction, RawTransaction, SignedTransaction, TransactionArgument, TransactionPayload
from aptos_sdk.type_tag import StructTag, TypeTag

PAYER = Account.load_key("ed25519-priv-0x" + "07" * 32)
METADATA = TypeTag(StructTag.from_str("0x1::fungible_asset::Metadata"))


def written(value):
    serializer = Serializer()
    value.serialize(serializer)
    return serializer.output()


def answers(accepted):
    arguments = [
        TransactionArgument(AccountAddress.from_str(accepted["asset"]), Serializer.struct),
        TransactionArgument(AccountAddress.from_str(accepted["payTo"]), Serializer.struct),
        TransactionArgument(int(accepted["amount"]), Serializer.u64),
    ]
    call = EntryFunction.natural("0x1::primary_fungible_store", "transfer", [METADATA], arguments)
    chain = int(accepted["network"].removeprefix("aptos:"))
    raw = RawTransaction(PAYER.address(), 9, TransactionPayload(call), 2000, 100, 1790000600, chain)
    authenticator = Authenticator(Ed25519Authenticator(PAYER.public_key(), PAYER.sign(raw.keyed())))
    # Behind the transaction stands that it has no sponsor.
    listed = {"transaction": list(written(raw) + b"\0"), "senderAuthenticator": list(written(authenticator))}
    wires = SignedTransaction(raw, authenticator).bytes(), json.dumps(listed, separators=(",", ":")).encode()
    return [{"transaction": base64.b64encode(wire).decode()} for wire in wires]


def read(payload):
    wire = base64.b64decode(payload["transaction"])
    if wire.startswith(b"{"):
        listed = json.loads(wire)
        deserializer = Deserializer(bytes(listed["transaction"]))
        raw = RawTransaction.deserialize(deserializer)
        assert deserializer.remaining() == 1
        signed = SignedTransaction(raw, Authenticator.deserialize(Deserializer(bytes(listed["senderAuthenticator"]))))
    else:
        deserializer = Deserializer(wire)
        signed = SignedTransaction.deserialize(deserializer)
        assert deserializer.remaining() == 0 and signed.bytes() == wire
    assert signed.verify()
    raw = signed.transaction
    call = raw.payload.value
    assert (str(call.module), call.function, call.ty_args) == ("0x1::primary_fungible_store", "transfer", [METADATA])
    asset, to, amount = call.args
    hexed = lambda address: "0x" + address.hex()
    return {
        "sender": hexed(raw.sender.address), "asset": hexed(asset), "to": hexed(to),
        "amount": str(Deserializer(amount).u64()), "chain": raw.chain_id, "expiry": raw.expiration_timestamps_secs,
    }


for line in sys.stdin:
    ours = json.loads(line)
    print(json.dumps({"answers": answers(ours["request"]["accepted"]), "read": [read(payload) for payload in ours["payloads"]]}))
