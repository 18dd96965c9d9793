"""Transactions that stellar-sdk makes, what it reads in them, and their entries as it signs them.

    python peer.py transfers > transfers.jsonl      transfers as a wallet simulates them, and as it signs them
    python peer.py operations > operations.jsonl    transactions of every other operation
    python peer.py addresses > addresses.jsonl      strkeys

Needs stellar-sdk (made with 16.1.1).
"""

import hashlib
import json
import sys
import warnings

import stellar_sdk as op
from stellar_sdk import (
    Account, Address, Asset, Claimant, ClaimPredicate, Keypair, LiquidityPoolAsset, LiquidityPoolId, MuxedAccount, Network, Price,
    RevokeSponsorship, SignedPayloadSigner, Signer, SignerKey, StrKey, TransactionBuilder, TransactionEnvelope, scval, xdr,
)
from stellar_sdk.auth import authorize_entry
from stellar_sdk.soroban_data_builder import SorobanDataBuilder

PAYER = Keypair.from_raw_ed25519_seed(bytes([7] * 32))
SELLER, OTHER = (Keypair.from_raw_ed25519_seed(bytes([n] * 32)) for n in (8, 9))
TOKEN = StrKey.encode_contract(bytes([6] * 32))
H = hashlib.sha256(b"abc").digest()
PAYEE = MuxedAccount(SELLER.public_key, int.from_bytes(H[:8], "big")).account_muxed
USD = Asset("USD", SELLER.public_key)
LONG = Asset("LONGASSET", SELLER.public_key)
PAYLOAD = SignedPayloadSigner(SELLER.public_key, b"payload")

# Most of these transactions have no time bounds, of which the builder warns.
warnings.filterwarnings("ignore", category=UserWarning)


def builder(network=Network.TESTNET_NETWORK_PASSPHRASE, source=OTHER.public_key):
    return TransactionBuilder(Account(source, 76), network, base_fee=50_000)


def entry(arguments, credentials_type, address=PAYER.public_key):
    call = xdr.InvokeContractArgs(Address(TOKEN).to_xdr_sc_address(), xdr.SCSymbol(b"transfer"), arguments)
    function = xdr.SorobanAuthorizedFunction(
        xdr.SorobanAuthorizedFunctionType.SOROBAN_AUTHORIZED_FUNCTION_TYPE_CONTRACT_FN, contract_fn=call
    )
    credentials = xdr.SorobanAddressCredentials(Address(address).to_xdr_sc_address(), xdr.Int64(4242), xdr.Uint32(0), scval.to_void())
    kinds = xdr.SorobanCredentialsType
    held = (
        xdr.SorobanCredentials(kinds.SOROBAN_CREDENTIALS_ADDRESS, address=credentials)
        if credentials_type == 1
        else xdr.SorobanCredentials(kinds.SOROBAN_CREDENTIALS_ADDRESS_V2, address_v2=credentials)
    )
    return xdr.SorobanAuthorizationEntry(held, xdr.SorobanAuthorizedInvocation(function, []))


def transfers():
    arguments = [scval.to_address(PAYER.public_key), scval.to_address(PAYEE), scval.to_int128(1_234_500)]
    footprint = SorobanDataBuilder().set_resources(1_000_000, 1000, 1000).set_resource_fee(100)
    key = xdr.LedgerKey(
        xdr.LedgerEntryType.CONTRACT_DATA,
        contract_data=xdr.LedgerKeyContractData(
            Address(TOKEN).to_xdr_sc_address(), scval.to_vec([scval.to_symbol("Balance")]), xdr.ContractDataDurability.PERSISTENT
        ),
    )
    footprint.set_read_write([key])
    testnet, pubnet = Network.TESTNET_NETWORK_PASSPHRASE, Network.PUBLIC_NETWORK_PASSPHRASE
    muxed = MuxedAccount(OTHER.public_key, 5).account_muxed
    for name, network, credentials, change in [
        ("plain", testnet, 1, lambda b: b),
        ("credentials of version 2", testnet, 2, lambda b: b),
        ("pubnet", pubnet, 1, lambda b: b.add_text_memo("for tea")),
        ("time bounds", testnet, 1, lambda b: b.add_time_bounds(0, 1_790_000_100).add_hash_memo(bytes([1] * 32))),
        ("preconditions", testnet, 2, lambda b: b.set_ledger_bounds(5, 9).set_min_sequence_age(3).add_extra_signer(SignerKey.ed25519_signed_payload(PAYLOAD))),
        ("soroban data", testnet, 1, lambda b: b.set_soroban_data(footprint.build())),
    ]:
        source = muxed if name == "time bounds" else OTHER.public_key
        build = lambda auth: (
            change(builder(network, source)).append_invoke_contract_function_op(TOKEN, "transfer", arguments, auth).build()
        )
        unsigned = entry(arguments, credentials)
        signed = authorize_entry(unsigned, PAYER, 1013, network)
        yield {
            "name": name,
            "network": "pubnet" if network == pubnet else "testnet",
            "simulated": build([unsigned, entry(arguments, 1, OTHER.public_key)]).to_xdr(),
            "signed": build([signed, entry(arguments, 1, OTHER.public_key)]).to_xdr(),
        }


def operations():
    seller, other = SELLER.public_key, OTHER.public_key
    balance = "00000000" + "ab" * 32
    predicate = ClaimPredicate.predicate_or(
        ClaimPredicate.predicate_not(ClaimPredicate.predicate_before_relative_time(5)),
        ClaimPredicate.predicate_and(ClaimPredicate.predicate_unconditional(), ClaimPredicate.predicate_before_absolute_time(7)),
    )
    pool = LiquidityPoolAsset(Asset.native(), USD)
    price = Price(1, 2)
    all_operations = [
        op.CreateAccount(other, "10"),
        op.Payment(MuxedAccount(seller, 3), USD, "1.5"),
        op.PathPaymentStrictReceive(seller, USD, "5", LONG, "6", [Asset.native(), USD]),
        op.ManageSellOffer(USD, Asset.native(), "1", price, 0),
        op.CreatePassiveSellOffer(USD, LONG, "1", price),
        op.SetOptions(seller, 1, 2, 3, 4, 5, 6, Signer.sha256_hash(bytes([2] * 32), 1), "seller.example"),
        op.SetOptions(),
        op.ChangeTrust(USD, "5"),
        op.ChangeTrust(pool, "5"),
        op.AccountMerge(seller),
        op.Inflation(),
        op.ManageData("name", b"value"),
        op.ManageData("name", None),
        op.BumpSequence(9),
        op.ManageBuyOffer(USD, LONG, "1", price, 4),
        op.PathPaymentStrictSend(seller, USD, "5", LONG, "6", []),
        op.CreateClaimableBalance(USD, "5", [Claimant(seller, predicate), Claimant(other)]),
        op.ClaimClaimableBalance(balance),
        op.BeginSponsoringFutureReserves(other),
        op.EndSponsoringFutureReserves(),
        RevokeSponsorship.revoke_account_sponsorship(other),
        RevokeSponsorship.revoke_trustline_sponsorship(other, USD),
        RevokeSponsorship.revoke_trustline_sponsorship(other, LiquidityPoolId(pool.liquidity_pool_id)),
        RevokeSponsorship.revoke_offer_sponsorship(other, 5),
        RevokeSponsorship.revoke_data_sponsorship(other, "name"),
        RevokeSponsorship.revoke_claimable_balance_sponsorship(balance),
        RevokeSponsorship.revoke_liquidity_pool_sponsorship(pool.liquidity_pool_id),
        RevokeSponsorship.revoke_signer_sponsorship(other, SignerKey.ed25519_signed_payload(PAYLOAD)),
        op.Clawback(USD, MuxedAccount(other, 1), "5"),
        op.ClawbackClaimableBalance(balance),
        op.SetTrustLineFlags(other, USD),
        op.LiquidityPoolDeposit(pool.liquidity_pool_id, "1", "2", price, price),
        op.LiquidityPoolWithdraw(pool.liquidity_pool_id, "1", "2", "3"),
        op.ExtendFootprintTTL(9),
        op.RestoreFootprint(),
    ]
    for operation in all_operations:
        name = type(operation).__name__
        made = builder().append_operation(operation).add_time_bounds(0, 0).build()
        yield {"name": name, "envelope": made.to_xdr()}
    made = builder().append_operation(op.Inflation()).append_operation(op.BumpSequence(3)).build()
    made.sign(OTHER)
    yield {"name": "two operations", "envelope": made.to_xdr()}
    bumped = TransactionBuilder.build_fee_bump_transaction(SELLER.public_key, 60_000, made, Network.TESTNET_NETWORK_PASSPHRASE)
    bumped.sign(SELLER)
    yield {"name": "fee bump", "envelope": bumped.to_xdr()}
    values = [
        scval.to_bool(True), scval.to_void(), scval.to_int32(-1), scval.to_uint64(5), scval.to_timepoint(5), scval.to_duration(5),
        scval.to_uint128(5), scval.to_uint256(5), scval.to_int256(-5), scval.to_bytes(b"abcde"), scval.to_string("text"),
        scval.to_map({scval.to_symbol("a"): scval.to_vec([scval.to_uint32(1)])}), scval.to_address(TOKEN), scval.to_address(PAYEE),
    ]
    made = builder().append_invoke_contract_function_op(TOKEN, "any", values, []).build()
    yield {"name": "values", "envelope": made.to_xdr()}
    made = builder().append_upload_contract_wasm_op(b"\0asm").build()
    yield {"name": "upload", "envelope": made.to_xdr()}
    made = builder().append_create_contract_op("ab" * 32, other, [scval.to_uint32(1)], bytes(32)).build()
    yield {"name": "create", "envelope": made.to_xdr()}
    made = builder().append_create_stellar_asset_contract_from_asset_op(USD).build()
    yield {"name": "create of an asset", "envelope": made.to_xdr()}


def addresses():
    for n in range(4):
        key = hashlib.sha256(bytes([n])).digest()
        account, contract = StrKey.encode_ed25519_public_key(key), StrKey.encode_contract(key)
        muxed = MuxedAccount(account, n * 10**18 + n).account_muxed
        yield {"key": "0x" + key.hex(), "id": str(n * 10**18 + n), "account": account, "muxed": muxed, "contract": contract}


for row in {"transfers": transfers, "operations": operations, "addresses": addresses}[sys.argv[1]]():
    for name in ("simulated", "signed"):
        if name in row:
            assert TransactionEnvelope.from_xdr(row[name], Network.TESTNET_NETWORK_PASSPHRASE).to_xdr() == row[name]
    print(json.dumps(row, separators=(",", ":")))
