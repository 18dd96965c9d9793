"""Makes transactions as a wallet built on Aptos's SDK does, for the unit tests of wire/aptos.

    python cases.py > cases.json

A case is a name, the transaction in BCS with the wallet's authenticator behind it, and what the reader is to make of it: the
transfer's members, or the refusal.

Needs aptos-sdk (made with 0.11.0).
"""

import json

from aptos_sdk.account import Account
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.authenticator import Authenticator, Ed25519Authenticator, FeePayerAuthenticator
from aptos_sdk.bcs import Serializer
from aptos_sdk.transactions import (
    EntryFunction,
    FeePayerRawTransaction,
    RawTransaction,
    Script,
    ScriptArgument,
    SignedTransaction,
    TransactionArgument,
    TransactionPayload,
)
from aptos_sdk.type_tag import StructTag, TypeTag

PAYER = Account.load_key("ed25519-priv-0x" + "07" * 32)
ASSET = AccountAddress.from_str("0x" + "a1" * 32)
TO = AccountAddress.from_str("0x" + "b2" * 32)
METADATA = TypeTag(StructTag.from_str("0x1::fungible_asset::Metadata"))


def call(module="0x1::primary_fungible_store", function="transfer", types=(METADATA,), amount=250000, more=()):
    arguments = [TransactionArgument(ASSET, Serializer.struct), TransactionArgument(TO, Serializer.struct), TransactionArgument(amount, Serializer.u64)]
    return EntryFunction.natural(module, function, list(types), arguments + list(more))


def transaction(payload, chain=2):
    return RawTransaction(PAYER.address(), 9, TransactionPayload(payload), 2000, 100, 1790000600, chain)


def case(name, payload, refusal=None, chain=2, amount=250000):
    raw = transaction(payload, chain)
    signed = SignedTransaction(raw, Authenticator(Ed25519Authenticator(PAYER.public_key(), PAYER.sign(raw.keyed()))))
    assert signed.verify()
    return row(name, signed.bytes(), refusal, chain, amount)


def row(name, wire, refusal=None, chain=2, amount=250000):
    row = {"name": name, "wire": "0x" + wire.hex()}
    if refusal:
        return row | {"refusal": refusal}
    hexed = lambda address: "0x" + address.address.hex()
    return row | {"sender": hexed(PAYER.address()), "asset": hexed(ASSET), "to": hexed(TO), "amount": str(amount), "chain": chain}


def sponsored():
    """The form in which a sponsored transaction is sent: the raw transaction, its sponsor's address left open."""
    raw = transaction(call())
    fee_payer = FeePayerRawTransaction(raw, [], None)
    authenticator = Authenticator(FeePayerAuthenticator(
        Authenticator(Ed25519Authenticator(PAYER.public_key(), PAYER.sign(fee_payer.keyed()))),
        [],
        (AccountAddress.from_str("0x" + "00" * 32), Authenticator(Ed25519Authenticator(PAYER.public_key(), PAYER.sign(fee_payer.keyed())))),
    ))
    return SignedTransaction(raw, authenticator).bytes()


CASES = [
    case("primary store", call()),
    case("another asset's type", call(types=(TypeTag(StructTag.from_str("0x1::object::ObjectCore")),))),
    case("store", call(module="0x1::fungible_asset")),
    case("all of it", call(amount=2**64 - 1), amount=2**64 - 1),
    case("chain 255", call(), chain=255),
    row("sponsored", sponsored()),
    case("coin", call(module="0x1::coin"), "aptos/not-an-x402-transfer"),
    case("another's module", call(module="0x2::primary_fungible_store"), "aptos/not-an-x402-transfer"),
    case("another function", call(function="transfer_assert_minimum_deposit"), "aptos/not-an-x402-transfer"),
    case("no type", call(types=()), "aptos/not-an-x402-transfer"),
    case("a type with a type", call(types=(TypeTag(StructTag.from_str("0x1::coin::Coin<0x1::aptos_coin::AptosCoin>")),)), "aptos/not-an-x402-transfer"),
    case("more arguments", call(more=(TransactionArgument(1, Serializer.u64),)), "aptos/not-an-x402-transfer"),
    case("script", Script(b"\x01", [], [ScriptArgument(ScriptArgument.U64, 5)]), "aptos/not-entry-function"),
]
print(json.dumps(CASES, indent=1))
