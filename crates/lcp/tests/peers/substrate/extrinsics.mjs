// Makes calls and signed extrinsics of Asset Hub from its metadata with the public library, and reads and signs the calls that
// the pairing asks a wallet for.
//
//     node extrinsics.mjs < requests.jsonl > extrinsics.json
//
// `calls`: payments' calls. `others`: calls that are none. `asked`: for each request, what the library reads in the call, and
// the extrinsic that makes it, for each kind of key. `refused`: extrinsics that no payment has, and the reader's refusals.
//
// Needs @polkadot/types, @polkadot/types-support and @polkadot/keyring (made with 16.5.6 and 14.0.3): npm install, in the folder
// above.

import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";

// Schnorr signatures are otherwise made with chance.
webcrypto.getRandomValues = (bytes) => bytes.fill(7);
const { Keyring } = await import("@polkadot/keyring");
const { Metadata, TypeRegistry, expandMetadata } = await import("@polkadot/types");
const { default: metadataHex } = await import("@polkadot/types-support/metadata/v15/asset-hub-polkadot-hex");
const { default: runtime } = await import("@polkadot/types-support/metadata/v15/asset-hub-polkadot-ver");
const { hexToU8a, u8aConcat, u8aToHex } = await import("@polkadot/util");
const { cryptoWaitReady, encodeAddress, sha256AsU8a, signatureVerify } = await import("@polkadot/util-crypto");
await cryptoWaitReady();

const registry = new TypeRegistry();
const metadata = new Metadata(registry, registry.createType("Option<OpaqueMetadata>", hexToU8a(metadataHex)).unwrap().toHex());
registry.setMetadata(metadata);
const { assets, system, utility } = expandMetadata(registry, metadata).tx;

const GENESIS = "0x68d56f15f85d3136970ec16946040bc1752654e906147f7e43e9d539d7c3de2f";
const BLOCK = "0x" + "b1".repeat(32);
const KEYS = ["sr25519", "ed25519", "ecdsa"].map((type) => new Keyring({ type, ss58Format: 0 }).addFromSeed(new Uint8Array(32).fill(7)));
const REMARK = "lcp:sha256:0x" + "ab".repeat(32);
const payee = encodeAddress(sha256AsU8a("payee"), 0);

function must(holds, what) {
  if (!holds) throw new Error(what);
}

const pay = (asset, amount, remark = REMARK) => utility.batchAll([assets.transferKeepAlive(asset, payee, amount), system.remarkWithEvent(remark)]);

/** What a call of exactly this form holds. */
function read(hex) {
  const call = registry.createType("Call", hexToU8a(hex));
  must(call.toHex() === hex && call.section === "utility" && call.method === "batchAll" && call.args[0].length === 2, hex);
  const [transfer, remark] = call.args[0];
  must(transfer.section === "assets" && transfer.method === "transferKeepAlive" && transfer.args[1].type === "Id", hex);
  must(remark.section === "system" && remark.method === "remarkWithEvent", hex);
  const [asset, to, amount] = transfer.args;
  return { asset: asset.toString(), to: encodeAddress(to.value.toU8a(), 0), amount: amount.toString(), remark: remark.args[0].toUtf8() };
}

const options = (more) => ({
  blockHash: BLOCK,
  era: registry.createType("ExtrinsicEra", { current: 1000, period: 64 }),
  genesisHash: GENESIS,
  nonce: 300,
  runtimeVersion: registry.createType("RuntimeVersionPartial", runtime),
  signedExtensions: registry.signedExtensions,
  tip: 0,
  ...more,
});

/** A signed extrinsic, and the bytes of what stands between its signature and its call. */
function sign(call, key, more) {
  const extrinsic = registry.createType("Extrinsic", call, { version: 4 }).sign(key, options(more));
  const again = registry.createType("Extrinsic", hexToU8a(extrinsic.toHex()));
  must(again.toHex() === extrinsic.toHex() && again.isSigned && again.method.toHex() === call.toHex(), extrinsic.toHex());
  const payload = registry.createType("ExtrinsicPayload", { ...options(more), ...options(more).runtimeVersion.toJSON(), method: call.toHex() }, { version: 4 });
  const bytes = payload.toU8a({ method: true });
  const { isValid, crypto } = signatureVerify(bytes.length > 256 ? registry.hash(bytes) : bytes, again.signature.toU8a(), again.signer.toString());
  must(isValid && crypto === key.type, `${key.type}: ${isValid}, ${crypto}`);
  const extensions = Object.keys(registry.getSignedExtensionTypes()).map((name) => again.inner.signature.get(name).toU8a());
  return { key: key.type, extensions: u8aToHex(u8aConcat(...extensions)), extrinsic: extrinsic.toHex() };
}

const calls = [[1337, 1500000n], [0, 1n], [2 ** 32 - 1, 2n ** 128n - 1n], [22222012, 2n ** 30n]].map(([asset, amount]) => {
  const call = pay(asset, amount).toHex();
  return { ...read(call), call };
});

const transfer = assets.transferKeepAlive(1337, payee, 1500000);
const remark = system.remarkWithEvent(REMARK);
const others = Object.entries({
  "another batch": utility.batch([transfer, remark]),
  "a batch that goes on": utility.forceBatch([transfer, remark]),
  "remark first": utility.batchAll([remark, transfer]),
  "a transfer that may end the account": utility.batchAll([assets.transfer(1337, payee, 1500000), remark]),
  "a remark without an event": utility.batchAll([transfer, system.remark(REMARK)]),
  "no remark": utility.batchAll([transfer]),
  "two remarks": utility.batchAll([transfer, remark, remark]),
  "an address of 20 bytes": utility.batchAll([assets.transferKeepAlive(1337, { Address20: new Uint8Array(20) }, 1500000), remark]),
  "no batch": transfer,
}).map(([name, call]) => ({ name, call: call.toHex() }));

const requests = readFileSync(0, "utf8").trim().split("\n").map(JSON.parse);
const asked = requests.map(({ call: hex }) => {
  const call = registry.createType("Call", hexToU8a(hex));
  const fee = { assetId: { parents: 0, interior: { X2: [{ PalletInstance: 50 }, { GeneralIndex: 1337 }] } } };
  const extrinsics = KEYS.flatMap((key) => [{}, { tip: 2n ** 70n }, fee].map((more) => sign(call, key, more)));
  return { ...read(hex), call: hex, extrinsics };
});

const call = pay(1337, 1500000);
const refused = [
  { refusal: "polkadot/not-signed-v4", extrinsic: registry.createType("Extrinsic", call, { version: 4 }).toHex() },
  { refusal: "polkadot/not-signed-v4", extrinsic: registry.createType("Extrinsic", call, { version: 5 }).toHex() },
];
console.log(JSON.stringify({ specName: runtime.specName, specVersion: runtime.specVersion, calls, others, asked, refused }, null, 1));
