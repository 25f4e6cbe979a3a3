"""First view and one change of 12 layers of 12 heads, beside BertViz and CircuitsVis.

    python -m benchmarks.pages [--tokens 32 128 512 2048] [--changes 5] [--peers 512]

Ours: a network with random weights, opened in a running app; seconds from the request of the page
to the painted picture, the forward pass included; MiB of data, files of the page aside. A change is
another head, from the key to the painted picture.
Theirs: the page that `model_view` and `attention_heads` make of random weights of the same shape,
opened from a file in the same browser; seconds in Python, then until its first picture is
there, if it comes within 60. It holds every weight, so that a change loads nothing. Their packages,
and the libraries that BertViz loads from a public server, lie in a folder of the user's cache; what
fills it is said where it is empty.
"""

import os
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import torch
from playwright.sync_api import Browser, Error, Route

from benchmarks import chrome, servers
from benchmarks.browser import ATLAS, RIGHT, VIEWS, Case
from benchmarks.chrome import PAINTED, Traffic, fresh_page, to_picture, wait_for
from benchmarks.measure import Aim, Spread, Table, command
from benchmarks.memory import in_fresh_process

LAYERS, HEADS = 12, 12
HOME = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "headscope-benchmarks"
HOW_TO_FILL = f"""{HOME} is not there. What fills it:
pip install --target {HOME} --no-deps bertviz==1.4.1 circuitsvis==1.43.3
pip install --target {HOME} ipython importlib-metadata
npm pack --pack-destination {HOME} d3@5.7.0 jquery@2.2.4 requirejs@2.3.6"""
LIBRARIES = {  # by what the address of the public server contains: archive, and file in it
    "d3": ("d3-5.7.0.tgz", "package/dist/d3.min.js"),
    "jquery": ("jquery-2.2.4.tgz", "package/dist/jquery.min.js"),
    "require": ("requirejs-2.3.6.tgz", "package/require.js"),
}
PICTURES = {"BertViz": "svg line", "CircuitsVis": "canvas"}  # what a page is waited for
PICTURE_SECONDS = 60


@command
def main(
    tokens: tuple[int, ...] = (32, 128, 512, 2048), changes: int = 5, peers: int = 512
) -> Iterator[object]:
    *_, (link, _) = VIEWS.values()
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as name, chrome.launched() as browser:
        with servers.served() as server:
            for visit, count in enumerate((8, *tokens)):  # the first one imports libraries
                address = Case("", ATLAS, RIGHT, link).address(server.url, count, visit)
                seen = ours(browser, address, changes)
                rows.append([f"{count}: Headscope", None, *seen])
                if count == 512:
                    yield Aim("first view at 512 tokens, MiB", seen[1], 1.0)
        for tool in PICTURES:
            for count in tokens:
                if count <= peers:
                    make_seconds, first_view, size = theirs(
                        browser, Path(name) / "page.html", tool, count
                    )
                    rows.append([f"{count}: {tool}", make_seconds, first_view, size, None, None])
    head = ["12 × 12 heads, tokens", "made, s", "first view, s", "MiB", "a change, ms", "MiB"]
    yield Table(head, rows[1:])


def ours(browser: Browser, address: str, changes: int) -> tuple[float, ...]:
    """Seconds and MiB of the first view, milliseconds and MiB of another head."""
    with fresh_page(browser, lazy=True) as page:
        heard, began = Traffic(page), time.time()
        page.goto(address, wait_until="commit")
        painted = wait_for(page, PAINTED, "the first picture")["at"]
        heard.wait_until_quiet()
        page.locator(ATLAS).first.focus()
        first, pressed = heard.kib("data", 0, painted), time.time()
        times = [to_picture(page, lambda: RIGHT(page, 0)) for _ in range(changes)]
        change = heard.kib("data", pressed) / changes
        return painted - began, first / 1024, Spread(times).median, change / 1024


def theirs(
    browser: Browser, file: Path, tool: str, tokens: int
) -> tuple[float, float | None, float]:
    """Seconds to make a tool's page and to its first picture, and its MiB.

    Raises:
        RuntimeError: if the tools are not there.
    """
    if not HOME.is_dir():
        raise RuntimeError(HOW_TO_FILL)
    make_seconds = in_fresh_process(make_page, tool, tokens, file)
    first_view = None
    with fresh_page(browser) as page, suppress(Error):
        page.route("http*://**", library)
        page.set_default_timeout(1000 * PICTURE_SECONDS)
        began = time.perf_counter()
        page.goto(file.as_uri(), wait_until="commit")
        page.wait_for_selector(PICTURES[tool], state="attached")
        first_view = time.perf_counter() - began
    return make_seconds, first_view, file.stat().st_size / 2**20


def make_page(tool: str, tokens: int, file: Path) -> float:
    """Writes a page of random weights; seconds of the tool."""
    sys.path.insert(0, str(HOME))
    torch.manual_seed(0)
    scores = (3 * torch.randn(1, HEADS, tokens, tokens) for _ in range(LAYERS))
    weights = [each.softmax(-1) for each in scores]
    labels = [f"token{place}" for place in range(tokens)]
    began = time.perf_counter()
    if tool == "BertViz":
        from bertviz import model_view  # pyright: ignore[reportMissingImports]

        page = model_view(weights, labels, html_action="return").data
    else:
        from circuitsvis.attention import attention_heads  # pyright: ignore[reportMissingImports]

        page = attention_heads(torch.cat(weights).flatten(0, 1), labels).local_src
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{page}", encoding="utf-8")
    return time.perf_counter() - began


def library(route: Route) -> None:
    """Answers with a library that a page loads from elsewhere."""
    for name, (archive, member) in LIBRARIES.items():
        if name in route.request.url:
            with tarfile.open(HOME / archive) as packed:
                read = packed.extractfile(member)
                route.fulfill(body=read and read.read(), content_type="text/javascript")
                return
    route.abort()


if __name__ == "__main__":
    sys.exit(main())
