"""Makes SCALE integers, SS58 addresses, and the call of a payment with the public library, for the unit tests of
wire/substrate.

    python cases.py > cases.json

Needs scalecodec (made with 1.2.12).
"""

import hashlib
import json

from scalecodec.base import RuntimeConfiguration, ScaleBytes
from scalecodec.type_registry import load_type_registry_preset
from scalecodec.utils.ss58 import ss58_decode, ss58_encode

config = RuntimeConfiguration()
config.update_type_registry(load_type_registry_preset("core"))
config.update_type_registry({"types": {"Address": "MultiAddress"}})


def encode(kind, value):
    scale = config.create_scale_object(kind)
    data = scale.encode(value)
    assert config.create_scale_object(kind, data=ScaleBytes(bytes(data.data))).decode() == value
    return bytes(data.data)


def compact(value):
    return bytes(config.create_scale_object("Compact<u128>").encode(value).data)


VALUES = [0, 1, 63, 64, 16383, 16384, 2**30 - 1, 2**30, 2**32 - 1, 2**32, 2**64 - 1, 2**64, 2**127, 2**128 - 1]
key = hashlib.sha256(b"payee").digest()
addresses = [ss58_encode(key, network) for network in (0, 2, 42, 63)]
assert all(ss58_decode(address) == key.hex() for address in addresses)

calls = []
remark = ("lcp:sha256:0x" + "ab" * 32).encode()
for asset, amount in ((1337, 1500000), (0, 1), (2**32 - 1, 2**128 - 1)):
    # Utility.batch_all of Assets.transfer_keep_alive and System.remark_with_event; the library knows the values' types.
    call = bytes([40, 2]) + compact(2) + bytes([50, 9]) + compact(asset) + b"\0" + key + compact(amount) + bytes([0, 7]) + encode("Bytes", remark.decode())
    calls.append({"asset": str(asset), "amount": str(amount), "call": "0x" + call.hex()})
print(json.dumps({
    "compact": [{"value": str(value), "bytes": "0x" + compact(value).hex()} for value in VALUES],
    "key": "0x" + key.hex(), "addresses": addresses, "remark": remark.decode(), "calls": calls,
}, indent=1))
