"""Forty concurrent users for two minutes: fetched maps and new sentences, over the app's protocol.

    python -m benchmarks.room [--people 40] [--seconds 120] [--tokens 512] [--json]

Each user has a different text of 512 tokens open, and a second tab for sentences. One action per
user every two seconds: four of five fetch a head's map of the long text over HTTP, one types a new
sentence over the websocket and fetches what its view needs. An evicted trace is reported as a view
does, and fetched again. Everything stays on this machine.
"""

import argparse
import asyncio
import random
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode, urlsplit

from benchmarks import servers
from benchmarks.hostile_wire import type_text
from benchmarks.measure import Spread, as_json, machine, machine_line, table
from benchmarks.wire import Client, component_event
from viz.pack import unpack

PACKAGES = ("streamlit", "torch", "websockets")
AIM_MS = 250  # 95 % of fetched maps
PERIOD_SECONDS = 2.0  # between two actions of one person
SENTENCES = 0.2  # of the actions
AT_ONCE = 4  # people who open their long text at one time
WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "so", "it", "is", "warm", "there")


@dataclass
class Found:
    """What one person saw.

    Attributes:
        maps: milliseconds of each fetched map.
        sentences: milliseconds from a sentence that is sent to its overview and map.
        errors: in one line each.
        lost: traces that were gone and made again.
        bytes: that came in, over HTTP and websocket.
    """

    maps: list[float] = field(default_factory=list)
    sentences: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    lost: int = 0
    bytes: int = 0


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Returns 1 if there was an error or maps came too late."""
    options = parse(arguments)
    try:
        with ExitStack() as stack:
            url = options.url or stack.enter_context(servers.served()).url
            people = asyncio.run(room(url, options))
    except RuntimeError as error:
        print(f"benchmarks.room: {error}", file=sys.stderr)
        return 1
    report = {
        "benchmark": "room",
        "machine": machine(PACKAGES),
        "people": options.people,
        "seconds": options.seconds,
        "tokens": options.tokens,
        "map ms": Spread.of([ms for each in people for ms in each.maps] or [float("inf")]),
        "sentence ms": Spread.of([ms for each in people for ms in each.sentences] or [0.0]),
        "lost traces": sum(each.lost for each in people),
        "KiB per person": sum(each.bytes for each in people) / 1024 / len(people),
        "errors": [error for each in people for error in each.errors],
    }
    print(as_json(report) if options.json else text(report))
    return int(bool(report["errors"]) or report["map ms"].p95 > AIM_MS)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Forty people at once.")
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--url", default="", help="of an app that runs already, on this machine")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(arguments)
    if options.url and urlsplit(options.url).hostname not in ("127.0.0.1", "localhost"):
        parser.error("--url: expected an address of this machine")
    if not 8 <= options.tokens <= 512:
        parser.error(f"--tokens: expected 8 to 512, received {options.tokens}")
    return options


async def room(url: str, options: argparse.Namespace) -> list[Found]:
    """Everybody opens what they look at; when all have, the clock starts."""
    door = asyncio.Semaphore(AT_ONCE)
    ready = asyncio.Barrier(options.people)
    return await asyncio.gather(
        *(person(url, options, number, door, ready) for number in range(options.people))
    )


async def person(
    url: str,
    options: argparse.Namespace,
    number: int,
    door: asyncio.Semaphore,
    ready: asyncio.Barrier,
) -> Found:
    """One person with two tabs."""
    found, draw = Found(), random.Random(number)
    words = " ".join(draw.choices(WORDS, k=options.tokens - 2))  # besides [CLS] and [SEP]
    long, short = Client(url, query=urlencode({"input": words})), Client(url)
    try:
        async with long.connected() as reading, short.connected() as typing:
            tab = Tab(reading, found)
            async with door:
                await tab.overview()
            await ready.wait()
            begins = time.monotonic() + draw.uniform(0, PERIOD_SECONDS)
            for turn in range(int(options.seconds / PERIOD_SECONDS)):
                await asyncio.sleep(max(0.0, begins + turn * PERIOD_SECONDS - time.monotonic()))
                if draw.random() < SENTENCES:
                    await sentence(typing, found, draw)
                else:
                    found.maps.append(await tab.map(draw))
            for client in (reading, typing):
                found.bytes += client.received
                found.errors += client.errors
    except asyncio.BrokenBarrierError:
        pass
    except (OSError, RuntimeError, TimeoutError, HTTPException) as error:
        found.errors.append(f"{type(error).__name__}: {error}")
        await ready.abort()
    return found


async def sentence(client: Client, found: Found, draw: random.Random) -> None:
    """Types a sentence, and fetches what its view fetches."""
    began = time.perf_counter()
    before = _trace(client)["trace"]
    type_text(client, " ".join(draw.choices(WORDS, k=12)) + f" {draw.randrange(10**6)}")
    deadline = time.monotonic() + 60
    while _trace(client)["trace"] == before:
        if time.monotonic() > deadline:
            raise TimeoutError("no picture of a new sentence within 60 s")
        await asyncio.sleep(0.005)
    tab = Tab(client, found)
    await tab.overview()
    found.sentences.append(1000 * (time.perf_counter() - began))


class Tab:
    """What the view of one tab fetches."""

    def __init__(self, client: Client, found: Found) -> None:
        parts = urlsplit(client.url)
        self.client, self.found = client, found
        self.connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self.sites: list[dict[str, Any]] = []

    async def overview(self) -> None:
        header, _ = unpack(await self._get("overview"))
        self.sites = header["base"]["sites"]

    async def map(self, draw: random.Random) -> float:
        """Milliseconds that a head's map took."""
        site = draw.randrange(len(self.sites))
        head = draw.choice([*range(self.sites[site]["heads"]), "mean", "max"])
        began = time.perf_counter()
        await self._get(f"map?site={site}&head={head}")
        return 1000 * (time.perf_counter() - began)

    async def _get(self, path: str) -> bytes:
        """The answer; a trace that is gone is reported, and asked for again when it is there."""
        for _ in range(3):
            props = _trace(self.client)
            status, body = await asyncio.to_thread(self._fetch, props, path)
            self.found.bytes += len(body)
            if status == 200:
                return body
            if status not in (404, 410):
                raise RuntimeError(f"{path} answered {status}: {body[:200].decode()}")
            self.found.lost += 1
            await self._report(props)
        raise RuntimeError(f"{path}: the trace was gone three times")

    def _fetch(self, props: dict[str, Any], path: str) -> tuple[int, bytes]:
        """Status and body; a connection closed while idle is opened anew, as browsers do."""
        headers = {"X-Headscope-Session": str(props.get("session", ""))}
        address = f"/api/trace/{props['trace']}/{path}"
        try:
            return self._ask(address, headers)
        except (ConnectionError, HTTPException):
            self.connection.close()
            return self._ask(address, headers)

    def _ask(self, address: str, headers: dict[str, str]) -> tuple[int, bytes]:
        self.connection.request("GET", address, headers=headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    async def _report(self, lost: dict[str, Any]) -> None:
        component = next(each for each, props in self.client.props() if props.get("trace"))
        value = {"trace": lost["trace"], "made": lost["made"]}
        self.client.send(component_event(component, "trace_lost", value))
        await self.client.rest(0.05)


def _trace(client: Client) -> dict[str, Any]:
    """The props of the view.

    Raises:
        RuntimeError: if there is none.
    """
    view = client.view()
    if view is None:
        raise RuntimeError(f"no picture; the page says {client.errors or 'nothing of an error'}")
    return view


def text(report: dict[str, Any]) -> str:
    """The report as a table."""
    maps, sentences = report["map ms"], report["sentence ms"]
    head = (f"{report['people']} people, {report['seconds']:.0f} s, {report['tokens']} tokens", "")
    met = "met" if maps.p95 <= AIM_MS and not report["errors"] else "MISSED"
    rows = [
        ["maps fetched", str(maps.count)],
        ["map ms p50/p95", f"{maps.median:.0f}/{maps.p95:.0f}"],
        ["sentences", str(sentences.count)],
        ["sentence ms p50/p95", f"{sentences.median:.0f}/{sentences.p95:.0f}"],
        ["lost traces made again", str(report["lost traces"])],
        ["KiB per person", f"{report['KiB per person']:.0f}"],
        ["errors", str(len(report["errors"]))],
    ]
    aim = f"aim: no error, 95 % of maps within {AIM_MS} ms: {met}"
    parts = [machine_line(report["machine"]), table(head, rows) + "\n" + aim, *report["errors"][:9]]
    return "\n\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
