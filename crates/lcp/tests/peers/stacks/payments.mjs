// Makes and reads payments with @stacks/transactions, for the unit tests of mpp/charge/usdc/stacks.
//
//     node payments.mjs < ours.jsonl > payments.jsonl
//
// A line of ours.jsonl is a request of the pairing's and the payload that it makes of the wallet's answer. A line that is printed
// is that answer, and what the library reads in the payload.
//
// Needs @stacks/transactions (made with 7.6.0): npm install, in the folder above.

import { readFileSync } from "node:fs";

import {
  AnchorMode, Cl, Pc, PostConditionMode, TransactionSigner, addressToString, deserializeTransaction, makeUnsignedContractCall,
  privateKeyToPublic, wireToPostCondition,
} from "@stacks/transactions";

const KEY = "01".repeat(32) + "01";
const network = (chainId) => (chainId === 1 ? "mainnet" : "testnet");

function must(holds, what) {
  if (!holds) throw new Error(what);
}

async function answer({ contract, functionName, args, chainId, postConditionMode, anchorMode }) {
  must(postConditionMode === "deny" && anchorMode === "onChainOnly", "the modes");
  const [contractAddress, contractName] = contract.split(".");
  const { amount, sender, recipient, memo } = args;
  const call = await makeUnsignedContractCall({
    contractAddress,
    contractName,
    functionName,
    functionArgs: [Cl.uint(amount), Cl.principal(sender), Cl.principal(recipient), Cl.some(Cl.bufferFromHex(memo))],
    postConditionMode: PostConditionMode.Deny,
    postConditions: [Pc.principal(sender).willSendEq(amount).ft(contract, "usdcx-token")],
    publicKey: privateKeyToPublic(KEY),
    fee: 1000,
    nonce: 3,
    network: network(Number(chainId)),
  });
  call.anchorMode = AnchorMode.OnChainOnly;
  new TransactionSigner(call).signOrigin(KEY);
  return "0x" + call.serialize();
}

function read({ transaction }) {
  const wire = Buffer.from(transaction, "base64").toString("hex");
  const call = deserializeTransaction(wire);
  must(call.serialize() === wire, wire);
  call.verifyOrigin();
  const { contractAddress, contractName, functionName, functionArgs } = call.payload;
  const [amount, from, to, memo] = functionArgs;
  const [condition] = call.postConditions.values.map(wireToPostCondition);
  return {
    sender: addressToString({ ...contractAddress, hash160: call.auth.spendingCondition.signer, version: call.chainId === 1 ? 22 : 26 }),
    chainId: call.chainId,
    contract: `${addressToString(contractAddress)}.${contractName.content}`,
    functionName: functionName.content,
    amount: `${amount.value}`,
    from: from.value,
    to: to.value,
    memo: "0x" + memo.value.value,
    anchorMode: call.anchorMode,
    postConditionMode: call.postConditionMode,
    condition: `${condition.address} ${condition.condition} ${condition.amount} ${condition.asset}`,
  };
}

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const { request, payload } = JSON.parse(line);
  console.log(JSON.stringify({ answer: await answer(request), read: payload && read(payload) }));
}
