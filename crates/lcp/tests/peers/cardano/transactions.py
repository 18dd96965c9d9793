"""Writes transactions with messages (CIP-20) by pycardano: python3 -m pip install pycardano==0.19.2 'cbor2<6' && python3 transactions.py > transactions.jsonl"""

import hashlib
import json

from pycardano import (
    Address, AlonzoMetadata, AuxiliaryData, Metadata, Network, PaymentSigningKey, PaymentVerificationKey,
    ShelleyMarryMetadata, Transaction, TransactionBody, TransactionInput, TransactionOutput, TransactionWitnessSet, VerificationKeyWitness,
)

H = hashlib.sha256(b"terms").hexdigest()
LINES = ["lcp:sha256:0x", H]

key = PaymentSigningKey(bytes(range(32)))
address = Address(PaymentVerificationKey.from_signing_key(key).hash(), network=Network.TESTNET)


def transaction(data: AuxiliaryData, ttl: int | None) -> Transaction:
    body = TransactionBody(
        inputs=[TransactionInput.from_primitive([bytes(32), 0])],
        outputs=[TransactionOutput(address, 2_000_000)],
        fee=170_000,
        ttl=ttl,
        auxiliary_data_hash=data.hash(),
    )
    witness = VerificationKeyWitness(PaymentVerificationKey.from_signing_key(key), key.sign(body.hash()))
    return Transaction(body, TransactionWitnessSet(vkey_witnesses=[witness]), auxiliary_data=data)


metadata = Metadata({674: {"msg": LINES}})
forms = {
    "alonzo": AuxiliaryData(AlonzoMetadata(metadata=metadata)),
    "shelley-ma": AuxiliaryData(ShelleyMarryMetadata(metadata=metadata)),
    "shelley": AuxiliaryData(metadata),
}
for name, data in forms.items():
    for ttl in (98_000_000, None):
        made = transaction(data, ttl).to_cbor().hex()
        print(json.dumps({"form": name, "ttl": ttl, "h": H, "transaction": made, "auxiliaryData": data.to_cbor().hex(), "address": str(address)}))
