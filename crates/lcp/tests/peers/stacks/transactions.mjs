// Writes transfers of a token (SIP-010), signed, by @stacks/transactions:
// npm install @stacks/transactions@7.6.0 && (node transactions.mjs testnet; node transactions.mjs mainnet) > transactions.jsonl
import { createHash } from "node:crypto";
import { Cl, Pc, PostConditionMode, makeContractCall, makeContractDeploy, makeSTXTokenTransfer, sponsorTransaction, getAddressFromPrivateKey } from "@stacks/transactions";

const h = createHash("sha256").update("terms").digest();
const key = "01".repeat(32) + "01";
const other = "02".repeat(32) + "01";
const network = process.argv[2];
const sender = getAddressFromPrivateKey(key, network);
const recipient = getAddressFromPrivateKey(other, network);
const [address, name] = [recipient, "usdcx"];

const call = (more = {}) => ({
  contractAddress: address,
  contractName: name,
  functionName: "transfer",
  functionArgs: [Cl.uint(1_000_000), Cl.principal(sender), Cl.principal(recipient), Cl.some(Cl.buffer(h))],
  postConditionMode: PostConditionMode.Deny,
  postConditions: [Pc.principal(sender).willSendEq(1_000_000).ft(`${address}.${name}`, "usdcx-token")],
  senderKey: key,
  fee: 1000,
  nonce: 3,
  network,
  ...more,
});

const write = (label, transaction, h) => console.log(JSON.stringify({ label, network, sender, h, transaction: Buffer.from(transaction.serializeBytes()).toString("hex") }));
const H = "0x" + h.toString("hex");
write("call", await makeContractCall(call()), H);
const sponsored = await makeContractCall(call({ sponsored: true, fee: 0 }));
write("sponsored", await sponsorTransaction({ transaction: sponsored, sponsorPrivateKey: other, fee: 500, sponsorNonce: 1, network }), H);
const values = [
  Cl.int(-5), Cl.bool(true), Cl.contractPrincipal(address, "a-b"), Cl.ok(Cl.uint(1)), Cl.error(Cl.none()), Cl.list([Cl.none(), Cl.some(Cl.uint(1))]),
  Cl.tuple({ b: Cl.list([]), a: Cl.stringUtf8("é😀"), "c-d": Cl.stringAscii("hello") }),
];
write("more arguments", await makeContractCall(call({ functionArgs: [...call().functionArgs, ...values] })), H);
const conditions = [
  Pc.origin().willSendLte(5).ustx(), Pc.principal(`${address}.c`).willNotSendAsset().nft(`${address}.n`, "asset", Cl.tuple({ id: Cl.uint(1) })),
];
write("post-conditions", await makeContractCall(call({ postConditions: conditions, postConditionMode: PostConditionMode.Allow })), H);
write("no memo", await makeContractCall(call({ functionArgs: [...call().functionArgs.slice(0, 3), Cl.none()] })), null);
write("transfer of the coin", await makeSTXTokenTransfer({ recipient, amount: 5, senderKey: key, fee: 1000, nonce: 3, memo: "x", network }), null);
write("contract", await makeContractDeploy({ contractName: "c", codeBody: "(ok true)\n", senderKey: key, fee: 1000, nonce: 3, network }), null);
