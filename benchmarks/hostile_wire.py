"""Many users on slow connections: late messages, stale addresses, stale values of controls.

    python -m benchmarks.hostile_wire [--people 40] [--seconds 60] [--seed 0] [--json]

Every client speaks Streamlit's protocol over a websocket (benchmarks/wire.py): it changes controls,
presses buttons, and opens links and pages. Messages in both directions are delayed by up to ten
seconds, in order, so clients send values and addresses that the server has long replaced. No error
may be shown, and once everything has arrived, each page shows its user's last change, also when its
link is opened in a new tab.
"""

import argparse
import asyncio
import random
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from benchmarks import servers
from benchmarks.measure import as_json, machine, machine_line, table
from benchmarks.wire import VALUES, Client, changed, component_choice, component_value
from tests.browser.driver import PLACES, WORDS

PACKAGES = ("streamlit", "torch", "websockets")
PAUSE_SECONDS = 1.0  # between two changes of one person, on average
STILL_SECONDS = 2.0  # without a message, after which a page counts as at rest: the server is busy
LATE_SECONDS = 10.0
LATE_SHARE = 0.05  # of messages that take that long; the others take up to a third of a second
AVOID = ("Fetch", "A model", "Patch", "Start from", "Kind", "Projector", "Heard of")


@dataclass
class Person:
    """What became of one person.

    Attributes:
        changes: how many they made.
        errors: that were shown to them.
        disagreements: of their page with their last change or their link.
    """

    changes: int = 0
    errors: list[str] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Returns 1 if anybody saw an error or a wrong page."""
    options = parse(arguments)
    try:
        with ExitStack() as stack:
            url = options.url or stack.enter_context(servers.served()).url
            people = asyncio.run(room(url, options.people, options.seconds, options.seed))
    except RuntimeError as error:
        print(f"benchmarks.hostile_wire: {error}", file=sys.stderr)
        return 1
    errors = [error for person in people for error in person.errors]
    wrong = [each for person in people for each in person.disagreements]
    report = {
        "benchmark": "hostile_wire",
        "machine": machine(PACKAGES),
        "people": options.people,
        "seconds": options.seconds,
        "changes": sum(person.changes for person in people),
        "errors": errors,
        "disagreements": wrong,
    }
    print(as_json(report) if options.json else text(report))
    return int(bool(errors or wrong))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A room of people on slow lines.")
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--url", default="", help="of an app that runs already")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser.parse_args(arguments)


async def room(url: str, people: int, seconds: float, seed: int) -> list[Person]:
    """Everybody at once."""
    rooms = (person(url, seconds, random.Random(f"{seed}/{number}")) for number in range(people))
    return await asyncio.gather(*rooms)


async def person(url: str, seconds: float, random: random.Random) -> Person:
    """One person: changes on a slow line, then one last change on a quick one."""
    found = Person()
    place = random.choice(PLACES)
    client = Client(url, query=random.choice(place.links), path=place.path.strip("/"))
    try:
        async with client.connected():
            client.delay = lambda: _late(random)
            ends = time.monotonic() + seconds
            while time.monotonic() < ends:
                act(client, random)
                found.changes += 1
                await asyncio.sleep(random.expovariate(1 / PAUSE_SECONDS))
            client.delay = None
            await client.rest(STILL_SECONDS)
            found.disagreements += await _last(client, random)
    except (TimeoutError, RuntimeError, OSError) as error:
        found.disagreements.append(f"{type(error).__name__}: {error}")
    found.errors += client.errors
    return found


def _late(random: random.Random) -> float:
    return LATE_SECONDS if random.random() < LATE_SHARE else random.uniform(0, 0.3)


def act(client: Client, random: random.Random) -> None:
    """One change, told from what has arrived so far."""
    chance = random.random()
    if chance < 0.06:
        place = random.choice(PLACES)
        client.go(place.path.strip("/"), random.choice((*place.links, "")))
    elif chance < 0.12:
        client.query = random.choice((client.address(), "", client.query))  # Back, and forth again
        client.send()
    else:
        client.query = random.choice((client.query, client.address()))
        _change(client, random)


def _change(client: Client, random: random.Random) -> None:
    """Another value of one control; of the address alone where there is none."""
    words = " ".join(random.choices(WORDS, k=random.randint(1, 8)))
    found = [
        (kind, widget)
        for kind in VALUES
        for widget in client.find(kind)
        if not widget.label.startswith(AVOID) and not getattr(widget, "disabled", False)
    ]
    own = [
        (component, props)
        for component, props in client.props()
        if props.get("kind") in ("entry", "slider")
    ]
    if own and random.random() < 0.4:
        component, props = random.choice(own)
        client.send(component_value(component, value=component_choice(props, random, words)))
    elif found:
        kind, widget = random.choice(found)
        change = changed(kind, widget, random, words)
        client.send(change, fragment=client.fragment(widget.id))
    else:
        client.send()


async def _last(client: Client, random: random.Random) -> list[str]:
    """What the page does not show of the last change, here or where its link is opened."""
    client.go("", urlencode({"input": "before"}))
    await client.rest(STILL_SECONDS)
    words = " ".join(random.choices(("one", "two", "three", "four", "five"), k=6))
    if not type_text(client, words):
        return ["there is no box for a text"]
    await client.rest(STILL_SECONDS)
    here = client.shown()
    problems = [] if words in map(str, here.values()) else [f"{words!r} is not in {here}"]
    async with Client(client.url, query=client.address()).connected() as other:
        there = other.shown()
        problems += [f"in a new tab: {error}" for error in other.errors]
    names = sorted(set(here) | set(there))
    return problems + [
        f"{name}: {here.get(name)!r} is {there.get(name)!r} in a new tab"
        for name in names
        if here.get(name) != there.get(name)
    ]


def type_text(client: Client, words: str) -> bool:
    """Types into the Text page's box; whether there is one."""
    for component, props in client.props():
        if props.get("kind") == "entry":
            client.send(component_value(component, value=words))
            return True
    for box in client.find("text_input", "Type a sentence"):
        change = changed("text_input", box, random.Random(), words)
        client.send(change, fragment=client.fragment(box.id))
        return True
    return False


def text(report: dict[str, Any]) -> str:
    """The report as a table."""
    rows = [
        ["changes", str(report["changes"])],
        ["errors shown", str(len(report["errors"]))],
        ["pages that disagree", str(len(report["disagreements"]))],
    ]
    found = [*report["errors"], *report["disagreements"]]
    head = (f"{report['people']} people, {report['seconds']:.0f} s", "")
    return "\n\n".join(
        [machine_line(report["machine"]), table(head, rows), "\n".join(found)]
    ).strip()


if __name__ == "__main__":
    sys.exit(main())
