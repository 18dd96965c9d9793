"""Makes and reads payments with pycardano, for the unit tests of x402/exact/cardano.

    python payments.py < ours.jsonl > payments.jsonl

A line of ours.jsonl is a request of the pairing's and the payload that it makes of the wallet's answer. A line that is printed
is that answer, and what the library reads in the payload.

Needs pycardano (made with 0.19.2).
"""

import base64
import json
import sys

from nacl.signing import VerifyKey
from pycardano import (
    Address, AuxiliaryData, Network, PaymentSigningKey, PaymentVerificationKey, Transaction, TransactionBody, TransactionInput,
    TransactionOutput, TransactionWitnessSet, VerificationKeyWitness,
)

KEY = PaymentSigningKey(bytes(range(32)))
VERIFICATION = PaymentVerificationKey.from_signing_key(KEY)


def address(network):
    return Address(VERIFICATION.hash(), network=Network.MAINNET if network in ("cardano:mainnet", "cip34:1-764824073") else Network.TESTNET)


def answer(request):
    data = AuxiliaryData.from_cbor(bytes.fromhex(request["auxiliaryData"][2:]))
    accepted = request["accepted"]
    body = TransactionBody(
        inputs=[TransactionInput.from_primitive([bytes(32), 0])],
        outputs=[TransactionOutput(address(accepted["network"]), int(accepted["amount"]))],
        fee=170_000,
        ttl=98_000_000,
        auxiliary_data_hash=data.hash(),
    )
    witness = VerificationKeyWitness(VERIFICATION, KEY.sign(body.hash()))
    made = Transaction(body, TransactionWitnessSet(vkey_witnesses=[witness]), auxiliary_data=data)
    return {"transaction": base64.b64encode(made.to_cbor()).decode(), "nonce": f"{bytes(32).hex()}#0"}


def read(payload):
    wire = base64.b64decode(payload["transaction"])
    transaction = Transaction.from_cbor(wire)
    body, data = transaction.transaction_body, transaction.auxiliary_data
    assert transaction.to_cbor() == wire and body.auxiliary_data_hash == data.hash()
    [witness] = transaction.transaction_witness_set.vkey_witnesses
    VerifyKey(witness.vkey.payload).verify(body.hash(), witness.signature)
    [output] = body.outputs
    return {
        "lines": data.data.metadata[674]["msg"],
        "auxiliaryData": "0x" + data.to_cbor().hex(),
        "ttl": body.ttl,
        "amount": str(output.amount.coin),
        "to": str(output.address),
    }


for line in sys.stdin:
    ours = json.loads(line)
    print(json.dumps({"answer": answer(ours["request"]), "read": "payload" in ours and read(ours["payload"])}))
