// The exchange that each SDK client has with the server: what it is given, and what it prints for the test to judge.
import { readFileSync } from "node:fs";

// { url, key, calls: [{ name, arguments }] }
export const given = JSON.parse(readFileSync(0, "utf8"));
export const url = new URL(given.url);
export const options = { requestInit: { headers: { Authorization: `Bearer ${given.key}` } } };

// Text that starts with "$" is a JSON pointer (RFC 6901) into the members of the results so far, the later over the earlier.
const filled = (value, known) =>
  JSON.parse(JSON.stringify(value), (_, text) => (typeof text === "string" && text.startsWith("$/") ? text.slice(2).split("/").reduce((inside, step) => inside[step], known) : text));

export async function exchange(client) {
  const { tools } = await client.listTools();
  const results = [];
  const known = {};
  for (const call of given.calls) {
    const result = await client.callTool({ name: call.name, arguments: filled(call.arguments, known) });
    Object.assign(known, result.structuredContent);
    results.push(result);
  }
  console.log(JSON.stringify({ server: client.getServerVersion(), instructions: client.getInstructions(), tools, results }));
  await client.close();
}
