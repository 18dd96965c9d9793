// The TypeScript SDK's v2 line, which asks for the era that the last argument names: legacy, auto or modern.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { exchange, given } from "./exchange.mjs";

const client = new Client({ name: "sdk-v2", version: "1.0.0" }, { versionNegotiation: { mode: process.argv[2] } });
await client.connect(new StdioClientTransport({ command: given.command, args: given.args }));
await exchange(client);
