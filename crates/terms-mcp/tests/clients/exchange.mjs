// The exchange that each SDK client drives: what it is given, and what it prints for the test to judge.
import { readFileSync } from "node:fs";

// { command, args, calls: [{ name, arguments }] }
export const given = JSON.parse(readFileSync(0, "utf8"));

export async function exchange(client) {
  const { tools } = await client.listTools();
  const results = [];
  for (const call of given.calls) results.push(await client.callTool(call));
  console.log(JSON.stringify({ server: client.getServerVersion(), tools, results }));
  await client.close();
}
