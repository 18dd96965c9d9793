// Signs and reads payments with starknet.js, for the unit tests of x402/exact/starknet.
//
//     node payments.mjs < ours.jsonl > payments.jsonl
//
// A line of ours.jsonl is a request of the pairing's and the payload that it makes of the wallet's answer. A line that is printed
// is that answer, and what the library reads in the payload, with the typed data that it makes of what it read, and whether they are
// the same but for how numbers are written.
//
// Needs starknet (made with 10.8.0): npm install, in the folder above.

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

import { CallData, Signer, ec, hash, num, outsideExecution, shortString, typedData, uint256 } from "starknet";

const KEY = "0x" + "07".repeat(31);

function must(holds, what) {
  if (!holds) throw new Error(what);
}

async function answer({ typedData: data, account }) {
  const { r, s } = await new Signer(KEY).signMessage(data, account);
  return [r, s].map((felt) => num.toHex(felt));
}

function read({ from, outsideExecution: { typedData: data, signature } }) {
  must(typedData.validateTypedData(data), "typed data");
  const digest = typedData.getMessageHash(data, from);
  const publicKey = "0x" + Buffer.from(ec.starkCurve.getPublicKey(KEY, false)).toString("hex");
  must(typedData.verifyMessage(data, signature, publicKey, from), "the signature");
  const { domain, message } = data;
  const [call] = message.Calls;
  must(message.Calls.length === 1 && call.Selector === hash.getSelectorFromName("transfer"), "one transfer");
  const [payTo, low, high] = call.Calldata;
  const options = { caller: message.Caller, execute_after: message["Execute After"], execute_before: message["Execute Before"] };
  const amount = uint256.uint256ToBN({ low, high });
  const made = outsideExecution.getTypedData(
    domain.chainId,
    options,
    message.Nonce,
    [{ contractAddress: call.To, entrypoint: "transfer", calldata: CallData.compile([payTo, uint256.bnToUint256(amount)]) }],
    "2",
  );
  // Numbers are written in more than one way.
  const plain = (value) => JSON.parse(JSON.stringify(value), (_, value) => (/^(0x[0-9a-f]+|[0-9]+)$/.test(value) ? num.toHex(value) : value));
  return {
    from,
    network: `starknet:${shortString.decodeShortString(domain.chainId)}`,
    caller: message.Caller,
    nonce: message.Nonce,
    before: message["Execute Before"],
    asset: call.To,
    payTo,
    amount: `${amount}`,
    made,
    same: isDeepStrictEqual(plain(made), plain(data)) && typedData.getMessageHash(made, from) === digest,
    hash: digest,
  };
}

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const { request, payload } = JSON.parse(line);
  console.log(JSON.stringify({ answer: await answer(request), read: payload && read(payload) }));
}
