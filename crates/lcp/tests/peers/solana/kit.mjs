// Compiles again what messages, one a line as {"name", "message"} in 0x hex, call: says for each what bytes @solana/kit
// makes of the calls, their accounts by address and role.
//
//     node kit.mjs < requests.jsonl > compiled.jsonl
//
// Needs @solana/kit (made with 8.4.0).
import { readFileSync } from 'node:fs'
import {
  compileTransactionMessage,
  decompileTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/kit'

for (const line of readFileSync(0, 'utf8').trim().split('\n')) {
  const { name, message } = JSON.parse(line)
  const read = getCompiledTransactionMessageDecoder().decode(Buffer.from(message.slice(2), 'hex'))
  const bytes = getCompiledTransactionMessageEncoder().encode(compileTransactionMessage(decompileTransactionMessage(read)))
  console.log(JSON.stringify({ name, message: '0x' + Buffer.from(bytes).toString('hex') }))
}
