// The TypeScript SDK's v1 line over Streamable HTTP.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { exchange, options, url } from "./plane_exchange.mjs";

const client = new Client({ name: "sdk-v1", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(url, options));
await exchange(client);
