// Makes and reads payments with @mysten/sui, for the unit tests of x402/exact/sui.
//
//     node payments.mjs < ours.jsonl > payments.jsonl
//
// A line of ours.jsonl is a request of the pairing's and the payload that it makes of the wallet's answer. A line that is printed
// is that answer, and what the library reads in the payload.
//
// Needs @mysten/sui (made with 2.33.1): npm install, in the folder above.

import { readFileSync } from "node:fs";

import { bcs } from "@mysten/sui/bcs";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Inputs, Transaction } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";
import { verifyTransactionSignature } from "@mysten/sui/verify";

const KEY = Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(7));
const object = (byte) => ({ objectId: "0x" + byte.toString(16).padStart(64, "0"), version: "5", digest: toBase58(new Uint8Array(32).fill(byte)) });
const bytes = (hex) => Uint8Array.from(Buffer.from(hex.slice(2), "hex"));

function must(holds, what) {
  if (!holds) throw new Error(what);
}

/** What a wallet answers a request with. */
async function answer({ accepted, pureInput }) {
  const tx = new Transaction();
  tx.setSender(KEY.toSuiAddress());
  tx.setGasPrice(1000);
  tx.setGasBudget(5000000);
  tx.setGasPayment([object(2)]);
  tx.setExpiration({ Epoch: 900 });
  const [coin] = tx.splitCoins(tx.object(Inputs.ObjectRef(object(3))), [tx.pure.u64(accepted.amount)]);
  tx.transferObjects([coin], tx.pure.address(accepted.payTo));
  tx.pure(bytes(pureInput));
  const { bytes: transaction, signature } = await KEY.signTransaction(await tx.build());
  return { signature, transaction };
}

/** What a payload pays, and the pure inputs that no command uses. */
async function read({ signature, transaction }) {
  const wire = Buffer.from(transaction, "base64");
  const data = bcs.TransactionData.parse(wire);
  must(Buffer.from(bcs.TransactionData.serialize(data).toBytes()).equals(wire), transaction);
  must(Buffer.from(await Transaction.from(transaction).build()).equals(wire), transaction);
  const { sender, expiration, kind } = data.V1;
  await verifyTransactionSignature(wire, signature, { address: sender });
  const { inputs, commands } = kind.ProgrammableTransaction;
  const pure = (argument) => Buffer.from(inputs[argument.Input].Pure.bytes, "base64");
  const used = new Set();
  JSON.stringify(commands, (_, value) => (value?.$kind === "Input" && used.add(value.Input), value));
  const unused = inputs.filter((input, place) => input.$kind === "Pure" && !used.has(place)).map((input) => "0x" + Buffer.from(input.Pure.bytes, "base64").toString("hex"));
  const amount = bcs.u64().parse(pure(commands[0].SplitCoins.amounts[0]));
  return { sender, to: "0x" + pure(commands[1].TransferObjects.address).toString("hex"), amount, epoch: expiration.Epoch, unused };
}

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const { request, payload } = JSON.parse(line);
  console.log(JSON.stringify({ answer: await answer(request), read: await read(payload) }));
}
