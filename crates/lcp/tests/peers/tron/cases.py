"""Makes TRC-20 transfers with the public library's protobuf messages, for the unit tests of wire/tron.

    python cases.py > cases.json

A case is what goes into a transaction, its raw bytes, what is signed, and the transaction with one signature. The script
reads every transaction back with the library.

Needs tronpy (made with 0.6.2) and protobuf.
"""

import hashlib
import json

from google.protobuf.any_pb2 import Any
from tronpy.keys import to_base58check_address, to_raw_address
from tronpy.proto import tron_pb2


def address(seed):
    return to_base58check_address(b"\x41" + hashlib.sha256(seed.encode()).digest()[:20])


def case(name, number, block, expiration, memo, amount, timestamp, fee_limit):
    owner, contract, to = address(name), address("token"), address("payee")
    data = bytes.fromhex("a9059cbb") + to_raw_address(to)[1:].rjust(32, b"\0") + amount.to_bytes(32, "big")
    trigger = tron_pb2.TriggerSmartContract(owner_address=to_raw_address(owner), contract_address=to_raw_address(contract), data=data)
    parameter = Any()
    parameter.Pack(trigger)
    raw = tron_pb2.Transaction.raw(
        ref_block_bytes=number.to_bytes(8, "big")[6:], ref_block_hash=block[8:16], expiration=expiration, data=memo.encode(),
        timestamp=timestamp, fee_limit=fee_limit,
        contract=[tron_pb2.Transaction.Contract(type=tron_pb2.Transaction.Contract.TriggerSmartContract, parameter=parameter)],
    )
    bytes_ = raw.SerializeToString()
    signature = bytes(range(64)) + b"\x01"
    wire = tron_pb2.Transaction(raw_data=raw, signature=[signature]).SerializeToString()
    read = tron_pb2.Transaction.FromString(wire)
    assert read.raw_data == raw and list(read.signature) == [signature] and read.SerializeToString() == wire
    return {
        "name": name, "owner": owner, "contract": contract, "to": to, "number": str(number), "block": "0x" + block.hex(),
        "expiration": str(expiration), "memo": memo, "amount": str(amount), "timestamp": str(timestamp), "feeLimit": str(fee_limit),
        "raw": bytes_.hex(), "txid": hashlib.sha256(bytes_).hexdigest(), "signature": signature.hex(), "transaction": wire.hex(),
    }


LCP = "lcp:sha256:0x" + "ab" * 32
print(json.dumps([
    case("plain", 71234567, bytes(range(32)), 1790000060000, LCP, 1000000, 1790000000000, 100000000),
    case("smallest", 0, bytes(32), 1, "x", 1, 1, 1),
    case("largest", 2**63 - 1, b"\xff" * 32, 2**63 - 1, LCP, 2**256 - 1, 2**63 - 1, 15000000000),
], indent=1))
