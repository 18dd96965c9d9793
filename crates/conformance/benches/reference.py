"""Times the public Python package on the same rows, in one process: nanoseconds a call, the median of several rounds.

Reads a JSON list of {name, op, args, body} on standard input and prints a JSON object of name to nanoseconds. `body` is the
ATR that the network serves, base64. Arguments are parsed and copied before the clock starts.
"""

import asyncio
import base64
import copy
import hashlib
import json
import statistics
import sys
import time

import httpx
import integraledger_terms as it
from integraledger_terms.pieces import PIECES  # the pairings it can pay; not used otherwise

ROUNDS, SECONDS = 5, 0.1


def bindings():
    found = {}
    for value in vars(it).values():
        for binding in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(getattr(binding, "id", None), str) and binding.id in PIECES:
                found[binding.id] = binding
    return found


def median_ns(call):
    call()
    times = []
    for _ in range(ROUNDS):
        count, start = 0, time.perf_counter_ns()
        while (elapsed := time.perf_counter_ns() - start) < SECONDS * 1e9:
            call()
            count += 1
        times.append(elapsed / count)
    return statistics.median(times)


def main():
    known, result = bindings(), {}
    loop = asyncio.new_event_loop()
    for case in json.load(sys.stdin):
        args = case["args"]
        atr = base64.b64decode(case["body"])
        if case["op"] == "sha256":
            data = bytes(1 << 20)
            result[case["name"]] = median_ns(lambda: hashlib.sha256(data).digest())
            continue
        binding = known[args["pairing"]]
        if case["op"] == "confirm":
            client = httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(200, content=atr)), trust_env=False)
            call = lambda: loop.run_until_complete(it.confirm(args["document"], binding, args["account"], client, args.get("inputs") or {}))  # noqa: E731
        elif case["op"] == "finish":
            c = args["chosen"]
            chosen = it.Chosen(pairing=c["pairing"], choice=c["choice"], ref=c["ref"], agreement=c.get("agreement"))
            call = lambda: it.finish(atr, chosen, args["signature"], binding)  # noqa: E731
        else:
            call = lambda: it.check(atr, args["presented"], binding, args.get("landed"))  # noqa: E731
        before = copy.deepcopy(args)
        assert not isinstance(call(), it.Declined), case["name"]
        result[case["name"]] = median_ns(call)
        assert args == before, case["name"]
    print(json.dumps(result))


main()
