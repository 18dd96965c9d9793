// Signs and reads payments with near-api-js, for the unit tests of x402/exact/near.
//
//     node payments.mjs < ours.jsonl > payments.jsonl
//
// A line of ours.jsonl is a request of the pairing's and the payload that it makes of the wallet's answer. A line that is printed
// is that answer, and what the library reads in the payload.
//
// Needs near-api-js (made with 7.2.0): npm install, in the folder above.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { deserialize, serialize } from "borsh";
import { KeyPair, KeyType, PublicKey, SCHEMA, baseEncode, encodeDelegateAction } from "near-api-js";

// Of the accounts' access keys, by the line.
const KEYS = [
  "ed25519:5nxFmA1zGn5omkJYFqzCX5muLLdApxZc3wj7J6keCK1AFLwXuCPcPPVvQE3wnaa9QXCkEeM8tdHYPZtxbgRZvGYA",
  "secp256k1:oTyWesZ6wbKvnagx3h64hQ442tHWKJTAwpEKTEv2JoXUpfByHCKWs3AtCT2QMjjV8iYZxf5CzgL4F6ePFcmusecoCNCjpqRqdw2xA99QSxyoWwcBVMd5vHVVbyz8vc3doYH",
];

function must(holds, what) {
  if (!holds) throw new Error(what);
}

function answer(key, { hash }) {
  const { signature } = KeyPair.fromString(key).sign(Uint8Array.from(Buffer.from(hash.slice(2), "hex")));
  return { keyType: key.startsWith("ed25519") ? KeyType.ED25519 : KeyType.SECP256K1, bytes: "0x" + Buffer.from(signature).toString("hex") };
}

function read({ hash }, { signedDelegateAction }) {
  const wire = Buffer.from(signedDelegateAction, "base64");
  const { delegateAction, signature } = deserialize(SCHEMA.SignedDelegate, wire);
  must(Buffer.from(serialize(SCHEMA.SignedDelegate, { delegateAction, signature })).equals(wire), signedDelegateAction);
  const digest = createHash("sha256").update(encodeDelegateAction(delegateAction)).digest();
  must("0x" + digest.toString("hex") === hash, hash);
  const [[curve, { data }]] = Object.entries(delegateAction.publicKey);
  const publicKey = PublicKey.from(`${curve.replace("Key", "")}:${baseEncode(Uint8Array.from(data))}`);
  const [[, { data: signed }]] = Object.entries(signature);
  must(publicKey.verify(digest, Uint8Array.from(signed)), "the signature");
  const { functionCall: call } = delegateAction.actions[0];
  must(delegateAction.actions.length === 1 && call, "one call");
  return {
    sender: delegateAction.senderId,
    receiver: delegateAction.receiverId,
    method: call.methodName,
    args: JSON.parse(Buffer.from(call.args).toString()),
    gas: `${call.gas}`,
    deposit: `${call.deposit}`,
    nonce: `${delegateAction.nonce}`,
    height: `${delegateAction.maxBlockHeight}`,
    publicKey: publicKey.toString(),
  };
}

readFileSync(0, "utf8").trim().split("\n").forEach((line, place) => {
  const { request, payload } = JSON.parse(line);
  console.log(JSON.stringify({ answer: answer(KEYS[place], request), read: payload && read(request, payload) }));
});
