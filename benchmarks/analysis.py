"""What analyses cost, against a traced pass of the same network.

    python -m benchmarks.analysis [--tokens 512] [--sweep-tokens 128] [--layers 12] [--rounds 3]

Analyses of the whole model: an encoder of the shape of BERT-base with random weights. Memory is how
far a case raises the peak of the process; where no gradients are kept, it stays below what the
weights of all heads and layers would take. Attention flow is of one row, at the shorter length.
Sweeps over all heads, in one round: the encoder, a decoder of the shape of GPT-2, and the library's
own. An exact sweep makes a pass for each head, from its block on; an attribution takes one pass and
its gradient.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from analysis.effects import Probability
from analysis.flow import flow
from analysis.norms import alti, value_norms
from analysis.relevance import METHODS, relevance
from analysis.rollout import rollout
from analysis.sweep import sweep
from benchmarks.measure import Aim, Spread, Table, command, interleaved, ratios
from benchmarks.memory import MIB, rise_of
from benchmarks.networks import DIM, HEADS, MLP
from models.decoder import DecoderConfig
from models.edits import Ablate
from models.encoder import EncoderConfig
from models.run import Trace, load, trace

AIMS = {"rollout": 2.0, "norms, 2020": 2.0, "ALTI": 8.0} | {f"relevance, {m}": 4.0 for m in METHODS}
SWEEPS = {"exact": 80.0, "attribution": 4.0}
HEAD = ("", "seconds", "× a traced pass", "MiB")


@command
def main(
    tokens: int = 512, sweep_tokens: int = 128, layers: int = 12, rounds: int = 3
) -> Iterator[object]:
    sizes: dict[str, Any] = {"dim": DIM, "heads": HEADS, "mlp": MLP, "depth": layers}
    sizes |= {"activation": "gelu", "max_tokens": max(tokens, sweep_tokens)}
    encoder = load(EncoderConfig(vocab=1000, classes=7, **sizes))
    ids = torch.randint(1000, (1, tokens), generator=torch.Generator().manual_seed(1))
    yield from analyses(encoder, ids, 4 * layers * HEADS * tokens**2 / MIB, rounds)
    short = ids[:, :sweep_tokens]
    row = interleaved({"flow": partial(flow, trace(encoder, short), 0)}, rounds)["flow"]
    yield Aim(f"flow of a row at {sweep_tokens} tokens, s", Spread(row).median, 1.0)
    theirs = GPT2LMHeadModel(GPT2Config(n_layer=layers)).eval()
    networks = {"encoder": encoder, "decoder": load(DecoderConfig(vocab=50_257, **sizes))}
    for name, model in (networks | {"GPT-2 of transformers": load(theirs)}).items():
        yield from sweeps(name, model, short)


def analyses(model: Any, ids: Tensor, whole: float, rounds: int) -> Iterator[object]:
    """Of the whole model, beside the MiB that all its weights would take."""
    t = trace(model, ids, hidden=True)
    t.projections(t.sites[0])
    cases: dict[str, Callable[[], object]] = {
        "a traced pass": partial(trace, model, ids),
        "rollout": partial(rollout, t),
        "norms, 2020": partial(all_norms, t),
        "ALTI": partial(alti, t),
    }
    for method in METHODS:
        cases[f"relevance, {method}"] = partial(relevance, model, ids, target=(3, 2), method=method)
    seconds = interleaved(cases, rounds)
    rises = {name: rise_of(case) / MIB for name, case in cases.items()}
    beside = {name: ratios(seconds[name], seconds["a traced pass"]) for name in cases}
    yield Table(HEAD, [[name, Spread(seconds[name]), beside[name], rises[name]] for name in cases])
    for name, most in AIMS.items():
        yield Aim(f"{name}, × a traced pass", beside[name].median, most)
        if "relevance" not in name:
            yield Aim(f"{name}, MiB", rises[name], whole)


def all_norms(t: Trace) -> None:
    """The norms of every layer, one at a time."""
    for site in t.sites:
        value_norms(t, site)


def sweeps(name: str, model: Any, ids: Tensor) -> Iterator[object]:
    """Of a network over all heads."""
    cases: dict[str, Callable[[], object]] = {"a traced pass": partial(trace, model, ids)}
    for how in SWEEPS:
        some: Any = {"edit": Ablate, "measure": Probability(3), "how": how}
        cases[how] = partial(sweep, model, ids, **some)
    seconds = interleaved(cases, 1)
    beside = {how: ratios(seconds[how], seconds["a traced pass"]) for how in cases}
    rows = [[f"{name}: {how}", Spread(seconds[how]), beside[how], None] for how in cases]
    yield Table(HEAD, rows)
    for how, most in SWEEPS.items():
        yield Aim(f"{name}: {how}, passes", beside[how].median, most)


if __name__ == "__main__":
    sys.exit(main())
