"""Makes Hedera transfers as a wallet built on the official SDK does, for the unit tests of wire/hedera.

    python cases.py > cases.json

A case is a transfer (amounts as the SDK orders them), its body for one node, the transaction signed with that key, and a list
of it for two nodes where the SDK makes one. The script reads every transaction back with the SDK.

Needs hiero-sdk-python (made with 0.3.0).
"""

import json

from cryptography.hazmat.primitives.asymmetric import ec
from hiero_sdk_python import AccountId, PrivateKey, TokenId, TransactionId, TransferTransaction
from hiero_sdk_python.hapi.sdk.transaction_list_pb2 import TransactionList
from hiero_sdk_python.hapi.services.timestamp_pb2 import Timestamp
from hiero_sdk_python.hapi.services.transaction_contents_pb2 import SignedTransaction
from hiero_sdk_python.hapi.services.transaction_pb2 import Transaction as Proto
from hiero_sdk_python.transaction.transaction import Transaction


class Deterministic(ec.ECDSA):
    """The SDK's signatures by ECDSA are random; these are the same each time."""

    def __init__(self, algorithm):
        super().__init__(algorithm, deterministic_signing=True)


ec.ECDSA = Deterministic

KEYS = {
    "ed25519": PrivateKey.from_string_ed25519("07" * 32),
    "ecdsa-secp256k1": PrivateKey.from_string_ecdsa("07" * 32),
}
LCP = "lcp:sha256:0x" + "ab" * 32


def hexed(data):
    return "0x" + data.hex()


def case(name, key, *, payer="0.0.1234", fee_payer=None, seconds=1790000000, nanos=123456789, nodes=("0.0.3",), fee=100_000_000, memo=LCP, token=None, decimals=None, amounts):
    transfer = TransferTransaction()
    for account, amount in amounts:
        account = AccountId.from_string(account)
        if token is None:
            transfer.add_hbar_transfer(account, amount)
        elif decimals is None:
            transfer.add_token_transfer(TokenId.from_string(token), account, amount)
        else:
            transfer.add_token_transfer_with_decimals(TokenId.from_string(token), account, amount, decimals)
    start = Timestamp(seconds=seconds, nanos=nanos)
    transfer.set_transaction_id(TransactionId(AccountId.from_string(fee_payer or payer), start))
    transfer.set_node_account_ids([AccountId.from_string(node) for node in nodes])
    transfer.set_transaction_memo(memo)
    transfer.transaction_fee = fee
    transfer.freeze()
    transfer.sign(KEYS[key])
    written = transfer.to_bytes()
    restored = Transaction.from_bytes(written)
    assert restored.memo == memo and restored.to_bytes() == written
    listed = TransactionList.FromString(written).transaction_list
    first = Proto.FromString(listed[0].SerializeToString())
    signed = SignedTransaction.FromString(first.signedTransactionBytes)
    pair = signed.sigMap.sigPair[0]
    return {
        "name": name,
        "feePayer": fee_payer or payer,
        "seconds": str(seconds),
        "nanos": nanos,
        "node": nodes[0],
        "maxFee": str(fee),
        "memo": memo,
        "token": token,
        "decimals": decimals,
        "amounts": [[account, str(amount)] for account, amount in amounts],
        "body": hexed(signed.bodyBytes),
        "type": key,
        "publicKey": hexed(pair.pubKeyPrefix),
        "signature": hexed(pair.ed25519 or pair.ECDSA_secp256k1),
        "transaction": hexed(first.SerializeToString()),
        "list": hexed(written),
    }


TRANSFER = [("0.0.1234", -100000), ("0.0.5005", 100000)]
print(
    json.dumps(
        [
            case("token", "ed25519", fee_payer="0.0.7007", token="0.0.429274", decimals=6, amounts=TRANSFER),
            case("token without decimals", "ecdsa-secp256k1", token="0.0.429274", nodes=("0.0.3", "0.0.4"), amounts=TRANSFER),
            case("HBAR", "ed25519", fee_payer="0.0.7007", amounts=TRANSFER),
            case("splits", "ed25519", token="0.0.5449", memo="0x" + "11" * 32, amounts=[("0.0.1234", -1050000), ("0.0.5005", 1000000), ("0.0.67890", 50000)]),
            case("no fraction", "ecdsa-secp256k1", token="1.2.3", decimals=1, nanos=0, fee=1, amounts=[("3.4.5", -1), ("9.8.7", 1)]),
            case("largest", "ed25519", payer=f"1.2.{2**63 - 1}", seconds=2**63 - 1, nanos=10**9 - 1, fee=2**63 - 1, token=f"0.0.{2**63 - 1}", decimals=2**32 - 1, amounts=[("0.0.1", 1 - 2**63), ("0.0.2", 2**63 - 1)]),
        ],
        indent=1,
    )
)
