"""What xrpl-py makes of our requests, and transactions and addresses that it makes itself.

    python peer.py sign < requests.jsonl > signed.jsonl    reads transactions as its models, signs them, and claims
    python peer.py make > made.jsonl                       encodes transactions of many fields, and says what is in them
    python peer.py addresses > addresses.jsonl             addresses

Needs xrpl-py (made with 5.2.0).
"""

import hashlib
import json
import sys

from xrpl.core.addresscodec import encode_classic_address
from xrpl.core.binarycodec import encode, encode_for_signing, encode_for_signing_claim
from xrpl.core.binarycodec.binary_wrappers.binary_parser import BinaryParser
from xrpl.core.keypairs import derive_classic_address, derive_keypair, is_valid_message, sign
from xrpl.models import Transaction

PUBLIC, PRIVATE = derive_keypair("sEdSKaCy2JT7JaM7v95H9SxkhP9wS2r")
PAYER = derive_classic_address(PUBLIC)
SELLER = "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe"
ISSUER = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"


def signed(transaction):
    transaction = {**transaction, "SigningPubKey": PUBLIC}
    return encode({**transaction, "TxnSignature": sign(bytes.fromhex(encode_for_signing(transaction)), PRIVATE)})


def sign_requests():
    for line in sys.stdin:
        row = json.loads(line)
        request = row["request"]
        out = {"name": row["name"]}
        claim = request.get("claim", request if request["kind"] == "xrpl-claim" else None)
        if "txJson" in request:
            transaction = Transaction.from_xrpl(request["txJson"])
            assert transaction.is_valid()
            assert {k: v for k, v in transaction.to_xrpl().items() if k != "SigningPubKey"} == request["txJson"], row
            out["blob"] = signed(request["txJson"])
            out["hash"] = "0x" + hashlib.sha512(b"TXN\0" + bytes.fromhex(out["blob"])).hexdigest()[:64]
        if claim is not None:
            message = bytes.fromhex(encode_for_signing_claim({"channel": claim["channelId"], "amount": claim["drops"]}))
            assert "0x" + message.hex() == claim["bytes"], row
            out["claim"] = sign(message, PRIVATE)
            assert is_valid_message(message, bytes.fromhex(out["claim"]), PUBLIC)
        yield out


def reading(parser):
    """The fields that a parser has left, as [type, number, bytes in hex or, of an object or an array, its fields]."""
    fields = []
    while not parser.is_end():
        field = parser.read_field()
        if field.name in ("ObjectEndMarker", "ArrayEndMarker"):
            break
        code = [field.header.type_code, field.header.field_code]
        nested = field.type in ("STObject", "STArray")
        fields.append([*code, reading(parser) if nested else parser.read_field_value(field).to_hex().lower()])
    return fields


def make():
    memo = {"Memo": {"MemoType": "746578742F706C61696E", "MemoData": "CAFE", "MemoFormat": "AB" * 300}}
    usd = {"currency": "USD", "issuer": ISSUER, "value": "12.5"}
    issue = {"currency": "USD", "issuer": ISSUER}
    issuance = "00000001" + "AB" * 20
    bridge = {
        "LockingChainDoor": SELLER, "LockingChainIssue": {"currency": "XRP"},
        "IssuingChainDoor": ISSUER, "IssuingChainIssue": issue,
    }
    steps = [[{"account": SELLER}, {"currency": "EUR", "issuer": ISSUER}], [{"currency": "XRP"}]]
    signer = {"Signer": {"Account": SELLER, "SigningPubKey": PUBLIC, "TxnSignature": "AB" * 64}}
    for kind, fields in [
        ("Payment", {"Destination": SELLER, "Amount": "1", "InvoiceID": "AB" * 32, "Memos": [memo, memo]}),
        ("Payment", {"Destination": SELLER, "Amount": usd, "SendMax": {**usd, "value": "-1e-81"}, "Paths": steps, "DeliverMin": "0"}),
        ("Payment", {"Destination": SELLER, "Amount": {**usd, "value": "9999999999999999e80"}, "SourceTag": 2**32 - 1}),
        ("Payment", {"Destination": SELLER, "Amount": {**usd, "value": "0"}, "DestinationTag": 0, "NetworkID": 21337}),
        ("Payment", {"Destination": SELLER, "Amount": {"mpt_issuance_id": issuance, "value": "9223372036854775807"}}),
        ("Payment", {"Destination": SELLER, "Amount": "100000000000000000", "CredentialIDs": ["AB" * 32, "CD" * 32], "Delegate": ISSUER}),
        ("PaymentChannelCreate", {"Destination": SELLER, "Amount": "5", "SettleDelay": 60, "PublicKey": PUBLIC, "CancelAfter": 7}),
        ("PaymentChannelClaim", {"Channel": "AB" * 32, "Balance": "5", "Signature": "CD" * 64, "PublicKey": PUBLIC}),
        ("SignerListSet", {"SignerQuorum": 1, "SignerEntries": [{"SignerEntry": {"Account": SELLER, "SignerWeight": 1}}]}),
        ("AccountSet", {"Domain": "6578616D706C65", "TickSize": 5, "TransferRate": 1_000_000_001, "Signers": [signer]}),
        ("NFTokenMint", {"NFTokenTaxon": 0, "URI": "CD" * 200, "TransferFee": 314, "Flags": 8}),
        ("AMMCreate", {"Amount": "5", "Amount2": usd, "TradingFee": 12}),
        ("AMMDeposit", {"Asset": {"currency": "XRP"}, "Asset2": issue, "LPTokenOut": usd}),
        ("AMMBid", {"Asset": {"currency": "XRP"}, "Asset2": issue, "AuthAccounts": [{"AuthAccount": {"Account": SELLER}}]}),
        ("XChainCreateBridge", {"XChainBridge": bridge, "SignatureReward": "100"}),
        ("OracleSet", {
            "OracleDocumentID": 1, "Provider": "AB", "LastUpdateTime": 1_790_000_000, "AssetClass": "CD",
            "PriceDataSeries": [{"PriceData": {"BaseAsset": "XRP", "QuoteAsset": "USD", "AssetPrice": "74", "Scale": 3}}],
        }),
        ("MPTokenIssuanceCreate", {"AssetScale": 2, "MaximumAmount": "9223372036854775807", "MPTokenMetadata": "CAFE"}),
        ("MPTokenAuthorize", {"MPTokenIssuanceID": issuance}),
        ("VaultCreate", {"Asset": {"mpt_issuance_id": issuance}, "AssetsMaximum": "1234.5", "Data": "CAFE"}),
        ("VaultCreate", {"Asset": issue, "AssetsMaximum": "9300000000000000000"}),
        ("DelegateSet", {"Authorize": SELLER, "Permissions": [{"Permission": {"PermissionValue": "Payment"}}]}),
        ("SetFee", {"Account": ISSUER, "BaseFee": "000000000000000A", "ReferenceFeeUnits": 10}),
    ]:
        blob = encode({"TransactionType": kind, "Account": PAYER, "Fee": "12", "Sequence": 7, "SigningPubKey": "", **fields})
        yield {"kind": kind, "blob": blob, "fields": reading(BinaryParser(blob))}


def addresses():
    ids = [bytes(20), bytes(19) + b"\1", b"\xff" * 20, *(hashlib.sha256(bytes([n])).digest()[:20] for n in range(8))]
    for account in ids:
        yield {"id": "0x" + account.hex(), "address": encode_classic_address(account)}


for row in {"sign": sign_requests, "make": make, "addresses": addresses}[sys.argv[1]]():
    print(json.dumps(row, separators=(",", ":")))
