"""What solders makes of our Solana messages and transactions, and transactions that it makes itself.

    python peer.py sign < requests.jsonl > signed.jsonl          reads messages and signs them as the payer
    python peer.py verify < transactions.jsonl > verified.jsonl  reads transactions and verifies their signatures
    python peer.py make > made.jsonl                             makes transactions, and says what is in them

Needs solders (made with 0.29.0).
"""

import base64
import json
import sys

from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.compute_budget import set_compute_unit_limit, set_compute_unit_price
from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.message import Message, MessageV0, from_bytes_versioned
from solders.pubkey import Pubkey
from solders.system_program import AdvanceNonceAccountParams, TransferParams, advance_nonce_account, transfer
from solders.transaction import VersionedTransaction

PAYER = Keypair.from_seed(bytes([7] * 32))
MEMO = Pubkey.from_string("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")


def reading(message):
    header = message.header
    lookups = message.address_table_lookups if isinstance(message, MessageV0) else []
    return {
        "versioned": isinstance(message, MessageV0),
        "header": [header.num_required_signatures, header.num_readonly_signed_accounts, header.num_readonly_unsigned_accounts],
        "keys": [str(key) for key in message.account_keys],
        "blockhash": str(message.recent_blockhash),
        "instructions": [[call.program_id_index, list(call.accounts), "0x" + call.data.hex()] for call in message.instructions],
        "lookups": [[str(lookup.account_key), list(lookup.writable_indexes), list(lookup.readonly_indexes)] for lookup in lookups],
    }


def sign():
    for line in sys.stdin:
        row = json.loads(line)
        message = bytes.fromhex(row["message"][2:])
        yield {"name": row["name"], "reading": reading(from_bytes_versioned(message)), "signature": "0x" + bytes(PAYER.sign_message(message)).hex()}


def verify():
    for line in sys.stdin:
        row = json.loads(line)
        transaction = VersionedTransaction.from_bytes(base64.b64decode(row["transaction"]))
        assert base64.b64encode(bytes(transaction)).decode() == row["transaction"]
        signers = transaction.message.account_keys[: transaction.message.header.num_required_signatures]
        verified = zip(signers, transaction.verify_with_results())
        yield {"name": row["name"], "verified": {str(signer): valid for signer, valid in verified}}


def make():
    def key(n):
        return Keypair.from_seed(bytes([n] * 32))

    payer, other = PAYER.pubkey(), key(8)
    blockhash = Hash.from_string("439bvEwoZYj9kQfuXnDqffdKRrjt6B9XYEbVGns7mvFn")
    memo = Instruction(MEMO, b"lcp", [])
    send = transfer(TransferParams(from_pubkey=payer, to_pubkey=key(9).pubkey(), lamports=5))
    budget = [set_compute_unit_limit(40_000), set_compute_unit_price(1)]
    table = AddressLookupTableAccount(key(10).pubkey(), [key(n).pubkey() for n in range(20, 60)])
    loading = Instruction(MEMO, b"x" * 200, [AccountMeta(k, False, i % 3 == 0) for i, k in enumerate(table.addresses)])
    nonce = advance_nonce_account(AdvanceNonceAccountParams(nonce_pubkey=key(11).pubkey(), authorized_pubkey=payer))
    cosigned = Instruction(MEMO, b"", [AccountMeta(other.pubkey(), True, False)])
    for name, message, signers in [
        ("legacy", Message.new_with_blockhash([*budget, send, memo], payer, blockhash), [PAYER]),
        ("version 0", MessageV0.try_compile(payer, [*budget, send, memo], [], blockhash), [PAYER]),
        ("lookups", MessageV0.try_compile(payer, [loading, memo], [table], blockhash), [PAYER]),
        ("nonce", MessageV0.try_compile(payer, [nonce, memo], [], blockhash), [PAYER]),
        ("two signers", MessageV0.try_compile(payer, [cosigned, memo], [], blockhash), [PAYER, other]),
        ("no calls", Message.new_with_blockhash([], payer, blockhash), [PAYER]),
        ("long data", MessageV0.try_compile(payer, [Instruction(MEMO, b"y" * 1000, [])], [], blockhash), [PAYER]),
    ]:
        transaction = VersionedTransaction(message, signers)
        signatures = ["0x" + bytes(signature).hex() for signature in transaction.signatures]
        yield {"name": name, "transaction": base64.b64encode(bytes(transaction)).decode(), "signatures": signatures, "reading": reading(message)}


for row in {"sign": sign, "verify": verify, "make": make}[sys.argv[1]]():
    print(json.dumps(row, separators=(",", ":")))
