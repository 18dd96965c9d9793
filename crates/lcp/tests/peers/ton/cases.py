"""Makes bags of cells, messages and state inits with the public library, for the unit tests of wire/ton.

    python cases.py > cases.json

Needs pytoniq-core (made with 0.2.1).
"""

import hashlib
import json

from pytoniq_core import Address, Builder, Cell, begin_cell
from pytoniq_core.tlb.transaction import CurrencyCollection, InternalMsgInfo, MessageAny
from pytoniq_core.tlb.account import StateInit


def address(seed, workchain=0):
    return Address((workchain, hashlib.sha256(seed.encode()).digest()))


def message(destination, value, bounce, init, body):
    info = InternalMsgInfo(True, bounce, False, None, destination, CurrencyCollection(value), 0, 0, 0, 0)
    builder = begin_cell().store_cell(info.serialize())
    builder = builder.store_bit(0) if init is None else builder.store_bit(1).store_bit(1).store_ref(init)
    cell = builder.store_bit(1).store_ref(body).end_cell()
    read = MessageAny.deserialize(cell.begin_parse())
    assert read.info.dest == destination and read.info.value.grams == value and read.body == body
    return cell


LCP = "lcp:sha256:0x" + "ab" * 32
COMMENT = begin_cell().store_uint(0, 32).store_bytes(LCP.encode()).end_cell()
INIT = StateInit(code=begin_cell().store_uint(0xFF00F4A4, 32).end_cell(), data=begin_cell().store_uint(7, 70).end_cell()).serialize()
SIGNATURE = bytes(range(64))


def payment(name, amount, response, forward, attached, wallet_id, until, seqno, init):
    wallet = address(name) if init is None else Address((0, init.hash))
    transfer = (
        begin_cell().store_uint(0x0F8A7EA5, 32).store_uint(0, 64).store_coins(amount).store_address(address("payee", -1)).store_address(response)
        .store_bit(0).store_coins(forward).store_bit(1).store_ref(COMMENT).end_cell()
    )
    actions = begin_cell().store_uint(0x0EC3C86D, 32).store_uint(3, 8).store_ref(Cell.empty()).store_ref(message(address("jetton wallet"), attached, True, None, transfer)).end_cell()
    request = begin_cell().store_uint(0x73696E74, 32).store_uint(wallet_id, 32).store_uint(until, 32).store_uint(seqno, 32).store_bit(1).store_ref(actions).store_bit(0)
    signed = Builder().store_cell(request.end_cell()).store_bytes(SIGNATURE).end_cell()
    settlement = message(wallet, 0, False, init, signed)
    return {
        "name": name, "wallet": raw(wallet), "payee": raw(address("payee", -1)), "jettonWallet": raw(address("jetton wallet")),
        "response": None if response is None else raw(response), "amount": str(amount), "forward": str(forward), "attached": str(attached),
        "walletId": wallet_id, "validUntil": until, "seqno": seqno, "stateInit": None if init is None else init.to_boc(hash_crc32=True).hex(),
        "requestHash": request.end_cell().hash.hex(), "settlement": settlement.to_boc(hash_crc32=True).hex(), "settlementHash": settlement.hash.hex(),
    }


def raw(of):
    return f"{of.wc}:{of.hash_part.hex()}"


def bag(name, cell):
    assert Cell.one_from_boc(cell.to_boc()).hash == cell.hash
    # With an index of several cells, the library writes their lengths where their ends belong.
    layouts = [cell.to_boc(), cell.to_boc(hash_crc32=True)]
    return {"name": name, "hash": cell.hash.hex(), "depth": cell.get_depth(0), "bags": [layout.hex() for layout in layouts]}


shared = begin_cell().store_uint(1, 3).end_cell()
chain = shared
for step in range(20):
    chain = begin_cell().store_uint(step, 20 + step).store_ref(chain).store_ref(shared).end_cell()
bags = [
    bag("empty", Cell.empty()),
    bag("comment", COMMENT),
    bag("state init", INIT),
    bag("full", begin_cell().store_bytes(b"\xa5" * 127).store_uint(3, 7).store_ref(shared).store_ref(COMMENT).store_ref(INIT).store_ref(shared).end_cell()),
    bag("chain", chain),
]
payments = [
    payment("plain", 1000000, address("plain"), 1, 50000000, 2147483409, 1790000060, 12, None),
    payment("least", 1, None, 0, 1, 0, 1, 0, None),
    payment("new wallet", 2**120 - 1, address("response", -1), 2**120 - 2, 2**120 - 1, 2**32 - 1, 2**32 - 1, 2**32 - 1, INIT),
]
print(json.dumps({"comment": LCP, "signature": SIGNATURE.hex(), "bags": bags, "payments": payments}, indent=1))
