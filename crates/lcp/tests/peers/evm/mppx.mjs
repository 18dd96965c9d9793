// Reads credentials, one a line as {"name", "signed"}, as the seller's side of mppx does, and says of each whether it is
// accepted: the header's decoding with the challenge's form, and for a payload by signed transfer its schema.
//
//     node mppx.mjs < signed.jsonl
//
// Needs mppx (made with 0.11.0; it declares a peer that npm does not resolve: install with --legacy-peer-deps).
import { readFileSync } from 'node:fs'
import { Credential } from 'mppx'
import { ChargePayloadSchema } from 'mppx/evm'

for (const line of readFileSync(0, 'utf8').trim().split('\n')) {
  const { name, signed } = JSON.parse(line)
  const credential = Credential.deserialize('Payment ' + Buffer.from(JSON.stringify(signed)).toString('base64url'))
  if (signed.payload.type === 'authorization' && signed.challenge.intent === 'charge') ChargePayloadSchema.parse(credential.payload)
  console.log(name, 'accepted')
}
