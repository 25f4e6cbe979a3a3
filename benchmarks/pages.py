"""First view and one change of 12 layers of 12 heads, beside BertViz and CircuitsVis.

    python -m benchmarks.pages [--json] [--tokens 32 128 512 2048] [--changes 5] [--peers 512]

Ours: a GPT-2 of 12 layers of 12 heads, random weights, opened in a running app;
seconds from the request of the page to the painted picture, the forward pass included, with the
model loaded before; MiB of data, Streamlit's and our own files aside. A change is another head,
from the key to the painted picture.
Theirs: the page that `model_view` and `attention_heads` make of random weights of the same shape,
served from this machine to the same browser; seconds in Python, then until its first picture is
there. They are made in an environment of their own (benchmarks.peers) and hold every weight, so
that a change loads nothing. Without a picture after 60 seconds there is none.

Server and browser share the machine.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, Error, Route

from benchmarks import peers, servers
from benchmarks.browser import DATA
from benchmarks.chrome import Traffic, fresh_page, launched, wait_for
from benchmarks.measure import as_json, machine, machine_line, table
from benchmarks.visits import ATLAS, PAINTED, press

LAYERS, HEADS, DIM, VOCAB, LONGEST = 12, 12, 96, 101, 4096
PICTURES = {"BertViz": "svg line", "CircuitsVis": "canvas"}  # what a page is waited for
PICTURE_SECONDS = 60
WARM_TRIES = 3
AIMS = {"MiB": 1.0, "times less": 1000.0, "times sooner": 20.0}
AIMED = 512  # tokens
PACKAGES = ("streamlit", "torch", "transformers", "playwright")
MIB = 2**20


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Returns the exit status."""
    options = parse(arguments)
    try:
        with tempfile.TemporaryDirectory() as name, launched() as browser:
            write_model(Path(name) / "model")
            with servers.served() as server:
                warm(browser, server.url, Path(name) / "model")
                by_tokens = {
                    tokens: at_length(browser, server.url, Path(name), tokens, options)
                    for tokens in options.tokens
                }
            version = browser.version
    except (RuntimeError, Error) as error:
        print(f"benchmarks.pages: {error}", file=sys.stderr)
        return 1
    report = {
        "benchmark": "pages",
        "machine": {**machine(PACKAGES), "browser": f"Chromium {version}"},
        "aims": AIMS,
        "results": by_tokens,
    }
    print(as_json(report) if options.json else text(report))
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="First views, beside other tools.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--tokens", type=int, nargs="+", default=[32, 128, 512, 2048])
    parser.add_argument("--changes", type=int, default=5, help="of the head, at each length")
    parser.add_argument("--peers", type=int, default=512, help="longest text for other tools")
    options = parser.parse_args(arguments)
    if not all(8 <= tokens <= LONGEST for tokens in options.tokens):
        parser.error(f"--tokens: expected 8 to {LONGEST}, received {options.tokens}")
    return options


def write_model(folder: Path) -> None:
    """A small GPT-2 with random weights, as the library saves one."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_layer=LAYERS,
        n_head=HEADS,
        n_embd=DIM,
        vocab_size=VOCAB,
        n_positions=LONGEST,
        bos_token_id=0,
        eos_token_id=0,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)


def at_length(
    browser: Browser, url: str, folder: Path, tokens: int, options: argparse.Namespace
) -> dict[str, dict[str, Any]]:
    """Every tool at one length."""
    print(f"{tokens} tokens", file=sys.stderr)
    measures = {"ours": partial(ours, browser, url, folder / "model", tokens, options.changes)}
    if tokens <= options.peers:
        for tool in peers.TOOLS:
            measures[tool] = partial(theirs, browser, folder / "page.html", tool, tokens)
    measured: dict[str, dict[str, Any]] = {}
    for name, measure in measures.items():
        try:
            measured[name] = measure()
        except (RuntimeError, Error) as error:
            measured[name] = {"missing": str(error).split("\n")[0][:200]}
    return measured


def ours(browser: Browser, url: str, model: Path, tokens: int, changes: int) -> dict[str, Any]:
    """Seconds and MiB of the first view, and of each change."""
    seconds, view = first_view(browser, _address(url, model, tokens))
    with fresh_page(browser) as page:
        page.add_init_script("probe.lazy = true")
        page.goto(_address(url, model, tokens), wait_until="commit")
        wait_for(page, PAINTED, "the first picture")
        page.locator(ATLAS).first.focus()
        with Traffic.of(page) as heard:
            times = [press(page, "ArrowRight") for _ in range(changes)]
    seen = [change["ms"] for change in times if change]
    sizes = heard.sums()
    return {
        "made": 0.0,
        "seconds": seconds,
        "MiB": sum(view.get(kind, 0) for kind in DATA) / MIB,
        "change ms": median(seen) if seen else None,
        "change MiB": sum(sizes.get(kind, 0) for kind in DATA) / max(1, changes) / MIB,
    }


def warm(browser: Browser, url: str, model: Path) -> None:
    """Waits until the app has imported its libraries and loaded the model."""
    for _ in range(WARM_TRIES):
        with suppress(RuntimeError):
            first_view(browser, _address(url, model, 8))
            return


def first_view(browser: Browser, address: str) -> tuple[float, dict[str, int]]:
    """Seconds from the request to the picture, and bytes by kind up to it."""
    with fresh_page(browser) as page, Traffic.of(page) as heard:
        began = time.time()
        page.goto(address, wait_until="commit")
        painted = wait_for(page, PAINTED, "the first picture")["at"]
        heard.wait_until_quiet(page)
    return painted - began, heard.sums(0, painted)


def _address(url: str, model: Path, tokens: int) -> str:
    ids = " ".join(str(1 + place * 7 % (VOCAB - 1)) for place in range(tokens))
    place = {"place": "folder", "folder": str(model), "ids": ids, "head": 0, "layer": 0}
    return f"{url}/?{urlencode(place)}"


def theirs(browser: Browser, file: Path, tool: str, tokens: int) -> dict[str, Any]:
    """Seconds to make a tool's page and to its first picture, and its MiB.

    Raises:
        RuntimeError: if the page cannot be made.
    """
    build = peers.make(tool, tokens, file)
    size = file.stat().st_size / MIB
    measures = {"made": build, "MiB": size, "change ms": None, "change MiB": 0.0}
    try:
        return {**measures, "seconds": until_picture(browser, file, PICTURES[tool])}
    except Error as error:
        why = error.message.split("\n")[0][:80]
        return {**measures, "seconds": None, "missing": why}


def until_picture(browser: Browser, file: Path, picture: str) -> float:
    """Seconds until a page shows something."""
    libraries = peers.libraries()

    def answer(route: Route) -> None:
        """Serves the libraries that the page loads from elsewhere."""
        address = route.request.url
        name = next((name for name in libraries if name in address), None)
        if address.startswith(base):
            route.continue_()
        elif name is None:
            route.abort()
        else:
            route.fulfill(body=libraries[name], content_type="text/javascript")

    with held(file) as base, fresh_page(browser) as page:
        page.route("**/*", answer)
        page.set_default_timeout(1000 * PICTURE_SECONDS)
        began = time.perf_counter()
        page.goto(f"{base}/{file.name}", wait_until="commit")
        page.wait_for_selector(picture, state="attached")
        return time.perf_counter() - began


@contextmanager
def held(file: Path) -> Iterator[str]:
    """The address of a server of the file's folder: a page of a gigabyte fits through no pipe."""
    folder = partial(Quiet, directory=str(file.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), folder) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    """Files as they are, without a line for each request."""

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def text(report: dict[str, Any]) -> str:
    """The report as tables."""
    head = (
        *("12 × 12 heads", "made, s", "first view, s", "MiB"),
        *("a change, ms", "MiB", "times ours: s", "MiB"),
    )
    rows = [
        _row(f"{tokens:,} tokens: {name}", one, cases["ours"])
        for tokens, cases in report["results"].items()
        for name, one in cases.items()
    ]
    missing = [
        f"{tool} at {tokens} tokens: {one['missing']}"
        for tokens, cases in report["results"].items()
        for tool, one in cases.items()
        if "missing" in one
    ]
    parts = [machine_line(report["machine"]), table(head, rows), *missing]
    if AIMED in report["results"]:
        parts.append(_verdict(report["results"][AIMED]))
    return "\n\n".join(parts)


def _row(name: str, one: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    if "MiB" not in one:
        return [name, *["–"] * 7]
    total = None if one["seconds"] is None else one["made"] + one["seconds"]
    known = total is not None and "seconds" in ours
    times = f"{total / ours['seconds']:.1f}" if known else "–"
    return [
        name,
        f"{one['made']:.1f}",
        "none" if one["seconds"] is None else f"{one['seconds']:.2f}",
        f"{one['MiB']:.3f}",
        "–" if one["change ms"] is None else f"{one['change ms']:.0f}",
        f"{one['change MiB']:.3f}",
        times,
        f"{one['MiB'] / ours['MiB']:.0f}" if "MiB" in ours else "–",
    ]


def _verdict(cases: dict[str, dict[str, Any]]) -> str:
    """Whether the aims are met; a page without a picture is later than any other."""
    ours, other = cases["ours"], cases.get("BertViz", {})
    if "MiB" not in ours:
        return f"aims at {AIMED} tokens: MISSED: {ours['missing']}"
    small = ours["MiB"] <= AIMS["MiB"]
    line = f"aims at {AIMED} tokens: at most {AIMS['MiB']:g} MiB: {_met(small)}"
    if "MiB" not in other:
        return line
    less = other["MiB"] / ours["MiB"]
    waited = PICTURE_SECONDS if other["seconds"] is None else other["seconds"]
    sooner = (other["made"] + waited) / ours["seconds"]
    return (
        f"{line}; {less:,.0f} times less than BertViz: {_met(less >= AIMS['times less'])};"
        f" {sooner:.0f} times sooner: {_met(sooner >= AIMS['times sooner'])}"
    )


def _met(met: bool) -> str:
    return "met" if met else "MISSED"


if __name__ == "__main__":
    sys.exit(main())
