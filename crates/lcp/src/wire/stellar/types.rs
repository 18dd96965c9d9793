//! Stellar's types, as far as a transaction holds them: `Stellar-transaction.x`, `-ledger-entries.x` and `-contract.x` of
//! protocol 28. A transaction is read whole, whatever it does, since only a well-formed one is what it seems.

use super::xdr::{
    Nesting,
    Type::{self, Bytes, Enum, Fixed, List, Nested, Optional, Struct, Union},
};

/// No bound of its own: the transaction's size bounds it.
const ANY: u32 = u32::MAX;

static VOID: Type = Struct(&[]);
static FLAG: Type = Enum(2);
static INT32: Type = Fixed(4);
static INT64: Type = Fixed(8);
static INT128: Type = Fixed(16);
static INT256: Type = Fixed(32);
/// A digest, or an Ed25519 key.
static HASH: Type = Fixed(32);

// Accounts and their keys.

/// A public key under a number from which its kind is told; there is one kind.
static ACCOUNT: Type = Union(&[(0, &HASH)]);
/// An account, or the id of one of its subaccounts before its key.
pub(super) static MUXED_ACCOUNT: Type = Union(&[(0, &HASH), (0x100, &Fixed(40))]);
static SIGNED_PAYLOAD: Type = Struct(&[&HASH, &Bytes(64)]);
static SIGNER_KEY: Type = Union(&[(0, &HASH), (1, &HASH), (2, &HASH), (3, &SIGNED_PAYLOAD)]);

// Classic assets.

static CODE_4: Type = Fixed(4);
static CODE_12: Type = Fixed(12);
static CREDIT_4: Type = Struct(&[&CODE_4, &ACCOUNT]);
static CREDIT_12: Type = Struct(&[&CODE_12, &ACCOUNT]);
static ASSET: Type = Union(&[(0, &VOID), (1, &CREDIT_4), (2, &CREDIT_12)]);
static ASSET_CODE: Type = Union(&[(1, &CODE_4), (2, &CODE_12)]);
static POOL: Type = Union(&[(0, &Struct(&[&ASSET, &ASSET, &INT32]))]);
static CHANGE_TRUST_ASSET: Type = Union(&[(0, &VOID), (1, &CREDIT_4), (2, &CREDIT_12), (3, &POOL)]);
static TRUST_LINE_ASSET: Type = Union(&[(0, &VOID), (1, &CREDIT_4), (2, &CREDIT_12), (3, &HASH)]);
static PRICE: Type = Struct(&[&INT32, &INT32]);
static PATH: Type = List(&ASSET, 5);
static BALANCE_ID: Type = Union(&[(0, &HASH)]);

static PREDICATE: Type =
    Union(&[(0, &VOID), (1, &List(&PREDICATE, 2)), (2, &List(&PREDICATE, 2)), (3, &Optional(&PREDICATE)), (4, &INT64), (5, &INT64)]);
static CLAIMANT: Type = Union(&[(0, &Struct(&[&ACCOUNT, &PREDICATE]))]);

// What contracts hold.

/// An account, a contract, a subaccount's id and its account's key, a claimable balance, a liquidity pool.
pub(super) static ADDRESS: Type = Union(&[(0, &ACCOUNT), (1, &HASH), (2, &Fixed(40)), (3, &BALANCE_ID), (4, &HASH)]);
static TEXT: Type = Bytes(ANY);
pub(super) const MAX_SYMBOL: u32 = 32;
static SYMBOL: Type = Bytes(MAX_SYMBOL);
static ERROR_CODE: Type = Enum(10);
static ERROR: Type = Union(&[
    (0, &INT32),
    (1, &ERROR_CODE),
    (2, &ERROR_CODE),
    (3, &ERROR_CODE),
    (4, &ERROR_CODE),
    (5, &ERROR_CODE),
    (6, &ERROR_CODE),
    (7, &ERROR_CODE),
    (8, &ERROR_CODE),
    (9, &ERROR_CODE),
]);
static EXECUTABLE: Type = Union(&[(0, &HASH), (1, &VOID), (2, &Struct(&[&ADDRESS, &TEXT]))]);
static MAP: Type = Optional(&List(&Struct(&[&VALUE, &VALUE]), ANY));

pub(super) static VALUE: Type = Union(&[
    (0, &FLAG),
    (1, &VOID),
    (2, &ERROR),
    (3, &INT32),
    (4, &INT32),
    (5, &INT64),
    (6, &INT64),
    (7, &INT64),
    (8, &INT64),
    (9, &INT128),
    (10, &INT128),
    (11, &INT256),
    (12, &INT256),
    (13, &TEXT),
    (14, &TEXT),
    (15, &SYMBOL),
    (16, &Nested(Nesting::Values, &Optional(&List(&VALUE, ANY)))),
    (17, &Nested(Nesting::Values, &MAP)),
    (18, &ADDRESS),
    (19, &Nested(Nesting::Values, &Struct(&[&EXECUTABLE, &MAP]))),
    (20, &VOID),
    (21, &INT64),
    (22, &TEXT),
]);
pub(super) const ADDRESS_VALUE: u32 = 18;
pub(super) const INT128_VALUE: u32 = 10;

// What contracts are asked, and who allows it.

static INVOKE: Type = Struct(&[&ADDRESS, &SYMBOL, &List(&VALUE, ANY)]);
static CONTRACT_ID: Type = Union(&[(0, &Struct(&[&ADDRESS, &HASH])), (1, &ASSET)]);
static CREATE: Type = Struct(&[&CONTRACT_ID, &EXECUTABLE]);
static CREATE_V2: Type = Struct(&[&CONTRACT_ID, &EXECUTABLE, &List(&VALUE, ANY)]);
/// A call has the same number here and in [`AUTHORIZED_FUNCTION`].
pub(super) static HOST_FUNCTION: Type = Union(&[(CALL, &INVOKE), (1, &CREATE), (2, &TEXT), (3, &CREATE_V2)]);
static AUTHORIZED_FUNCTION: Type = Union(&[(CALL, &INVOKE), (1, &CREATE), (2, &CREATE_V2)]);
pub(super) const CALL: u32 = 0;
pub(super) static INVOCATION: Type = Nested(Nesting::Invocations, &Struct(&[&AUTHORIZED_FUNCTION, &List(&INVOCATION, ANY)]));

static ADDRESS_CREDENTIALS: Type = Struct(&[&ADDRESS, &INT64, &INT32, &VALUE]);
static DELEGATE: Type = Struct(&[&ADDRESS, &VALUE, &List(&DELEGATE, ANY)]);
static DELEGATED_CREDENTIALS: Type = Struct(&[&ADDRESS_CREDENTIALS, &List(&DELEGATE, ANY)]);
pub(super) static CREDENTIALS: Type =
    Union(&[(BY_SOURCE, &VOID), (BY_ADDRESS, &ADDRESS_CREDENTIALS), (BY_ADDRESS_V2, &ADDRESS_CREDENTIALS), (3, &DELEGATED_CREDENTIALS)]);
pub(super) const BY_SOURCE: u32 = 0;
pub(super) const BY_ADDRESS: u32 = 1;
pub(super) const BY_ADDRESS_V2: u32 = 2;
static ENTRY: Type = Struct(&[&CREDENTIALS, &INVOCATION]);

// Operations.

static DATA_NAME: Type = Bytes(64);
static LEDGER_KEY: Type = Union(&[
    (0, &ACCOUNT),
    (1, &Struct(&[&ACCOUNT, &TRUST_LINE_ASSET])),
    (2, &Struct(&[&ACCOUNT, &INT64])),
    (3, &Struct(&[&ACCOUNT, &DATA_NAME])),
    (4, &BALANCE_ID),
    (5, &HASH),
    (6, &Struct(&[&ADDRESS, &VALUE, &FLAG])),
    (7, &HASH),
    (8, &Enum(21)),
    (9, &HASH),
]);
/// Where a type may grow.
static EXTENSION: Type = Union(&[(0, &VOID)]);
static PATH_PAYMENT: Type = Struct(&[&ASSET, &INT64, &MUXED_ACCOUNT, &ASSET, &INT64, &PATH]);
static OFFER: Type = Struct(&[&ASSET, &ASSET, &INT64, &PRICE, &INT64]);
static OPTIONAL_INT32: Type = Optional(&INT32);
static SIGNER: Type = Struct(&[&SIGNER_KEY, &INT32]);
static SET_OPTIONS: Type = Struct(&[
    &Optional(&ACCOUNT),
    &OPTIONAL_INT32,
    &OPTIONAL_INT32,
    &OPTIONAL_INT32,
    &OPTIONAL_INT32,
    &OPTIONAL_INT32,
    &OPTIONAL_INT32,
    &Optional(&Bytes(32)),
    &Optional(&SIGNER),
]);
static REVOKE_SPONSORSHIP: Type = Union(&[(0, &LEDGER_KEY), (1, &Struct(&[&ACCOUNT, &SIGNER_KEY]))]);

static OPERATION_BODY: Type = Union(&[
    (0, &Struct(&[&ACCOUNT, &INT64])),
    (1, &Struct(&[&MUXED_ACCOUNT, &ASSET, &INT64])),
    (2, &PATH_PAYMENT),
    (3, &OFFER),
    (4, &Struct(&[&ASSET, &ASSET, &INT64, &PRICE])),
    (5, &SET_OPTIONS),
    (6, &Struct(&[&CHANGE_TRUST_ASSET, &INT64])),
    (7, &Struct(&[&ACCOUNT, &ASSET_CODE, &INT32])),
    (8, &MUXED_ACCOUNT),
    (9, &VOID),
    (10, &Struct(&[&DATA_NAME, &Optional(&Bytes(64))])),
    (11, &INT64),
    (12, &OFFER),
    (13, &PATH_PAYMENT),
    (14, &Struct(&[&ASSET, &INT64, &List(&CLAIMANT, 10)])),
    (15, &BALANCE_ID),
    (16, &ACCOUNT),
    (17, &VOID),
    (18, &REVOKE_SPONSORSHIP),
    (19, &Struct(&[&ASSET, &MUXED_ACCOUNT, &INT64])),
    (20, &BALANCE_ID),
    (21, &Struct(&[&ACCOUNT, &ASSET, &INT32, &INT32])),
    (22, &Struct(&[&HASH, &INT64, &INT64, &PRICE, &PRICE])),
    (23, &Struct(&[&HASH, &INT64, &INT64, &INT64])),
    (INVOKE_HOST_FUNCTION, &Struct(&[&HOST_FUNCTION, &List(&ENTRY, ANY)])),
    (25, &Struct(&[&EXTENSION, &INT32])),
    (26, &EXTENSION),
]);
pub(super) const INVOKE_HOST_FUNCTION: u32 = 24;
pub(super) static OPERATION_SOURCE: Type = Optional(&MUXED_ACCOUNT);
pub(super) static OPERATION: Type = Struct(&[&OPERATION_SOURCE, &OPERATION_BODY]);
pub(super) const MAX_OPERATIONS: u32 = 100;

// Transactions.

static TIME_BOUNDS: Type = Fixed(16);
static LEDGER_BOUNDS: Type = Fixed(8);
static PRECONDITIONS_V2: Type =
    Struct(&[&Optional(&TIME_BOUNDS), &Optional(&LEDGER_BOUNDS), &Optional(&INT64), &INT64, &INT32, &List(&SIGNER_KEY, 2)]);
static PRECONDITIONS: Type = Union(&[(0, &VOID), (1, &TIME_BOUNDS), (2, &PRECONDITIONS_V2)]);
static MEMO: Type = Union(&[(0, &VOID), (1, &Bytes(28)), (2, &INT64), (3, &HASH), (4, &HASH)]);
static RESOURCES_EXTENSION: Type = Union(&[(0, &VOID), (1, &List(&INT32, ANY))]);
static FOOTPRINT: Type = Struct(&[&List(&LEDGER_KEY, ANY), &List(&LEDGER_KEY, ANY)]);
static RESOURCES: Type = Struct(&[&FOOTPRINT, &INT32, &INT32, &INT32]);
static SOROBAN_DATA: Type = Struct(&[&RESOURCES_EXTENSION, &RESOURCES, &INT64]);
static SIGNATURE: Type = Struct(&[&Fixed(4), &Bytes(64)]);
static SIGNATURES: Type = List(&SIGNATURE, 20);

/// What stands between a transaction's source and its operations: fee, sequence number, preconditions, memo.
pub(super) static BEFORE_OPERATIONS: Type = Struct(&[&INT32, &INT64, &PRECONDITIONS, &MEMO]);
/// What stands behind its operations.
pub(super) static AFTER_OPERATIONS: Type = Struct(&[&Union(&[(0, &VOID), (1, &SOROBAN_DATA)]), &SIGNATURES]);
/// What stands before the transaction in a fee bump: who pays the fee, and how much.
pub(super) static BEFORE_BUMPED: Type = Struct(&[&MUXED_ACCOUNT, &INT64]);
/// What stands behind it.
pub(super) static AFTER_BUMPED: Type = Struct(&[&EXTENSION, &SIGNATURES]);

pub(super) const TRANSACTION_V1: u32 = 2;
pub(super) const FEE_BUMP: u32 = 5;
