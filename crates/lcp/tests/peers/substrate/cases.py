"""Makes SCALE integers and SS58 addresses with the public library, for the unit tests of wire/substrate.

    python cases.py > cases.json

Needs scalecodec (made with 1.2.12).
"""

import hashlib
import json

from scalecodec.base import RuntimeConfiguration
from scalecodec.type_registry import load_type_registry_preset
from scalecodec.utils.ss58 import ss58_decode, ss58_encode

config = RuntimeConfiguration()
config.update_type_registry(load_type_registry_preset("core"))


def compact(value):
    return bytes(config.create_scale_object("Compact<u128>").encode(value).data)


VALUES = [0, 1, 63, 64, 16383, 16384, 2**30 - 1, 2**30, 2**32 - 1, 2**32, 2**64 - 1, 2**64, 2**127, 2**128 - 1]
key = hashlib.sha256(b"payee").digest()
addresses = [ss58_encode(key, network) for network in (0, 2, 42, 63)]
assert all(ss58_decode(address) == key.hex() for address in addresses)

print(json.dumps({
    "compact": [{"value": str(value), "bytes": "0x" + compact(value).hex()} for value in VALUES],
    "key": "0x" + key.hex(), "addresses": addresses,
}, indent=1))
