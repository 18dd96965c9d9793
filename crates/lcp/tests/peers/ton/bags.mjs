// Makes bags of cells in every layout that the public library reads, and reads the payments that wire/ton writes.
//
//     node bags.mjs < settlements.jsonl > bags.json
//
// `bags`: cells of the library's, with and without an index and a checksum, also in the older layouts that have no place for a
// root. `settlements`: what the library reads in those that we make of the payments of cases.json.
//
// Needs @ton/core (made with 0.63.1): npm install, in the folder above.

import { readFileSync } from "node:fs";

import { Address, Cell, beginCell, contractAddress, convertToMerkleProof, loadMessageRelaxed, loadOutList } from "@ton/core";

function must(holds, what) {
  if (!holds) throw new Error(what);
}

const only = (bytes) => {
  const roots = Cell.fromBoc(bytes);
  must(roots.length === 1, `${roots.length} roots`);
  return roots[0];
};

/** The bag in a layout of its own magic number, which leaves out the root's place. */
function older(cell, magic, crc32) {
  const bag = cell.toBoc({ idx: true, crc32 });
  const size = bag[4] & 7;
  const root = 6 + 3 * size + bag[5];
  const lean = Buffer.concat([Buffer.from(magic, "hex"), Buffer.from([size]), bag.subarray(5, root), bag.subarray(root + size, bag.length - (crc32 ? 4 : 0))]);
  return crc32 ? Buffer.concat([lean, checksum(lean)]) : lean;
}

/** CRC-32C, which the library does not export. */
function checksum(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  const written = Buffer.alloc(4);
  written.writeInt32LE(~crc);
  return written;
}

function bag(name, cell) {
  const layouts = [false, true].flatMap((idx) => [false, true].map((crc32) => cell.toBoc({ idx, crc32 })));
  layouts.push(older(cell, "68ff65f3", false), older(cell, "acc3a728", true));
  for (const layout of layouts) must(only(layout).equals(cell), name);
  return { name, hash: cell.hash().toString("hex"), depth: cell.depth(), cells: distinct(cell).size, bags: layouts.map((layout) => layout.toString("hex")) };
}

function distinct(cell, all = new Set()) {
  if (!all.has(cell.hash().toString("hex"))) {
    all.add(cell.hash().toString("hex"));
    cell.refs.forEach((cell) => distinct(cell, all));
  }
  return all;
}

const leaf = (number) => beginCell().storeUint(number, 32).endCell();
const over = (cells, bits = beginCell()) => cells.reduce((builder, cell) => builder.storeRef(cell), bits).endCell();
const chain = (levels) => (levels ? over([chain(levels - 1), leaf(1)], beginCell().storeUint(levels, 10 + levels)) : leaf(1));
function tree(cells) {
  if (cells.length === 1) return cells[0];
  const fours = Array.from({ length: Math.ceil(cells.length / 4) }, (_, place) => over(cells.slice(4 * place, 4 * place + 4)));
  return tree(fours);
}
const full = beginCell().storeBuffer(Buffer.alloc(127, 0xa5)).storeUint(3, 7);
const pruned = (cell) => beginCell().storeUint(1, 8).storeUint(1, 8).storeBuffer(cell.hash()).storeUint(cell.depth(), 16).endCell({ exotic: true });
const library = beginCell().storeUint(2, 8).storeBuffer(leaf(1).hash()).endCell({ exotic: true });

const bags = [
  bag("one cell", leaf(7)),
  bag("two cells", over([leaf(7)])),
  bag("a shared cell", over([leaf(1), over([leaf(1), leaf(2)]), leaf(1), leaf(2)])),
  bag("full cells", over([over([leaf(1), leaf(2), leaf(3), leaf(4)], full)], beginCell().storeBuffer(Buffer.alloc(127, 0x5a)))),
  bag("chain", chain(32)),
  bag("255 cells", over([tree(Array.from({ length: 190 }, (_, number) => leaf(number)))])),
  bag("256 cells", over([tree(Array.from({ length: 191 }, (_, number) => leaf(number)))])),
  bag("a library's cell", over([library, leaf(1)])),
  bag("proof", over([convertToMerkleProof(over([pruned(chain(3)), leaf(5)])), leaf(6)])),
];

const raw = (address) => address && address.toRawString();

/** A payment's message, down to its comment. */
function settlement(bytes) {
  const message = loadMessageRelaxed(only(bytes).beginParse());
  const { info, init } = message;
  must(info.type === "internal" && !info.bounce && !info.src && info.value.coins === 0n, "the message's head");
  must(!init || contractAddress(info.dest.workChain, init).equals(info.dest), "the wallet's first state");
  const request = message.body.beginParse();
  must(request.loadUint(32) === 0x73696e74, "the request");
  const [walletId, validUntil, seqno] = [0, 0, 0].map(() => request.loadUint(32));
  const actions = loadOutList(request.loadMaybeRef().beginParse());
  must(actions.length === 1 && actions[0].type === "sendMsg" && !request.loadBit(), "the actions");
  const signature = request.loadBuffer(64).toString("hex");
  request.endParse();

  const [{ mode, outMsg }] = actions;
  must(outMsg.info.type === "internal" && outMsg.info.bounce && !outMsg.init, "the message to the jettons");
  const transfer = outMsg.body.beginParse();
  must(transfer.loadUint(32) === 0x0f8a7ea5 && transfer.loadUint(64) === 0, "the transfer");
  const [amount, payee, response] = [transfer.loadCoins(), transfer.loadAddress(), transfer.loadMaybeAddress()];
  must(!transfer.loadMaybeRef(), "a payload of the transfer's own");
  const forward = transfer.loadCoins();
  must(transfer.loadBit(), "a payload in its own cell");
  const comment = transfer.loadRef().beginParse();
  transfer.endParse();
  must(comment.loadUint(32) === 0, "a comment");
  return {
    wallet: raw(info.dest), payee: raw(payee), jettonWallet: raw(outMsg.info.dest), response: raw(response), amount: `${amount}`, forward: `${forward}`,
    attached: `${outMsg.info.value.coins}`, walletId, validUntil, seqno, mode, hasInit: !!init, signature, comment: comment.loadStringTail(),
  };
}

const lines = readFileSync(0, "utf8").trim().split("\n");
const settlements = lines.map((line) => settlement(Buffer.from(JSON.parse(line).bag, "hex")));
console.log(JSON.stringify({ bags, settlements }, null, 1));
