"""The Python SDK's client over Streamable HTTP, in the era that the last argument names: legacy or auto."""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


def filled(value, known):
    """The arguments, where text that starts with "$" is a JSON pointer (RFC 6901) into the members of the results so far."""
    if isinstance(value, dict):
        return {name: filled(member, known) for name, member in value.items()}
    if isinstance(value, list):
        return [filled(item, known) for item in value]
    if isinstance(value, str) and value.startswith("$/"):
        for step in value[2:].split("/"):
            known = known[int(step) if isinstance(known, list) else step]
        return known
    return value


async def main() -> None:
    given = json.load(sys.stdin)
    known: dict = {}
    results = []
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {given['key']}"}, timeout=60) as http:
        async with Client(streamable_http_client(given["url"], http_client=http), mode=sys.argv[1]) as client:
            listed = await client.list_tools()
            for call in given["calls"]:
                result = await client.call_tool(call["name"], filled(call["arguments"], known))
                known.update(result.structured_content or {})
                results.append(result)
            server, instructions = client.server_info, client.instructions
    dump = lambda model: model.model_dump(mode="json", by_alias=True, exclude_none=True)  # noqa: E731
    print(json.dumps({"server": dump(server), "instructions": instructions, "tools": [dump(tool) for tool in listed.tools], "results": [dump(result) for result in results]}))


asyncio.run(main())
