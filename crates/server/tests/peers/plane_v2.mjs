// The TypeScript SDK's v2 line over Streamable HTTP, which asks for the era that the last argument names: legacy or auto.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { exchange, options, url } from "./plane_exchange.mjs";

const client = new Client({ name: "sdk-v2", version: "1.0.0" }, { versionNegotiation: { mode: process.argv[2] } });
await client.connect(new StreamableHTTPClientTransport(url, options));
await exchange(client);
