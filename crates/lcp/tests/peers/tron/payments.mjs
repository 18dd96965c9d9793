// Signs and reads payments with TronWeb, for the unit tests of x402/exact/tron/lcp-trc20-memo.
//
//     node payments.mjs < ours.jsonl > payments.jsonl
//
// A line of ours.jsonl is a request of the pairing's and the payload that it makes of the wallet's answer. A line that is printed
// is that answer, and what the library reads in the payload, with whether it makes the same transaction of it.
//
// Needs tronweb (made with 6.5.1): npm install, in the folder above.

import { readFileSync } from "node:fs";

import { TronWeb, utils } from "tronweb";

const KEY = "07".repeat(32);
// No node is asked for anything.
const tronWeb = new TronWeb({ fullHost: "http://127.0.0.1:1", privateKey: KEY });

function must(holds, what) {
  if (!holds) throw new Error(what);
}

const answer = ({ txid }) => "0x" + utils.crypto.signTransaction(KEY, { txID: txid.slice(2) }).signature[0];

async function read({ txid }, { transaction: hex }) {
  const { Transaction } = globalThis.TronWebProto;
  const signed = Transaction.deserializeBinary(Buffer.from(hex, "hex"));
  const wire = (message) => Buffer.from(message.serializeBinary()).toString("hex");
  const [signature] = signed.getSignatureList_asU8();
  must(wire(signed) === hex && signed.getSignatureList().length === 1, hex);
  const rawHex = wire(signed.getRawData());
  must(utils.transaction.txPbToTxID(signed) === txid, txid);

  const raw = utils.deserializeTx.deserializeTransaction("TriggerSmartContract", rawHex);
  const { owner_address, contract_address, data, call_value } = raw.contract[0].parameter.value;
  must(utils.crypto.ecRecover(txid, Buffer.from(signature).toString("hex")).toLowerCase() === owner_address.toLowerCase(), "the signature");
  must(data.toLowerCase().startsWith("a9059cbb") && call_value === 0, data);
  const [to, amount] = utils.abi.decodeParams([], ["address", "uint256"], "0x" + data, true);
  const [payer, asset, payTo] = [owner_address, contract_address, to].map((address) => TronWeb.address.fromHex(address));
  const memo = Buffer.from(raw.data, "hex").toString();

  const { ref_block_bytes, ref_block_hash, expiration, timestamp, fee_limit } = raw;
  const made = await tronWeb.transactionBuilder.triggerSmartContract(
    asset,
    "transfer(address,uint256)",
    { feeLimit: fee_limit, txLocal: true, blockHeader: { ref_block_bytes, ref_block_hash, expiration, timestamp } },
    [{ type: "address", value: payTo }, { type: "uint256", value: amount }],
    payer,
  );
  const noted = await tronWeb.transactionBuilder.addUpdateData(made.transaction, memo, "utf8", { txLocal: true });
  return {
    payer,
    asset,
    payTo,
    amount: `${amount}`,
    memo,
    block: `${ref_block_bytes} ${ref_block_hash}`,
    timestamp,
    expiration,
    feeLimit: fee_limit,
    same: noted.raw_data_hex === rawHex && "0x" + noted.txID === txid,
  };
}

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const { request, payload } = JSON.parse(line);
  console.log(JSON.stringify({ answer: answer(request), read: payload && (await read(request, payload)) }));
}
