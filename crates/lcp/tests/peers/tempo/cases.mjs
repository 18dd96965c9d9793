// Writes cases.json: Tempo's bytes as the public libraries make them (ox, and mppx for the parts of MPP that stand on
// Tempo). The unit tests of wire/tempo and of mpp/attribution.rs read it.
//
//   node cases.mjs > cases.json    (after npm install --legacy-peer-deps in the folder above)
import { Hash, Hex, P256, PublicKey, Address, Secp256k1, WebAuthnP256 } from "ox";
import { Channel, KeyAuthorization, SignatureEnvelope, TxEnvelopeTempo } from "ox/tempo";
// Not among the package's exports.
import * as Attribution from "../node_modules/mppx/dist/tempo/Attribution.js";
import * as LegacyChannel from "../node_modules/mppx/dist/tempo/legacy/session/Channel.js";

const key = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const accessKey = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const account = Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey: key }));
const p256Key = PublicKey.from(P256.getPublicKey({ privateKey: accessKey }));
const p256Account = Address.fromPublicKey(p256Key);
const token = "0x20c0000000000000000000000000000000000001";
const recipient = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
const h = Hash.sha256(Hex.fromString("terms"));

const secp256k1 = (payload, privateKey = key) => SignatureEnvelope.from(Secp256k1.sign({ payload, privateKey }));
const p256 = (payload) =>
  SignatureEnvelope.from({ type: "p256", prehash: false, publicKey: p256Key, signature: P256.sign({ payload, privateKey: accessKey }) });
const webAuthn = (challenge) => {
  const { metadata, payload } = WebAuthnP256.getSignPayload({ challenge, rpId: "wallet.example", origin: "https://wallet.example" });
  const signature = P256.sign({ payload, privateKey: accessKey, hash: true });
  return SignatureEnvelope.from({ type: "webAuthn", metadata, publicKey: p256Key, signature });
};
const keychain = (inner) => SignatureEnvelope.from({ type: "keychain", version: "v2", userAddress: account, inner });

const memo = { to: token, data: Hex.concat("0x95777d59", Hex.padLeft(recipient, 32), Hex.fromNumber(1_000_000, { size: 32 }), h) };
const base = {
  chainId: 42431,
  calls: [memo],
  gas: 200_000n,
  maxFeePerGas: 2n,
  maxPriorityFeePerGas: 1n,
  nonce: 0n,
  nonceKey: 2n ** 256n - 1n,
  validBefore: 1_790_000_060,
  feeToken: token,
};
const scope = { address: token, selector: "0x95777d59", recipients: [recipient] };
const limit = { token, limit: 10_000_000n, period: 2_592_000 };
const leave = { address: p256Account, chainId: 42431n, type: "p256", expiry: 1_797_724_800, limits: [limit], scopes: [scope], witness: h };
const signedLeave = (leave) => KeyAuthorization.from(leave, { signature: secp256k1(KeyAuthorization.getSignPayload(leave)) });
const authorization = (nonce) => {
  const unsigned = { address: recipient, chainId: 42431, nonce };
  return { ...unsigned, signature: secp256k1(h) };
};

function transaction(name, members, sender, sign) {
  const envelope = TxEnvelopeTempo.from({ ...base, ...members });
  const signature = sign(TxEnvelopeTempo.getSignPayload(envelope), envelope);
  // The fees are another's once the sender has signed.
  const sponsored = envelope.feePayerSignature === null;
  const feePayerSignature = sponsored ? Secp256k1.sign({ payload: h, privateKey: accessKey }) : undefined;
  const signed = sponsored ? { ...envelope, feePayerSignature } : envelope;
  return {
    name,
    wire: TxEnvelopeTempo.serialize(signed, { signature }),
    chainId: envelope.chainId,
    calls: envelope.calls.map(({ to, data }) => ({ to: to?.toLowerCase() ?? null, data: data ?? "0x" })),
    sender: sender.toLowerCase(),
    expiringNonceHash: Hash.keccak256(Hex.concat(TxEnvelopeTempo.encodeForSigning(envelope), sender)),
  };
}

const leaves = [
  leave,
  { ...leave, type: "secp256k1", limits: [{ token, limit: 0n, period: 86_400 }] },
  { ...leave, type: "webAuthn", expiry: undefined },
  { ...leave, limits: [{ token, limit: 5n }], scopes: [{ address: token }, scope], witness: undefined },
  { address: account, chainId: 1n, type: "secp256k1", witness: h },
  { address: account, chainId: 1n, type: "secp256k1" },
];
const challenges = [
  { realm: "api.seller.example", client: null, id: "hK9UHG_gtMuNuwxJ4ovjzE70pecw235tJTOLGfZrEf4.0" },
  { realm: "api.seller.example", client: "agent-7", id: "hK9UHG_gtMuNuwxJ4ovjzE70pecw235tJTOLGfZrEf4.31" },
  { realm: "\u00fc\u{1F600}", client: "\u00e9\u{1F600}", id: "x" },
];
const descriptors = [
  { operator: "0x" + "00".repeat(20), authorizedSigner: "0x" + "00".repeat(20), chainId: 42431 },
  { operator: p256Account, authorizedSigner: account, chainId: 4217 },
].map((members) => ({ payer: account, payee: recipient, token, salt: h, expiringNonceHash: Hash.sha256(h), ...members }));
const streams = "0x9d136eEa063eDE5418A6BC7bEafF009bBb6CFa70";

const cases = {
  transactions: [
    transaction("plain", {}, account, (payload) => secp256k1(payload)),
    transaction("several calls", { calls: [{ data: "0x6001" }, { to: recipient, value: 5n }, memo], nonceKey: 0n, nonce: 7n, validAfter: 1 }, account, (payload) => secp256k1(payload)),
    transaction("access list", { accessList: [{ address: token, storageKeys: [h, h] }], feeToken: undefined }, account, (payload) => secp256k1(payload)),
    transaction("sponsored", { feePayerSignature: null }, account, (payload) => secp256k1(payload)),
    transaction("p256", {}, p256Account, p256),
    transaction("web authn", {}, p256Account, webAuthn),
    transaction("keychain", {}, account, (_, envelope) => keychain(secp256k1(TxEnvelopeTempo.getSignPayload(envelope, { from: account }), accessKey))),
    transaction("keychain p256", {}, account, (_, envelope) => keychain(p256(TxEnvelopeTempo.getSignPayload(envelope, { from: account })))),
    transaction("keychain web authn", {}, account, (_, envelope) => keychain(webAuthn(TxEnvelopeTempo.getSignPayload(envelope, { from: account })))),
    transaction("authorizations", { authorizationList: [authorization(0n), authorization(9n)] }, account, (payload) => secp256k1(payload)),
    transaction("key authorization", { keyAuthorization: signedLeave(leave) }, account, (payload) => secp256k1(payload)),
  ],
  keyAuthorizations: leaves.map((leave) => ({
    chainId: Number(leave.chainId),
    type: leave.type,
    key: leave.address.toLowerCase(),
    expiry: leave.expiry ?? 0,
    limit: leave.limits?.[0] ? { amount: leave.limits[0].limit.toString(), period: leave.limits[0].period ?? 0 } : null,
    witness: leave.witness ?? null,
    digest: KeyAuthorization.getSignPayload(leave),
    signature: SignatureEnvelope.serialize(signedLeave(leave).signature),
    signed: KeyAuthorization.serialize(signedLeave(leave)),
  })),
  channels: descriptors.map(({ chainId, ...descriptor }) => ({
    descriptor,
    chainId,
    v1: { escrow: streams, id: LegacyChannel.computeId({ ...descriptor, escrowContract: streams, chainId }) },
    v2: { escrow: Channel.address, id: Channel.computeId(descriptor, { chainId }) },
  })),
  memos: challenges.map(({ realm, client, id }) => ({ realm, client, id, memo: Attribution.encode({ serverId: realm, clientId: client, challengeId: id }) })),
};
console.log(JSON.stringify(cases, null, 1));
