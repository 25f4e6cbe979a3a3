"""A teacher's room with forty followers: from the presenter's step to each follower's receipt.

    python -m benchmarks.followers [--followers 40] [--steps 60] [--json]

One server, real HTTP: each follower holds a stream of server-sent events, the presenter posts one
step after another. The clock starts before the presenter's request is sent. Server and clients
share the machine.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from benchmarks import servers
from benchmarks.measure import Spread, as_json, machine, machine_line, table

AIM_MS = 1000  # the last of all receipts
PAUSE_SECONDS = 0.15  # between two steps
PATIENCE_SECONDS = 30
PACKAGES = ("streamlit", "starlette", "uvicorn")
PAGE, STEPS = "scale", 100


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Returns 1 if a receipt was lost or came too late."""
    options = parse(arguments)
    try:
        with servers.served(ROOM="1") as server:
            receipts = asyncio.run(measured(server.url, options.followers, options.steps))
    except (RuntimeError, OSError, TimeoutError) as error:
        print(f"benchmarks.followers: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    last = max(receipts)
    report = {
        "benchmark": "followers",
        "machine": machine(PACKAGES),
        "followers": options.followers,
        "steps": options.steps,
        "receipt ms": Spread.of(receipts),
        "last receipt ms": last,
    }
    print(as_json(report) if options.json else text(report))
    return int(last > AIM_MS)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Forty followers of one presenter.")
    parser.add_argument("--followers", type=int, default=40)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    if not 1 <= options.followers <= 200 or options.steps < 1:
        parser.error("expected 1 to 200 followers and at least one step")
    return options


async def measured(url: str, followers: int, steps: int) -> list[float]:
    """Milliseconds from a step to its receipt, for each step and follower."""
    room = post(f"{url}/api/room", {"page": PAGE, "step": 0, "steps": STEPS})
    path = f"{url}/api/room/{room['code']}"
    members = [post(f"{path}/join", {})["member"] for _ in range(followers)]
    receipts: asyncio.Queue[float] = asyncio.Queue()
    listening = [asyncio.create_task(listen(path, member, receipts)) for member in members]
    try:
        await received(receipts, followers)  # each is told at once where the presenter is
        found = []
        for step in range(1, steps + 1):
            message = {"key": room["key"], "page": PAGE, "step": step % STEPS, "steps": STEPS}
            began = time.perf_counter()
            await asyncio.to_thread(post, f"{path}/show", message)
            at = await received(receipts, followers)
            found += [(each - began) * 1000 for each in at]
            await asyncio.sleep(PAUSE_SECONDS)
        return found
    finally:
        for task in listening:
            task.cancel()


async def received(receipts: "asyncio.Queue[float]", count: int) -> list[float]:
    """The times of the next receipts."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return [await receipts.get() for _ in range(count)]


async def listen(path: str, member: str, receipts: "asyncio.Queue[float]") -> None:
    """Notes when each event comes."""
    async with connection(path) as (reader, writer):
        place = f"{urlsplit(path).path}/events?member={member}"
        writer.write(f"GET {place} HTTP/1.1\r\nHost: {urlsplit(path).netloc}\r\n\r\n".encode())
        await writer.drain()
        while line := await reader.readline():
            if line.startswith(b"data: "):
                receipts.put_nowait(time.perf_counter())


@asynccontextmanager
async def connection(
    url: str,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to a server, closed at the end."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        yield reader, writer
    finally:
        writer.close()


def post(url: str, message: dict[str, Any]) -> dict[str, Any]:
    """The answer to a message in JSON."""
    request = Request(url, json.dumps(message).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        return json.loads(answer.read())


def text(report: dict[str, Any]) -> str:
    """The report as a table."""
    spread: Spread = report["receipt ms"]
    row = [f"{spread.median:.1f}", f"{spread.p95:.1f}", f"{report['last receipt ms']:.1f}"]
    head = f"{report['followers']} followers, {report['steps']} steps"
    rows = table([head, "p50", "p95", "max"], [["step to receipt, ms", *row]])
    return f"{machine_line(report['machine'])}\n\n{rows}"


if __name__ == "__main__":
    sys.exit(main())
