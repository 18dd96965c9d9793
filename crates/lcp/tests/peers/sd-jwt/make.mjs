// Makes javascript.json: SD-JWTs issued, presented and verified by @sd-jwt/core, and JWSs signed by jose.
//
//     npm install && node make.mjs > javascript.json

import { SDJwtInstance } from '@sd-jwt/core';
import { ES256, digest, generateSalt } from '@sd-jwt/crypto-nodejs';
import { CompactSign, SignJWT, compactVerify, exportJWK, generateKeyPair } from 'jose';

const issuer = await ES256.generateKeyPair();
const holder = await ES256.generateKeyPair();
const sdJwt = new SDJwtInstance({
  signer: await ES256.getSigner(issuer.privateKey),
  verifier: await ES256.getVerifier(issuer.publicKey),
  signAlg: 'ES256',
  kbSigner: await ES256.getSigner(holder.privateKey),
  kbVerifier: await ES256.getVerifier(holder.publicKey),
  kbSignAlg: 'ES256',
  hasher: digest,
  hashAlg: 'sha-256',
  saltGenerator: generateSalt,
});

const claims = {
  iss: 'https://issuer.example',
  given_name: 'Ada',
  text: 'é ✓ 😀 "\\/\n',
  address: { street: 'Main 1', country: 'GB' },
  nested: { inner: { deepest: [1, 2.5, null, true] }, plain: -1e-7 },
  list: ['one', 'two', { three: 3, four: 4 }],
};
const frame = {
  _sd: ['given_name', 'text', 'nested'],
  _sd_decoy: 2,
  address: { _sd: ['street'] },
  nested: { _sd: ['inner'], inner: { _sd: ['deepest'] } },
  list: { _sd: [0, 2], _sd_decoy: 1, 2: { _sd: ['four'] } },
};
const everything = {
  given_name: true,
  text: true,
  address: { street: true },
  nested: { inner: { deepest: true } },
  list: { 0: true, 2: { four: true } },
};
const cases = [
  ['everything is disclosed', everything],
  ['nothing is disclosed', {}],
  ['some claims are disclosed', { nested: true, list: { 0: true } }],
  ['a key is bound', { given_name: true }, { payload: { iat: 1790000000, aud: 'https://verifier.example', nonce: 'n-1' } }],
];

const made = [];
for (const [name, shown, kb] of cases) {
  const issued = await sdJwt.issue(kb ? { ...claims, cnf: { jwk: holder.publicKey } } : claims, frame);
  const token = await sdJwt.present(issued, shown, kb && { kb });
  const { payload } = await sdJwt.verify(token, kb && { keyBindingNonce: 'n-1' });
  made.push({ name, token, key: issuer.publicKey, claims: payload });
}

const { publicKey, privateKey } = await generateKeyPair('ES256');
const key = await exportJWK(publicKey);
const header = { alg: 'ES256', typ: 'JWT', kid: 'merchant-1' };
const jwt = await new SignJWT(claims).setProtectedHeader(header).setIssuedAt(1790000000).sign(privateKey);
const spaced = new TextEncoder().encode(' {"a": [ 1.0, "\\u00e9\\ud83d\\ude00" ], "a" : {"b":1e21}}\n');
const jws = await new CompactSign(spaced).setProtectedHeader(header).sign(privateKey);
for (const [name, token] of [['a JWT', jwt], ['a JWS over spaced JSON with a member twice', jws]]) {
  const { payload } = await compactVerify(token, publicKey);
  made.push({ name, token, key, claims: JSON.parse(new TextDecoder().decode(payload)) });
}
console.log(JSON.stringify(made, null, 1));
