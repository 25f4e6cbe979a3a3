"""Long texts: a decoder of GPT-2's shape, every head of it, and any window of any head.

    python -m benchmarks.long [--json] [--tokens 4096 16384] [--layers 12] [--rounds 3]

Peak: memory above the loaded model, in a process of its own, of the traced pass with the logits of
the last token and of everything read from it afterwards.
All heads: thumbnails and all numbers of every head of every layer, in one pass over the weights in
blocks; beside the fused attention of the same queries, keys and values, layer by layer in turns.
Window: the exact weights of 256 queries over 256 keys of one head, as the app answers the request,
in places spread over the matrix.

12 layers, 12 heads, width 768, random weights sharpened as in benchmarks.subjects.
"""

import argparse
import subprocess
import sys
import time
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from analysis.heads import accumulators
from analysis.overview import Thumbnails
from benchmarks import memory
from benchmarks.measure import Spread, as_json, machine, machine_line, table
from benchmarks.subjects import SHARPER
from models.decoder import Decoder, DecoderConfig
from models.run import Model, Trace, load, trace
from models.trace import Site
from viz.api.entries import THUMB, TraceEntry
from viz.api.text import map_of

LAYERS, HEADS, DIM, MLP, VOCAB = 12, 12, 768, 3072, 50257
WINDOW, WINDOWS = 256, 12
AIMS = {
    "peak GiB above the model": 4.0,
    "all heads / fused attention": 2.0,
    "window, ms p95": 50.0,
}
PACKAGES = ("torch",)
GIB = 2**30


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Returns the exit status."""
    options = parse(arguments)
    torch.set_num_threads(options.threads)
    if options.peak:
        print(peak(options.tokens[0], options.layers))
        return 0
    report = {
        "benchmark": "long",
        "machine": {**machine(PACKAGES), "torch threads": torch.get_num_threads()},
        "shape": f"{options.layers} layers, {HEADS} heads, width {DIM}",
        "aims": AIMS,
        "results": [at_length(tokens, options) for tokens in options.tokens],
    }
    print(as_json(report) if options.json else text(report))
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Texts of thousands of tokens.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--tokens", type=int, nargs="+", default=[4096, 16384])
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--sites", type=int, default=2, help="layers whose heads are all read")
    parser.add_argument("--rounds", type=int, default=2, help="of each of these layers")
    parser.add_argument("--threads", type=int, default=1, help="PyTorch's, as in the app's API")
    parser.add_argument("--no-memory", action="store_true", help="leave the peak out")
    parser.add_argument("--peak", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not all(WINDOW <= tokens <= 2**17 for tokens in options.tokens):
        parser.error(f"--tokens: expected {WINDOW} to {2**17}, received {options.tokens}")
    return options


def at_length(tokens: int, options: argparse.Namespace) -> dict[str, Any]:
    """Everything measured at one length."""
    model = build(tokens, options.layers)
    began = time.perf_counter()
    t = trace(model, ids(tokens), logits_to_keep=1)
    passed = time.perf_counter() - began
    windows_ms = windows(t)
    return {
        "tokens": tokens,
        "pass seconds": passed,
        "all heads / fused": all_heads(t, options.sites, options.rounds),
        "window ms": Spread.of(windows_ms),
        "peak GiB": None if options.no_memory else peak_apart(tokens, options.layers),
    }


def build(tokens: int, layers: int) -> Model:
    """The decoder, with queries and keys large enough that its heads are not uniform."""
    config = DecoderConfig(
        vocab=VOCAB,
        dim=DIM,
        depth=layers,
        heads=HEADS,
        mlp=MLP,
        activation="gelu_tanh",
        positions="learned",
        max_tokens=tokens,
        embed_scale=False,
    )
    network = Decoder(config)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if name.endswith(("query.weight", "key.weight")):
                weights *= SHARPER
    return load(network)


def ids(tokens: int) -> Tensor:
    """As many ids, of which one in eight occurs again."""
    generator = torch.Generator().manual_seed(1)
    drawn = torch.randint(VOCAB, (1, tokens), generator=generator)
    drawn[0, tokens // 2 : tokens // 2 + tokens // 8] = drawn[0, : tokens // 8]
    return drawn


def all_heads(t: Trace, sites: int, rounds: int) -> Spread:
    """Seconds of reading all heads over those of the fused attention, layer by layer."""
    step = max(1, len(t.sites) // sites)
    times = [read_site(t, site) / fused(t, site) for _ in range(rounds) for site in t.sites[::step]]
    return Spread.of(times)


def read_site(t: Trace, site: Site) -> float:
    """Seconds of thumbnails and numbers of every head of a layer."""
    numbers = accumulators(t)[site]
    began = time.perf_counter()
    small = Thumbnails(site.heads, site.queries, site.keys, size=THUMB)
    for block in t.blocks(site):
        small.add(block)
        numbers.add(block)
    small.result()
    numbers.result()
    return time.perf_counter() - began


def fused(t: Trace, site: Site) -> float:
    """Seconds of PyTorch's fused attention of a layer."""
    pattern = t.pattern(site)
    began = time.perf_counter()
    F.scaled_dot_product_attention(pattern.q, pattern.k, pattern.v, is_causal=True)
    return time.perf_counter() - began


def windows(t: Trace) -> list[float]:
    """Milliseconds of windows of heads over the matrix."""
    entry = TraceEntry(t, lambda *_: "")
    tokens, times = len(t.labels), []
    for number in range(WINDOWS + 1):
        start = (tokens - WINDOW) * number // WINDOWS
        columns = range(start // 2, start // 2 + WINDOW)
        site, head = number % len(t.sites), number % HEADS
        began = time.perf_counter()
        map_of(entry, site, head, range(start, start + WINDOW), columns)
        times.append(1000 * (time.perf_counter() - began))
    return times[1:]


def peak_apart(tokens: int, layers: int) -> float:
    """`peak` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.long", "--peak", "--tokens", str(tokens)]
    done = subprocess.run(
        [*command, "--layers", str(layers)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{tokens} tokens failed:\n{done.stderr.strip()[-2000:]}")
    return float(done.stdout)


def peak(tokens: int, layers: int) -> float:
    """GiB above the loaded model: the pass, all heads of one layer, windows of all heads."""
    model = build(tokens, layers)

    def look() -> None:
        t = trace(model, ids(tokens), logits_to_keep=1)
        read_site(t, t.sites[-1])
        windows(t)

    return memory.rise_of(look) / GIB


def text(report: dict[str, Any]) -> str:
    """The report as a table."""
    results = report["results"]
    head = [report["shape"], *(f"{result['tokens']:,} tokens" for result in results), "aim"]
    peaks = [result["peak GiB"] for result in results]
    shares = [result["all heads / fused"] for result in results]
    times = [result["window ms"] for result in results]
    most = [f"{limit:g}" for limit in AIMS.values()]
    rows = [
        ["traced pass, s", *(f"{result['pass seconds']:.1f}" for result in results), ""],
        ["peak GiB above the model", *map(_gib, peaks), most[0]],
        ["all heads / fused attention", *(share.text() for share in shares), most[1]],
        ["window of 256 × 256, ms p50/p95", *map(_ms, times), most[2]],
    ]
    met = (
        all(each is None or each <= AIMS["peak GiB above the model"] for each in peaks)
        and all(share.median <= AIMS["all heads / fused attention"] for share in shares)
        and all(time.p95 <= AIMS["window, ms p95"] for time in times)
    )
    verdict = "met" if met else "MISSED"
    return f"{machine_line(report['machine'])}\n\n{table(head, rows)}\naims: {verdict}"


def _gib(peak: float | None) -> str:
    return "–" if peak is None else f"{peak:.2f}"


def _ms(spread: Spread) -> str:
    return f"{spread.median:.0f}/{spread.p95:.0f}"


if __name__ == "__main__":
    sys.exit(main())
