"""Makes transactions as a wallet built on Algorand's SDK does, for the unit tests of wire/algorand.

    python cases.py > cases.json

`addresses`: keys and their texts. `transfers` and `groups`: the members of transactions, their bytes as they are signed, their
ids, and for a group its id. `signed`: transfers as they are sent, signed in each way that the SDK knows, or the refusal of
what is no transfer. The script reads everything back with the SDK.

Needs py-algorand-sdk (made with 2.12.0).
"""

import base64
import json
import warnings

from algosdk import account, encoding, logic, transaction
from algosdk.transaction import SuggestedParams
from nacl.signing import SigningKey

# The SDK has newer ways to sign, with the same result.
warnings.simplefilter("ignore", DeprecationWarning)

LCP = "lcp:sha256:0x" + "ab" * 32
SEEDS = [bytes([seed]) * 32 for seed in range(1, 5)]
GENESIS_HASH = "SGO1GKSzyE7IEPItTxCByw9x8FmnrCDexi9/cOUJOiI="


def private(seed):
    return base64.b64encode(seed + bytes(SigningKey(seed).verify_key)).decode()


KEYS = [private(seed) for seed in SEEDS]
PAYER, SELLER, FEE_PAYER, OTHER = [account.address_from_private_key(key) for key in KEYS]
PROGRAM = bytes.fromhex("0b8101")


def hexed(data):
    return "0x" + data.hex()


def params(fee=1000, first=45000000, last=45000060, gen="testnet-v1.0"):
    return SuggestedParams(fee, first, last, GENESIS_HASH, gen=gen, flat_fee=True, min_fee=0)


def transfer(amount=2000000, asset=10458941, sender=PAYER, note=LCP, **more):
    return transaction.AssetTransferTxn(sender, params(**more), SELLER, amount, asset, note=note.encode())


def payment(fee=2000, sender=FEE_PAYER, **more):
    return transaction.PaymentTxn(sender, params(fee=fee, **more), sender, 0)


def encoded(txn):
    return base64.b64decode(encoding.msgpack_encode(txn))


def members(txn):
    kind = {"pay": {}, "axfer": {"asset": str(getattr(txn, "index", 0)), "amount": str(getattr(txn, "amount", 0))}}[txn.type]
    return {
        "type": txn.type,
        "sender": txn.sender,
        "to": txn.receiver,
        "fee": str(txn.fee),
        "first": str(txn.first_valid_round),
        "last": str(txn.last_valid_round),
        "genesisId": txn.genesis_id or "",
        "note": (txn.note or b"").decode(),
        **kind,
        "group": txn.group and hexed(txn.group),
        "bytes": hexed(b"TX" + encoded(txn)),
        "id": txn.get_txid(),
    }


def sent(name, signed, refusal=None, note=LCP):
    text = encoding.msgpack_encode(signed)
    assert encoding.msgpack_encode(encoding.msgpack_decode(text)) == text
    return {"name": name, "wire": text} | ({"refusal": refusal} if refusal else {"note": note})


def group(*txns):
    transaction.assign_group_id(list(txns))
    return {"id": hexed(txns[0].group), "transactions": [members(txn) for txn in txns]}


def multisig(txn):
    many = transaction.Multisig(1, 2, [PAYER, SELLER, OTHER])
    signed = transaction.MultisigTransaction(txn, many)
    signed.sign(KEYS[0])
    signed.sign(KEYS[3])
    return signed


def logic_sig(txn, args=None, delegate=None):
    signature = transaction.LogicSigAccount(PROGRAM, args)
    if delegate == "one":
        signature.sign(KEYS[0])
    elif delegate == "many":
        signature.sign_multisig(transaction.Multisig(1, 1, [PAYER, OTHER]), KEYS[0])
    return transaction.LogicSigTransaction(txn, signature)


CASES = {
    "genesisHash": GENESIS_HASH,
    "addresses": [{"key": hexed(encoding.decode_address(text)), "text": text} for text in (PAYER, SELLER, FEE_PAYER, OTHER, encoding.encode_address(bytes(32)))],
    "transfers": [
        members(txn)
        for txn in (
            transfer(),
            transfer(fee=0),
            transfer(amount=2**64 - 1, asset=2**64 - 1, first=2**64 - 61, last=2**64 - 1, fee=2**64 - 1),
            transfer(amount=127, asset=128, first=255, last=256, fee=65535, gen="g" * 31),
            transfer(amount=65536, asset=2**32 - 1, first=1, last=2**32, fee=1, gen="g" * 32),
            transfer(gen="g" * 255),
            transfer(gen="g" * 256),
            transfer(gen=""),
            transfer(first=0),
        )
    ],
    "groups": [group(payment(), transfer(fee=0)), group(payment(sender=PAYER, fee=0), transfer(fee=0, first=0))],
    "signed": [
        sent("signed", transfer().sign(KEYS[0])),
        sent("rekeyed", transfer().sign(KEYS[3])),
        sent("multisig", multisig(transfer(sender=transaction.Multisig(1, 2, [PAYER, SELLER, OTHER]).address()))),
        sent("program", logic_sig(transfer(sender=logic.address(PROGRAM)))),
        sent("program with arguments", logic_sig(transfer(sender=logic.address(PROGRAM)), args=[b"one", b""])),
        sent("delegated program", logic_sig(transfer(), delegate="one")),
        sent("program delegated by many", logic_sig(transfer(sender=transaction.Multisig(1, 1, [PAYER, OTHER]).address()), delegate="many")),
        sent("another note", transfer(note="x").sign(KEYS[0]), note="x"),
        sent("clawback", transaction.AssetTransferTxn(PAYER, params(), SELLER, 5, 7, note=LCP.encode(), revocation_target=OTHER).sign(KEYS[0])),
        sent("closing", transaction.AssetTransferTxn(PAYER, params(), SELLER, 5, 7, close_assets_to=OTHER, note=LCP.encode(), rekey_to=OTHER, lease=bytes(range(32))).sign(KEYS[0])),
        sent("payment", payment().sign(KEYS[2]), "avm/not-axfer"),
        sent("asset creation", transaction.AssetCreateTxn(PAYER, params(), 5, 2, False, manager=PAYER, unit_name="u", asset_name="a", url="u").sign(KEYS[0]), "avm/not-axfer"),
        sent("asset freeze", transaction.AssetFreezeTxn(PAYER, params(), 7, OTHER, True).sign(KEYS[0]), "avm/not-axfer"),
        sent(
            "call",
            transaction.ApplicationCallTxn(
                PAYER, params(), 5, transaction.OnComplete.NoOpOC, app_args=[b"a"], accounts=[OTHER], foreign_apps=[6], foreign_assets=[7], boxes=[(5, b"b")]
            ).sign(KEYS[0]),
            "avm/not-axfer",
        ),
        sent(
            "app creation",
            transaction.ApplicationCreateTxn(
                PAYER, params(), transaction.OnComplete.NoOpOC, PROGRAM, PROGRAM, transaction.StateSchema(1, 2), transaction.StateSchema(3, 4), extra_pages=1
            ).sign(KEYS[0]),
            "avm/not-axfer",
        ),
        sent("key registration", transaction.KeyregOfflineTxn(PAYER, params()).sign(KEYS[0]), "avm/not-axfer"),
        sent(
            "key registration online",
            transaction.KeyregOnlineTxn(PAYER, params(), base64.b64encode(bytes([1]) * 32).decode(), base64.b64encode(bytes([2]) * 32).decode(), 1, 2, 3, sprfkey=base64.b64encode(bytes([3]) * 64).decode()).sign(KEYS[0]),
            "avm/not-axfer",
        ),
    ],
}
print(json.dumps(CASES, indent=1))
