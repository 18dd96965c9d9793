"""Makes what the unit tests of wire/starknet compare with, and judges our typed data by the public library.

    python cases.py > cases.json

The typed data in cases.json is read by the library, whose schema of SNIP-12 revision 1 refuses other types, and its message
comes out as it went in and can be hashed. The library asks for the version as a string.

Needs starknet-py (made with 0.30.0).
"""

import json

from starknet_py.cairo.felt import encode_shortstring
from starknet_py.hash.selector import get_selector_from_name
from starknet_py.utils.typed_data import TypedData

CALLER, TOKEN, PAYEE = 0x129AA8D6E2B1F5C9, 0x53C91253BC9682C0, 2**251 + 17 * 2**192
H = int("ab" * 32, 16)


def parameters(*pairs):
    return [{"name": name, "type": kind} for name, kind in pairs]


def typed_data(chain, amount, before):
    return {
        "types": {
            "StarknetDomain": parameters(*((name, "shortstring") for name in ("name", "version", "chainId", "revision"))),
            "OutsideExecution": parameters(("Caller", "ContractAddress"), ("Nonce", "felt"), ("Execute After", "u128"), ("Execute Before", "u128"), ("Calls", "Call*")),
            "Call": parameters(("To", "ContractAddress"), ("Selector", "selector"), ("Calldata", "felt*")),
        },
        "primaryType": "OutsideExecution",
        "domain": {"name": "Account.execute_from_outside", "version": 2, "chainId": hex(encode_shortstring(chain)), "revision": 1},
        "message": {
            "Caller": hex(CALLER), "Nonce": hex(H % 2**250), "Execute After": "1", "Execute Before": str(before),
            "Calls": [{"To": hex(TOKEN), "Selector": hex(get_selector_from_name("transfer")), "Calldata": [hex(PAYEE), hex(amount % 2**128), hex(amount >> 128)]}],
        },
    }


cases = []
for chain, amount, before in (("SN_SEPOLIA", 1000000, 1790000060), ("SN_MAIN", 2**256 - 1, 2**53 - 1)):
    data = typed_data(chain, amount, before)
    read = TypedData.from_dict({**data, "domain": {**data["domain"], "version": "2"}})
    assert read.to_dict()["message"] == data["message"] and read.message_hash(0x1234) > 0
    cases.append({"chain": chain, "amount": str(amount), "before": before, "typedData": data})
print(json.dumps({"caller": hex(CALLER), "token": hex(TOKEN), "payee": hex(PAYEE), "h": hex(H), "cases": cases}, indent=1))
