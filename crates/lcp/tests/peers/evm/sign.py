"""Signs typed data as a wallet built on eth-account does.

    python sign.py < requests.jsonl > signed.jsonl

Each line in: {"name", "request"}, the request of kind eip712. Each line out: {"name", "digest", "signature", "signer"}, signed
by the first of the public test keys; the signer is the one recovered from the signature.

Needs eth-account (made with 0.14.0).
"""

import json
import sys

from eth_account import Account
from eth_account.messages import _hash_eip191_message, encode_typed_data

KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
DOMAIN = {"name": "string", "version": "string", "chainId": "uint256", "verifyingContract": "address"}


def typed(types, kind, value):
    """The value with its integers as integers, which the requests write as decimals."""
    if kind.endswith("[]"):
        return [typed(types, kind[:-2], item) for item in value]
    if kind in types:
        return {member["name"]: typed(types, member["type"], value[member["name"]]) for member in types[kind]}
    return int(value) if kind.startswith("uint") else value


for line in sys.stdin:
    row = json.loads(line)
    data = row["request"]["typedData"]
    types = data["types"]
    # A request may leave the domain's type to the domain's members.
    types.setdefault("EIP712Domain", [{"name": name, "type": kind} for name, kind in DOMAIN.items() if name in data["domain"]])
    data["domain"] = typed(types, "EIP712Domain", data["domain"])
    data["message"] = typed(types, data["primaryType"], data["message"])
    message = encode_typed_data(full_message=data)
    signed = Account.sign_message(message, KEY)
    row = {
        "name": row["name"],
        "digest": "0x" + _hash_eip191_message(message).hex(),
        "signature": "0x" + signed.signature.hex(),
        "signer": Account.recover_message(message, signature=signed.signature),
    }
    print(json.dumps(row))
