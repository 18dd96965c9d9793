// Makes transactions as a wallet built on @mysten/sui does, for the unit tests of wire/sui.
//
//     node cases.mjs > cases.json
//
// `built`: transactions of the library's builder, and the pure inputs that no command uses. `types`: types to put into a call,
// between the bytes of the transaction before and after, and whether the library writes the transaction that it reads as it was.
//
// Needs @mysten/sui (made with 2.33.1): npm install, in the folder above.

import { bcs } from "@mysten/sui/bcs";
import { Inputs, Transaction } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";

const HASH = new Uint8Array(32).fill(0xab);
const hex = (bytes) => "0x" + Buffer.from(bytes).toString("hex");
const id = (byte) => "0x" + byte.toString(16).padStart(2, "0").repeat(32);
const digest = (byte) => toBase58(new Uint8Array(32).fill(byte));
const object = (byte) => ({ objectId: id(byte), version: "5", digest: digest(byte) });

function transaction() {
  const tx = new Transaction();
  tx.setSender(id(1));
  tx.setGasPrice(1000);
  tx.setGasBudget(5000000);
  tx.setGasPayment([object(2)]);
  tx.setExpiration({ Epoch: 900 });
  return tx;
}

function pay(tx) {
  const [coin] = tx.splitCoins(tx.object(Inputs.ObjectRef(object(3))), [tx.pure.u64(250000)]);
  tx.transferObjects([coin], tx.pure.address(id(4)));
  return tx;
}

const built = {
  payment: (tx) => (pay(tx), tx.pure(HASH)),
  "hash first": (tx) => (tx.pure(HASH), pay(tx)),
  "hash used": (tx) => (pay(tx), tx.moveCall({ target: `${id(5)}::m::f`, arguments: [tx.pure(HASH)] })),
  "every command": (tx) => {
    pay(tx);
    tx.pure(HASH);
    const shared = tx.object(Inputs.SharedObjectRef({ objectId: id(6), initialSharedVersion: "7", mutable: true }));
    const received = tx.object(Inputs.ReceivingRef(object(7)));
    tx.mergeCoins(shared, [received]);
    tx.makeMoveVec({ elements: [shared] });
    tx.makeMoveVec({ type: `${id(5)}::m::T<u8, vector<bool>>`, elements: [] });
    const ticket = tx.moveCall({ target: `${id(5)}::m::f`, typeArguments: ["u256", `${id(5)}::m::T`], arguments: [tx.gas, received] });
    tx.upgrade({ modules: [[1, 2]], dependencies: [id(8)], package: id(9), ticket });
    tx.publish({ modules: [[3]], dependencies: [id(8)] });
  },
  sponsored: (tx) => (pay(tx), tx.pure(HASH), tx.setGasOwner(id(10))),
  "no expiration": (tx) => (pay(tx), tx.pure(HASH), tx.setExpiration({ None: true })),
  "valid during": (tx) => {
    pay(tx);
    tx.pure(HASH);
    tx.setExpiration({ ValidDuring: { minEpoch: "1", maxEpoch: "2", minTimestamp: null, maxTimestamp: null, chain: digest(11), nonce: 7 } });
  },
};

async function bytes(build) {
  const tx = transaction();
  build(tx);
  return tx.build();
}

/** The pure inputs that no command uses, as the library tells them. */
function unused(wire) {
  const { inputs, commands } = bcs.TransactionData.parse(wire).V1.kind.ProgrammableTransaction;
  const used = new Set();
  JSON.stringify(commands, (_, value) => (value?.$kind === "Input" && used.add(value.Input), value));
  return inputs.filter((input, place) => input.$kind === "Pure" && !used.has(place)).map((input) => hex(Buffer.from(input.Pure.bytes, "base64")));
}

const struct = (name, parameters = [], module = "m") => ({ struct: { address: id(5), module, name, typeParams: parameters } });
const vector = (item) => ({ vector: item });
const nested = (depth) => (depth > 1 ? vector(nested(depth - 1)) : { u8: null });
const NAMES = ["A", "A ", " A", "A\n", "A\u2028", "\ufeffA", "A\ufeff", "A\u0085", "A, B", "A<u8>", "A>", "A::B", "A<", "u8", "é", ""];
const types = [
  ...NAMES.flatMap((name) => [struct(name), struct("T", [struct(name)]), struct("T", [struct(name), { u8: null }]), vector(struct(name))]),
  ...["", "a:b", "a::b", "m<", "m "].flatMap((module) => [struct("A", [], module), struct("T", [struct("A", [], module), { u8: null }])]),
  nested(3),
  nested(15),
];

/** What stands before and behind the one type of a call. The library writes a type only from its text, so its bytes are put in. */
async function around() {
  const wire = await bytes((tx) => (pay(tx), tx.pure(HASH), tx.moveCall({ target: `${id(5)}::m::f`, typeArguments: ["u256"] })));
  const before = Buffer.from([..."\u0001m\u0001f\u0001"].map((letter) => letter.charCodeAt(0)));
  const at = Buffer.from(wire).indexOf(before) + before.length;
  return [wire.slice(0, at), wire.slice(at + 1)];
}

function encode(type) {
  const [kind, value] = Object.entries(type)[0];
  if (kind === "u8") return Buffer.from([1]);
  if (kind === "vector") return Buffer.concat([Buffer.from([6]), encode(value)]);
  const text = (value) => Buffer.from(bcs.string().serialize(value).toBytes());
  const count = Buffer.from([value.typeParams.length]);
  return Buffer.concat([Buffer.from([7]), Buffer.from(value.address.slice(2), "hex"), text(value.module), text(value.name), count, ...value.typeParams.map(encode)]);
}

function readsBack(wire) {
  try {
    return Buffer.from(bcs.TransactionData.serialize(bcs.TransactionData.parse(wire)).toBytes()).equals(Buffer.from(wire));
  } catch {
    return false;
  }
}

const [before, after] = await around();
const cases = { built: [], types: { before: hex(before), after: hex(after), read: [] } };
for (const [name, build] of Object.entries(built)) {
  const wire = await bytes(build);
  cases.built.push({ name, wire: hex(wire), unused: unused(wire) });
}
for (const type of types) {
  const tag = encode(type);
  cases.types.read.push({ tag: hex(tag), readsBack: readsBack(Buffer.concat([before, tag, after])) });
}
console.log(JSON.stringify(cases, null, 1));
