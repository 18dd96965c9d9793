// Makes signed delegate actions as a wallet built on near-api-js does, for the unit tests of wire/near.
//
//     node cases.mjs > cases.json
//
// `transfers`: the members of a token transfer, the action, the hash that is signed, the wallet's answer, and the signed action.
// `others`: signed actions that are no one call, with what the library calls them.
//
// Needs near-api-js (made with 7.2.0): npm install, in the folder above.

import { createHash } from "node:crypto";
import { KeyPair, Signature, actions, buildDelegateAction, encodeDelegateAction, encodeSignedDelegate } from "near-api-js";

const LCP = "lcp:sha256:0x" + "ab".repeat(32);
const ED25519 = "ed25519:5nxFmA1zGn5omkJYFqzCX5muLLdApxZc3wj7J6keCK1AFLwXuCPcPPVvQE3wnaa9QXCkEeM8tdHYPZtxbgRZvGYA";
const SECP256K1 =
  "secp256k1:oTyWesZ6wbKvnagx3h64hQ442tHWKJTAwpEKTEv2JoXUpfByHCKWs3AtCT2QMjjV8iYZxf5CzgL4F6ePFcmusecoCNCjpqRqdw2xA99QSxyoWwcBVMd5vHVVbyz8vc3doYH";
const PREFIX_LENGTH = 4;

const hex = (bytes) => "0x" + Buffer.from(bytes).toString("hex");

function signed(key, { sender = "buyer.testnet", receiver = "usdc.fakes.testnet", nonce = 103066617000687n, height = 165000060n, list }) {
  const pair = KeyPair.fromString(key);
  const delegateAction = buildDelegateAction({
    actions: list,
    maxBlockHeight: height,
    nonce,
    publicKey: pair.getPublicKey(),
    receiverId: receiver,
    senderId: sender,
  });
  const prefixed = encodeDelegateAction(delegateAction);
  const hash = createHash("sha256").update(prefixed).digest();
  const bytes = pair.sign(hash).signature;
  const keyType = key.startsWith("ed25519") ? 0 : 1;
  const signature = new Signature({ keyType, data: bytes });
  return {
    publicKey: pair.getPublicKey().toString(),
    action: hex(prefixed.slice(PREFIX_LENGTH)),
    hash: hex(hash),
    keyType,
    signature: hex(bytes),
    signed: hex(encodeSignedDelegate({ delegateAction, signature })),
  };
}

function transfer(key, { to = "seller.testnet", amount = "1000000", ...more }) {
  const args = JSON.stringify({ receiver_id: to, amount, memo: LCP });
  const call = actions.functionCall("ft_transfer", Buffer.from(args), 30000000000000n, 1n);
  const { sender = "buyer.testnet", receiver = "usdc.fakes.testnet", nonce = 103066617000687n, height = 165000060n } = more;
  const members = { sender, receiver, to, amount, memo: LCP, nonce: nonce.toString(), height: height.toString() };
  return { ...members, ...signed(key, { sender, receiver, nonce, height, list: [call] }) };
}

const call = (name) => actions.functionCall(name, Buffer.from("{}"), 1n, 0n);

const cases = {
  transfers: [
    transfer(ED25519, {}),
    transfer(SECP256K1, {}),
    transfer(ED25519, { sender: "ab".repeat(32), receiver: "a-b_c.d", to: "0x" + "1".repeat(40), nonce: 2n ** 64n - 1n, height: 2n ** 64n - 1n }),
    transfer(ED25519, { amount: (2n ** 128n - 1n).toString() }),
  ],
  others: [
    ["two actions", "near/actions", [call("ft_transfer"), call("ft_transfer")]],
    ["no action", "near/actions", []],
    ["transfer", "near/not-ft-transfer", [actions.transfer(1n)]],
    ["deploy", "near/not-ft-transfer", [actions.deployContract(new Uint8Array([1]))]],
    ["create", "near/not-ft-transfer", [actions.createAccount()]],
    ["another function", "near/not-ft-transfer", [call("ft_transfer_call")]],
    ["no arguments", "near/args-malformed", [call("ft_transfer")]],
  ].map(([name, refusal, list]) => ({ name, refusal, signed: signed(ED25519, { list }).signed })),
};
console.log(JSON.stringify(cases, null, 1));
