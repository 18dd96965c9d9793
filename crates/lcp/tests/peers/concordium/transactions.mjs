// Makes signed transactions as a wallet built on Concordium's SDK does, and reads what the pairing asks a wallet for.
//
//     node transactions.mjs < requests.jsonl > transactions.json
//
// `made`: transactions, and the memo in them or what the reader is to refuse them for. `addresses`: texts, and whether the
// library reads one as an account's address. `asked`: for each request, what the library reads the memo as, and the transaction
// that pays it.
//
// Needs @concordium/web-sdk (made with 12.0.2): npm install, in the folder above.

import { readFileSync } from "node:fs";

import { CborAccountAddress, CborMemo, TokenAmount, TokenId, createTokenUpdatePayload, decodeTokenOperations } from "@concordium/web-sdk/plt";
import { Payload, Transaction } from "@concordium/web-sdk/transactions";
import { AccountAddress, AccountTransactionType, CcdAmount, DataBlob, SequenceNumber, TransactionExpiry, buildBasicAccountSigner } from "@concordium/web-sdk/types";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const account = (byte) => AccountAddress.fromBuffer(new Uint8Array(32).fill(byte));
const [PAYER, PAYEE, SPONSOR] = [1, 2, 3].map(account);
const SIGNER = buildBasicAccountSigner("07".repeat(32));
const TEXT = "lcp:sha256:0x" + "ab".repeat(32);
const EXPIRY = 1790000060;
const EURR = TokenId.fromString("EURR");

function must(holds, what) {
  if (!holds) throw new Error(what);
}

/** A signed transaction's JSON, and what the library reads of it: its header, and its payload by way of the bytes. */
async function signed(payload, { sponsor = SPONSOR, expiry = EXPIRY } = {}) {
  const unsigned = Transaction.create(payload.type, payload);
  unsigned.addMetadata({ sender: PAYER, nonce: SequenceNumber.create(7), expiry: TransactionExpiry.fromEpochSeconds(expiry) });
  if (sponsor) unsigned.addSponsor(sponsor);
  const transaction = await Transaction.sign(unsigned.build(), SIGNER);
  const text = Transaction.toJSONString(transaction);
  const again = Transaction.fromJSONString(text, Transaction.signableFromJSON);
  const wire = (transaction) => hex(Transaction.serializeBlockItem(Transaction.finalize(transaction)));
  must(wire(again) === wire(transaction), text);
  return { transaction: JSON.parse(text), header: again.header, payload: Payload.deserialize(Payload.serialize(again.payload).buffer) };
}

/** The memo of coins, or of the first operation with one. */
function memoIn(payload) {
  if (payload.type === AccountTransactionType.TransferWithMemo) return new Uint8Array(payload.memo.data);
  if (payload.type !== AccountTransactionType.TokenUpdate) return undefined;
  const memo = decodeTokenOperations(payload.operations).find((operation) => operation.transfer?.memo)?.transfer.memo;
  return memo?.content ?? memo;
}

const textIn = (payload) => CborMemo.parse({ content: memoIn(payload) });

const coins = (memo, amount = 5000000n) => Payload.transfer({ toAddress: PAYEE, amount: CcdAmount.fromMicroCcd(amount), memo: memo && new DataBlob(memo) });
const transfer = (memo, recipient = CborAccountAddress.fromAccountAddress(PAYEE)) => ({
  transfer: { amount: TokenAmount.create(5000000n, 6), recipient, ...(memo && { memo }) },
});
const tokens = (...operations) => Payload.tokenUpdate(createTokenUpdatePayload(EURR, operations));

const memo = CborMemo.fromString(TEXT);
const long = CborMemo.fromString("a".repeat(254));
const made = [];
async function make(name, payload, refusal, more) {
  const { transaction, payload: read } = await signed(payload, more);
  made.push({ name, transaction, ...(refusal ? { refusal: "ccd/" + refusal } : { memo: hex(memoIn(read)), text: textIn(read) }) });
}
await make("coins", coins(memo.content));
await make("all coins", coins(memo.content, 2n ** 64n - 1n), null, { expiry: 2 ** 32 });
await make("longest memo", coins(long.content));
await make("token", tokens(transfer(memo)));
await make("token, memo of bytes", tokens(transfer(memo.content)));
await make("token, to an account of whichever network", tokens(transfer(memo, CborAccountAddress.fromJSON({ address: PAYEE.toJSON() }))));
await make("token, longest memo", tokens(transfer(long)));
await make("not sponsored", coins(memo.content), "not-v1", { sponsor: null });
await make("coins without a memo", coins(), "no-memo");
await make("token without a memo", tokens(transfer()), "no-memo");
await make("two transfers", tokens(transfer(memo), transfer(memo)), "operation-count");
await make("no operation", tokens(), "operation-count");
await make("mint", tokens({ mint: { amount: TokenAmount.create(5000000n, 6) } }), "operation-count");
await make("pause", tokens({ pause: {} }), "operation-count");
await make("data", Payload.registerData({ data: new DataBlob(memo.content) }), "payload-kind");

function isAddress(text) {
  try {
    AccountAddress.fromBase58(text);
    return true;
  } catch {
    return false;
  }
}
const texts = [0, 1, 127, 255].map((byte) => AccountAddress.toBase58(account(byte)));
texts.push(AccountAddress.toBase58(AccountAddress.getAlias(PAYEE, 5)), texts[1].slice(1), texts[1] + "1", texts[1].replace("B", "C"), "1".repeat(50), "");
const addresses = texts.map((text) => ({ text, isAddress: isAddress(text) }));

/** A wallet's part: the transaction that a request asks for, and what the library reads in it. */
async function answer(request) {
  const bytes = Uint8Array.from(Buffer.from(request.memo.slice(2), "hex"));
  const toAddress = AccountAddress.fromBase58(request.toAddress);
  let payload;
  if (request.asset === "CCD") {
    payload = Payload.transfer({ toAddress, amount: CcdAmount.fromMicroCcd(request.amount), memo: new DataBlob(bytes) });
  } else {
    const operation = { amount: TokenAmount.create(BigInt(request.amount), 6), recipient: CborAccountAddress.fromAccountAddress(toAddress), memo: CborMemo.fromCBOR(bytes) };
    payload = Payload.tokenUpdate(createTokenUpdatePayload(TokenId.fromString(request.asset), { transfer: operation }));
  }
  const { transaction, header, payload: read } = await signed(payload, { sponsor: AccountAddress.fromBase58(request.sponsor), expiry: request.expiresBy });
  const transfer = read.operations && decodeTokenOperations(read.operations)[0].transfer;
  return {
    transaction,
    text: textIn(read),
    sponsor: header.sponsor.account.toJSON(),
    expiresBy: Number(header.expiry.expiryEpochSeconds),
    toAddress: (transfer ? transfer.recipient.address : read.toAddress).toJSON(),
    asset: read.tokenId?.toString() ?? "CCD",
    amount: `${transfer ? transfer.amount.value : read.amount.microCcdAmount}`,
  };
}
const requests = readFileSync(0, "utf8").trim().split("\n").map(JSON.parse);
const asked = await Promise.all(requests.map(answer));
console.log(JSON.stringify({ text: TEXT, memo: hex(memo.content), tokenForm: hex(CborMemo.toCBOR(memo)), made, addresses, asked }, null, 1));
