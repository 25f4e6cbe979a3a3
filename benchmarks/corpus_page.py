"""How fast the page of a large run over a corpus is, in a real browser.

    python -m benchmarks.corpus_page [--layers 32] [--heads 32] [--texts 100000] [--rounds 5]
    python -m benchmarks.corpus_page --only FOLDER

A run is synthesised (random numbers of so many texts, through the code that writes the results of
every run) and opened on the page Heads of a server on which another run was opened before. The
first picture is timed from the request of the page to the painted scatter, once when the server has
never opened the run and once when it holds it; so is the page of the first head. Beside them, the
time to the first text of a one-line Streamlit page. Then other axes are chosen, from the key to the
painted scatter, and other heads, from the key to the painted page. `--only` writes the run and
measures nothing.

Server and browser share the machine.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Browser, Error, Page

from analysis.corpus.files import FOLDER, write_json
from analysis.corpus.manifest import FORMAT
from analysis.corpus.plan import Plan
from analysis.corpus.results import write_results
from analysis.corpus.samples import KEPT, KEYS, Pairs, numbers
from analysis.corpus.scales import BINS, OF_WEIGHTS, SIDE, STRENGTHS, bins_of, edges, measures
from analysis.corpus.settings import Settings
from analysis.corpus.state import Layout, Place, State
from benchmarks import reference_pages, servers
from benchmarks.chrome import fresh_page, launched, wait_for
from benchmarks.measure import Spread, as_json, machine, machine_line, table
from models.trace import Where

AIMS = {"first picture": 1000.0, "axes": 60.0, "head": 300.0}  # ms: median, p95, p95
PROBE = Path(__file__).with_name("corpus_page.js")
TOKENS = 18  # of each text
VOCABULARY = 4_096  # tokens that are counted one by one
QUERIES = 8_192  # sampled
VALUES = 500  # of each number of a head; they are counted again until there are enough texts
AXES, HEADS = 8, 5  # changes in a visit
PAUSE_MS = 300


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, and prints a table; 1 if an aim was missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.corpus_page", description=__doc__)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", help="write the run into this folder, and measure nothing")
    options = parser.parse_args(arguments)
    size = options.layers, options.heads, options.texts
    if options.only:
        synthesise(Path(options.only), *size)
        return 0
    try:
        with tempfile.TemporaryDirectory() as folder, launched() as browser:
            synthesise(Path(folder), *size)
            report = measured(browser, Path(folder), options.rounds)
    except (RuntimeError, Error) as error:
        print(f"benchmarks.corpus_page: {error}", file=sys.stderr)
        return 1
    report |= dict(zip(("layers", "heads", "texts"), size, strict=True))
    print(as_json(report) if options.json else text(report))
    return int(any(row["ms"] > row["aim"] for row in verdicts(report)))


# ---- a run that nobody read


def synthesise(folder: Path, layers: int, heads: int, texts: int) -> None:
    """Writes a run of random numbers, as if so many texts had been read."""
    import pyarrow as pa

    folder.mkdir(parents=True, exist_ok=True)
    layout = Layout(
        tuple(Place(Where(n, "causal"), n * heads, heads) for n in range(layers)),
    )
    words = [f" word{n}" for n in range(VOCABULARY)]
    plan = Plan(
        *(Settings(), layout, {}, texts, texts * TOKENS, 0, "synthesised", {}, ""),
        dict(enumerate(words)),
        tuple(range(VOCABULARY)),
    )
    random = np.random.default_rng(0)
    state = State.empty(layout)
    _sum(state, layout.heads, layers, texts, random)
    _sample(state, layout, texts, words, random)
    scores = pa.table({key: random.uniform(-0.2, 0.9, layout.heads) for key in OF_WEIGHTS})
    write_results(folder, plan, state, scores, trained=True)
    model = {"name": f"{layers} × {heads} heads", "digest": "synthesised", "trained": True}
    manifest = {
        "format": FORMAT,
        "status": "complete",
        "model": model,
        "corpora": [{"about": "random numbers", "texts": texts}],
        "versions": {},
        "settings": plan.settings.to_json(),
        "heads": layout.heads,
        "texts": plan.texts,
        "tokens": plan.tokens,
        "notes": {},
    }
    (folder / FOLDER).mkdir(exist_ok=True)
    write_json(folder / "manifest.json", manifest)


def _sum(state: State, heads: int, sites: int, texts: int, random: np.random.Generator) -> None:
    """Counts and sums of random numbers."""
    known = measures(pictures=False)
    times = -(-texts // VALUES)
    bins = max(len(edges(each)) - 1 for each in known)
    totals = np.zeros((2, heads, len(known)))
    histogram = np.zeros((heads, len(known), bins), np.int64)
    for column, measure in enumerate(known):
        high = 64.0 if measure.high is None else measure.high
        shape = 0.3 + 3 * random.random((2, heads, 1))
        values = measure.low + (high - measure.low) * random.beta(
            shape[0], shape[1], (heads, VALUES)
        )
        totals[:, :, column] = values.sum(1) * times, (values * values).sum(1) * times
        for head in range(heads):
            counts = np.bincount(bins_of(values[head], measure), minlength=bins)
            histogram[head, column] = counts * times
    sums, read = state.sums, VALUES * times
    sums.add("sum", totals[0])
    sums.add("square", totals[1])
    sums.count("count", np.full((heads, len(known)), read))
    sums.count("histogram", histogram)
    sums.count("items", np.full(heads, read))
    sums.count("queries", np.full(heads, read * TOKENS))
    distances = np.zeros((heads, 2 * BINS - 1))
    distances[:, :BINS] = random.dirichlet(np.full(BINS, 0.3), heads)  # causal
    sums.add("distance", distances * read * TOKENS)
    corner = np.tril(random.gamma(0.3, size=(heads, SIDE, SIDE))) + 1e-9 * np.eye(SIDE)
    for name in ("corner", "whole"):
        sums.add(name, corner / corner.sum(-1, keepdims=True) * read)
    sums.count("corner", np.full((heads, SIDE, SIDE), read))
    for name in ("drawn", "entropy", "strength"):
        sums.add(f"{name} by position", random.random((heads, BINS)) * read)
    for name in ("seen", "queries"):
        sums.count(f"{name} by position", np.full((heads, BINS), read))
    for name in ("drawn", "given"):
        sums.add(f"{name} by token", random.gamma(0.3, size=(heads, VOCABULARY + 1)) * read)
    for name in ("seen", "keys", "queries"):
        sums.count(f"{name} by token", np.full((sites, VOCABULARY + 1), read))


def _sample(
    state: State, layout: Layout, texts: int, words: list[str], random: np.random.Generator
) -> None:
    """Random examples, pairs and texts."""
    kept = state.examples
    shape = layout.heads, len(STRENGTHS), KEPT
    kept.text[:] = random.integers(0, texts, shape)
    kept.query[:] = random.integers(KEYS, TOKENS, shape)
    kept.number[:] = np.sort(numbers(0, kept.text, kept.query), -1)
    kept.strength[:] = STRENGTHS[:, None] + 0.05
    kept.keys[:] = np.arange(KEYS)
    kept.weights[:] = random.dirichlet(np.ones(KEYS), shape)
    for number in np.unique(kept.text):
        said = [words[each] for each in random.integers(0, VOCABULARY, TOKENS)]
        state.texts[int(number)] = {"source": "random", "text": "".join(said), "labels": said}
    order = np.sort(random.integers(0, 2**63, QUERIES).astype(np.uint64))
    for number, place in enumerate(layout.places):
        keys = random.zipf(1.3, (QUERIES, place.heads)) % VOCABULARY
        tokens = random.zipf(1.3, QUERIES) % VOCABULARY
        state.pairs[number] = Pairs(
            order,
            tokens.astype(np.int32),
            keys.astype(np.int32),
            random.random((QUERIES, place.heads), np.float32),
        )


# ---- in the browser


def measured(browser: Browser, folder: Path, rounds: int) -> dict[str, Any]:
    """Milliseconds of everything, over some visits."""
    names = ("one-line page", "first picture", "first head", "picture again", "head again")
    samples: dict[str, list[float]] = {name: [] for name in (*names, "axes", "head")}
    with ExitStack() as stack:
        server = stack.enter_context(servers.served())
        plain = stack.enter_context(one_line_page())
        for _ in range(2):
            with fresh_page(browser) as page:
                opened(page, f"{server.url}/corpus")
                first_text(browser, plain)
        address = f"{server.url}/corpus?{urlencode({'run': 'folder', 'folder': str(folder)})}"
        for _ in range(rounds):
            samples["one-line page"].append(first_text(browser, plain))
            os.utime(folder / "manifest.json")  # another run to the server
            for picture, head in (("first picture", "first head"), ("picture again", "head again")):
                with fresh_page(browser) as page:
                    seen = opened(page, address)
                    samples[picture].append(seen["picture"])
                    samples[head].append(seen["page"])
                    if picture == "first picture":
                        continue
                    samples["axes"] += changed(page, ".hs-axes select", "ArrowUp", "axes", AXES)
                    other = '[aria-label="Next head"]'
                    samples["head"] += changed(page, other, "Enter", "head", HEADS)
    return {
        "benchmark": "corpus_page",
        "machine": {
            **machine(("streamlit", "pyarrow", "pandas", "playwright")),
            "browser": f"Chromium {browser.version}",
        },
        "aims": AIMS,
        "ms": {name: Spread.of(values) for name, values in samples.items()},
    }


@contextmanager
def one_line_page() -> Iterator[str]:
    """The address of the smallest page that Streamlit serves."""
    with tempfile.TemporaryDirectory() as folder:
        reference_pages.write(Path(folder))
        port = servers.free_port()
        with servers.running(*servers.page(Path(folder), "hello.py", port), port) as server:
            yield server.url


def first_text(browser: Browser, address: str) -> float:
    """Milliseconds from the request of a page to its first text."""
    with fresh_page(browser) as page:
        page.goto(address, wait_until="commit")
        wait_for(page, "probe.text", "the first text")
        return page.evaluate("1000 * probe.text.at - performance.timeOrigin")


def opened(page: Page, address: str) -> dict[str, float]:
    """Milliseconds from the request of a page to its scatter, and to the page of its first head."""
    page.add_init_script(path=PROBE)
    page.goto(address, wait_until="commit")
    both = "corpusProbe.seen.page && corpusProbe.seen.picture"
    wait_for(page, both, "the first picture and head")
    return page.evaluate("corpusProbe.seen")


def changed(page: Page, focus: str, key: str, what: str, count: int) -> list[float]:
    """Milliseconds from each press of a key to what it changes; the first one is left out."""
    page.locator(focus).first.focus()
    seen = []
    for _ in range(count + 1):
        page.wait_for_timeout(PAUSE_MS)
        page.evaluate(f"corpusProbe.watch('{what}')")
        page.keyboard.press(key)
        seen.append(float(wait_for(page, f"corpusProbe.seen.{what}", what)))
    return seen[1:]


# ---- the report


def verdicts(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What is aimed at, with what was measured: the median of the first picture, else p95."""
    return [
        {"name": name, "aim": aim}
        | {"ms": report["ms"][name].median if name == "first picture" else report["ms"][name].p95}
        for name, aim in AIMS.items()
    ]


def text(report: dict[str, Any]) -> str:
    """The report as a table."""
    rows = [
        [name, f"{each.median:.0f}", f"{each.p95:.0f}", str(each.count), f"{AIMS.get(name, '')}"]
        for name, each in report["ms"].items()
    ]
    return "\n".join(
        [
            machine_line(report["machine"]),
            f"{report['layers']} layers of {report['heads']} heads, {report['texts']:,} texts",
            "",
            table(["ms", "median", "p95", "count", "aim"], rows),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
