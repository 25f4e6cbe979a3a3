"""Long texts: a decoder of GPT-2's shape, every head of it, and any window of any head.

    python -m benchmarks.long [--tokens 4096 16384] [--layers 12] [--rounds 2]

Peak: memory above the network, in a process of its own, of the traced pass with the logits of the
last token and of everything read from it afterwards.
All heads: thumbnails and all numbers of every head, from the weights in blocks; beside
the fused attention of the same queries, keys and values, for two layers in turns.
Window: the exact weights of 256 queries over 256 keys of one head, as the app answers the request,
in places spread over the matrix. As in the app, one thread computes.
"""

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from analysis.heads import accumulators
from analysis.overview import survey
from benchmarks.measure import Aim, Spread, Table, command, interleaved, ratios
from benchmarks.memory import in_fresh_process, rise_of
from benchmarks.networks import DIM, HEADS, MLP, SHARPER
from models.decoder import Decoder, DecoderConfig
from models.run import Model, Trace, load, trace
from models.trace import Site
from viz.api.entries import THUMB, TraceEntry
from viz.api.text import map_of

VOCAB, WINDOW, WINDOWS = 50257, 256, 12


@command
def main(
    tokens: tuple[int, ...] = (4096, 16384), layers: int = 12, rounds: int = 2
) -> Iterator[object]:
    torch.set_num_threads(1)
    for count in tokens:
        peak = in_fresh_process(rise, count, layers) / 2**30
        traced = partial(trace, build(count, layers), draw(count), logits_to_keep=1)
        (seconds,) = interleaved({"pass": traced}, 1, warm=False)["pass"]
        t = traced()
        beside = Spread(
            [ratio for site in (t.sites[0], t.sites[-1]) for ratio in read(t, site, rounds)]
        )
        window = Spread([1000 * each for each in windows(t)])
        rows = [
            ["traced pass, s", seconds],
            ["peak above the network, GiB", peak],
            ["all heads / fused attention", beside],
            ["window of 256 × 256, ms p50/p95", window.latency],
        ]
        yield Table([f"{layers} layers, {HEADS} heads, {count:,} tokens", ""], rows)
        yield Aim("peak, GiB", peak, 4.0)
        yield Aim("all heads / fused attention", beside.median, 2.0)
        yield Aim("window, ms p95", window.p95, 50.0)


def build(tokens: int, layers: int) -> Model:
    """The decoder, with queries and keys large enough that its heads are not uniform."""
    sizes: Any = {"vocab": VOCAB, "dim": DIM, "depth": layers, "heads": HEADS, "mlp": MLP}
    network = Decoder(DecoderConfig(**sizes, positions="learned", max_tokens=tokens))
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if name.endswith(("query.weight", "key.weight")):
                weights *= SHARPER
    return load(network)


def draw(tokens: int) -> Tensor:
    """Ids of which one in eight occurs again."""
    ids = torch.randint(VOCAB, (1, tokens), generator=torch.Generator().manual_seed(1))
    ids[0, tokens // 2 : tokens // 2 + tokens // 8] = ids[0, : tokens // 8]
    return ids


def read(t: Trace, site: Site, rounds: int) -> list[float]:
    """How often the time of fused attention it takes to read all heads of a layer."""
    q, k, v = t.pattern(site).q, t.pattern(site).k, t.pattern(site).v
    fused = partial(scaled_dot_product_attention, q, k, v, is_causal=True)
    times = interleaved({"read": partial(read_site, t, site), "fused": fused}, rounds, warm=False)
    return [*ratios(times["read"], times["fused"]).values]


def read_site(t: Trace, site: Site) -> None:
    """Thumbnails and numbers of every head of a layer."""
    survey(t, site, size=THUMB)
    numbers = accumulators(t)[site]
    for block in t.blocks(site):
        numbers.add(block)
    numbers.result()


def windows(t: Trace) -> list[float]:
    """Seconds of windows of heads over the matrix, after one that warms up."""
    entry, cases = TraceEntry(t), {}
    for number in range(WINDOWS + 1):
        start = (len(t.labels) - WINDOW) * number // WINDOWS
        rows, columns = range(start, start + WINDOW), range(start // 2, start // 2 + WINDOW)
        cases[str(number)] = partial(
            map_of, entry, number % len(t.sites), number % HEADS, rows, columns
        )
    return [times[0] for times in interleaved(cases, 1, warm=False).values()][1:]


def rise(tokens: int, layers: int) -> int:
    """Bytes above the network: the pass, all heads of one layer, windows of all heads."""
    model = build(tokens, layers)

    def look() -> None:
        t = trace(model, draw(tokens), logits_to_keep=1)
        read_site(t, t.sites[-1])
        windows(t)

    return rise_of(look)


if __name__ == "__main__":
    sys.exit(main())
