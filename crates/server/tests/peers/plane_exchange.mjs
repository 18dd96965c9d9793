// The exchange that each SDK client has with the server: what it is given, and what it prints for the test to judge.
import { readFileSync } from "node:fs";

// { url, key, calls: [{ name, arguments }] }
export const given = JSON.parse(readFileSync(0, "utf8"));
export const url = new URL(given.url);
export const options = { requestInit: { headers: { Authorization: `Bearer ${given.key}` } } };

export async function exchange(client) {
  const { tools } = await client.listTools();
  const results = [];
  const known = {};
  for (const call of given.calls) {
    // "$name" stands for the member of that name in the results so far.
    const filled = JSON.parse(JSON.stringify(call.arguments), (_, value) => (typeof value === "string" && value.startsWith("$") ? known[value.slice(1)] : value));
    const result = await client.callTool({ name: call.name, arguments: filled });
    Object.assign(known, result.structuredContent);
    results.push(result);
  }
  console.log(JSON.stringify({ server: client.getServerVersion(), instructions: client.getInstructions(), tools, results }));
  await client.close();
}
