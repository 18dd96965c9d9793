// The TypeScript SDK's v1 line.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { exchange, given } from "./exchange.mjs";

const client = new Client({ name: "sdk-v1", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: given.command, args: given.args }));
await exchange(client);
