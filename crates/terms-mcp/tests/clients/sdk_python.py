"""The Python SDK's client, in the era that the last argument names: legacy or auto."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    given = json.load(sys.stdin)
    transport = stdio_client(StdioServerParameters(command=given["command"], args=given["args"]))
    async with Client(transport, mode=sys.argv[1]) as client:
        listed = await client.list_tools()
        results = [await client.call_tool(call["name"], call["arguments"]) for call in given["calls"]]
        server = client.server_info
    dump = lambda model: model.model_dump(mode="json", by_alias=True, exclude_none=True)  # noqa: E731
    print(json.dumps({"server": dump(server), "tools": [dump(tool) for tool in listed.tools], "results": [dump(result) for result in results]}))


asyncio.run(main())
