"""Hashes and writes again the typed data of our requests, for the unit tests of x402/exact/starknet.

    python hashes.py < ours.jsonl > hashes.jsonl

The library asks for the domain's version as a string, which is hashed as the number is.

Needs starknet-py (made with 0.30.0).
"""

import json
import sys

from starknet_py.utils.typed_data import TypedData

for line in sys.stdin:
    request = json.loads(line)["request"]
    data = request["typedData"]
    read = TypedData.from_dict({**data, "domain": {**data["domain"], "version": str(data["domain"]["version"])}})
    print(json.dumps({"hash": hex(read.message_hash(int(request["account"], 16))), "typedData": read.to_dict()}))
