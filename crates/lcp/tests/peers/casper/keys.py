"""Writes keys and signatures of both algorithms by pycspr: python3 -m pip install pycspr==0.12.4 && python3 keys.py > keys.jsonl"""

import json

import pycspr
from pycspr import crypto

for algorithm in (crypto.KeyAlgorithm.ED25519, crypto.KeyAlgorithm.SECP256K1):
    private, public = crypto.get_key_pair_from_bytes(bytes(range(1, 33)), algorithm)
    key = crypto.get_account_key(algorithm, public)
    signature = crypto.get_signature(b"terms", private, algorithm)
    print(json.dumps({
        "algorithm": algorithm.value,
        "publicKey": key.hex(),
        "account": "00" + crypto.get_account_hash(key).hex(),
        "signature": bytes([algorithm.value]).hex() + signature.hex(),
    }))
