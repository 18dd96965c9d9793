// Makes javascript.json: SD-JWTs issued, presented and verified by @sd-jwt/core, and JWSs signed by jose.
//
//     node make.mjs > javascript.json
//     node make.mjs read < javascript.json    verifies the tokens again, whose keys and salts are random
//
// Needs @sd-jwt/core and @sd-jwt/crypto-nodejs (made with 0.19.0), jose (made with 6.2.18): npm install, in the folder above.

import { readFileSync } from 'node:fs';
import { SDJwtInstance } from '@sd-jwt/core';
import { ES256, digest, generateSalt } from '@sd-jwt/crypto-nodejs';
import { CompactSign, SignJWT, compactVerify, exportJWK, generateKeyPair, importJWK } from 'jose';

const issuer = await ES256.generateKeyPair();
const holder = await ES256.generateKeyPair();
const sdJwt = new SDJwtInstance({
  signer: await ES256.getSigner(issuer.privateKey),
  signAlg: 'ES256',
  kbSigner: await ES256.getSigner(holder.privateKey),
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

/** A case: what the library reads in the token. */
async function read(name, token, key) {
  if (!token.includes('~')) {
    const { payload } = await compactVerify(token, await importJWK(key, 'ES256'));
    return { name, token, key, claims: JSON.parse(new TextDecoder().decode(payload)) };
  }
  const verifying = new SDJwtInstance({ verifier: await ES256.getVerifier(key), hasher: digest, hashAlg: 'sha-256', kbVerifier });
  const { payload } = await verifying.verify(token, token.endsWith('~') ? undefined : { keyBindingNonce: 'n-1' });
  return { name, token, key, claims: payload };
}

/** Verifies with the key that the token is bound to. */
async function kbVerifier(data, signature, { cnf }) {
  return (await ES256.getVerifier(cnf.jwk))(data, signature);
}

if (process.argv[2] === 'read') {
  const cases = JSON.parse(readFileSync(0, 'utf8'));
  console.log(JSON.stringify(await Promise.all(cases.map(({ name, token, key }) => read(name, token, key))), null, 1));
  process.exit();
}

const made = [];
for (const [name, shown, kb] of cases) {
  const issued = await sdJwt.issue(kb ? { ...claims, cnf: { jwk: holder.publicKey } } : claims, frame);
  const token = await sdJwt.present(issued, shown, kb && { kb });
  made.push(await read(name, token, issuer.publicKey));
}

const { publicKey, privateKey } = await generateKeyPair('ES256');
const key = await exportJWK(publicKey);
const header = { alg: 'ES256', typ: 'JWT', kid: 'merchant-1' };
const jwt = await new SignJWT(claims).setProtectedHeader(header).setIssuedAt(1790000000).sign(privateKey);
const spaced = new TextEncoder().encode(' {"a": [ 1.0, "\\u00e9\\ud83d\\ude00" ], "a" : {"b":1e21}}\n');
const jws = await new CompactSign(spaced).setProtectedHeader(header).sign(privateKey);
for (const [name, token] of [['a JWT', jwt], ['a JWS over spaced JSON with a member twice', jws]]) {
  made.push(await read(name, token, key));
}
console.log(JSON.stringify(made, null, 1));
