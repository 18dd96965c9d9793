// Signs and reads payments with Casper's SDK, for the unit tests of x402/exact/casper.
//
//     node payments.mjs < ours.jsonl > payments.jsonl
//
// A line of ours.jsonl is a request of the pairing's and the payload that it makes of the wallet's answer. A line that is printed
// is that answer, and what the SDK reads in the payload, as who settles it does: the call of the token by the payload's members.
// The SDK has no EIP-712. What is signed is the digest by another library's, but for Casper's addresses: they are longer than
// those of EVM networks, and stand in it as the hash of their bytes.
//
// Needs casper-js-sdk and ox (made with 5.0.12 and 1.8.3): npm install, in the folder above.

import { readFileSync } from "node:fs";

import casper from "casper-js-sdk";
import { AbiParameters, Hash, Hex, TypedData } from "ox";

const { Args, CLTypeUInt8, CLValue, ContractCallBuilder, Key, KeyAlgorithm, PrivateKey, PublicKey } = casper;

// Of the payers, by the line.
const KEYS = [KeyAlgorithm.ED25519, KeyAlgorithm.SECP256K1].map((algorithm) => PrivateKey.fromHex("07".repeat(32), algorithm));
const RELAYER = PrivateKey.fromHex("08".repeat(32), KeyAlgorithm.ED25519);

const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
const hex = (bytes) => Buffer.from(bytes).toString("hex");

function must(holds, what) {
  if (!holds) throw new Error(what);
}

/** Of typed data whose struct has no member of another struct. */
function digest({ domain, types, primaryType, message }) {
  const separator = TypedData.hashDomain({ domain: { ...domain, contract_package_hash: "0x" + domain.contract_package_hash }, types });
  const word = ({ name, type }) => {
    const value = type === "uint256" ? BigInt(message[name]) : "0x" + message[name];
    if (type === "address") return Hash.keccak256(value);
    return AbiParameters.encode([{ type }], [value]);
  };
  const struct = Hash.keccak256(Hex.concat(TypedData.hashType({ primaryType, types }), ...types[primaryType].map(word)));
  return Hash.keccak256(Hex.concat("0x1901", separator, struct));
}

function answer(key, { typedData }) {
  must("00" + key.publicKey.accountHash().toHex() === typedData.message.from, "the payer");
  return { publicKey: key.publicKey.toHex(), signature: hex(key.signAndAddAlgorithmBytes(bytes(digest(typedData).slice(2)))) };
}

/** A key of an account or a package, as the token's call takes it. */
const keyed = (text) => (text.startsWith("00") ? Key.newKey("account-hash-" + text.slice(2)) : Key.newKey("hash-" + text.slice(2)));
const unkeyed = (key) => (key.account ? "00" + key.account.toHex() : "01" + key.hash.toHex());
const listed = (hex) => CLValue.newCLList(CLTypeUInt8, Array.from(bytes(hex), (byte) => CLValue.newCLUint8(byte)));

function read({ typedData }, { authorization, publicKey, signature }) {
  must(JSON.stringify(authorization) === JSON.stringify(typedData.message), "what is signed");
  const payer = PublicKey.fromHex(publicKey);
  const hash = digest(typedData);
  must(payer.verifySignature(bytes(hash.slice(2)), bytes(signature)), "the signature");
  must(payer.accountHash().toHex() === authorization.from.slice(2), "the payer");
  const call = new ContractCallBuilder()
    .from(RELAYER.publicKey)
    .byPackageHash(typedData.domain.contract_package_hash)
    .entryPoint("transfer_with_authorization")
    .runtimeArgs(
      Args.fromMap({
        from: CLValue.newCLKey(keyed(authorization.from)),
        to: CLValue.newCLKey(keyed(authorization.to)),
        value: CLValue.newCLUInt256(authorization.value),
        valid_after: CLValue.newCLUint64(authorization.validAfter),
        valid_before: CLValue.newCLUint64(authorization.validBefore),
        nonce: listed(authorization.nonce),
        public_key: CLValue.newCLPublicKey(payer),
        signature: listed(signature),
      }),
    )
    .chainName(typedData.domain.chain_name.slice("casper:".length))
    .payment(7_000_000_000)
    .build();
  const args = Args.fromBytes(call.args.toBytes());
  const arg = (name) => args.getByName(name);
  const list = (name) => hex(arg(name).list.elements.map((byte) => byte.ui8.toNumber()));
  must(list("signature") === signature && arg("public_key").publicKey.toHex() === publicKey, "the arguments");
  return {
    algorithm: payer.cryptoAlg,
    digest: hash,
    package: typedData.domain.contract_package_hash,
    from: unkeyed(arg("from").key),
    to: unkeyed(arg("to").key),
    value: arg("value").ui256.toString(),
    validAfter: arg("valid_after").ui64.toString(),
    validBefore: arg("valid_before").ui64.toString(),
    nonce: list("nonce"),
  };
}

readFileSync(0, "utf8").trim().split("\n").forEach((line, place) => {
  const { request, payload } = JSON.parse(line);
  console.log(JSON.stringify({ answer: answer(KEYS[place], request), read: payload && read(request, payload) }));
});
