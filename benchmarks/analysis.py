"""What the analyses of the whole model cost, against the forward pass of the same network.

    python -m benchmarks.analysis [--tokens 512] [--pairs 3] [--threads 1] [--json]

The network has the shape of BERT-base with random weights. Cases are interleaved, and ratios are
taken within a round (see `benchmarks.measure`). Attention flow is timed by itself: one row at 128
tokens. Memory is how far a case raises the peak of the process; where no gradients are kept, it
stays below what the weights of all heads and layers would take.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from analysis.flow import flow
from analysis.norms import alti, value_norms
from analysis.relevance import METHODS, relevance
from analysis.rollout import rollout
from benchmarks import subjects
from benchmarks.measure import (
    Spread,
    as_json,
    interleaved,
    machine,
    machine_line,
    ratios,
    table,
)
from benchmarks.memory import MIB, rise_of
from models.encoder import Encoder, EncoderConfig
from models.run import load, trace

PACKAGES = ("torch", "scipy")
WITHOUT_GRADIENTS = {"rollout": 2.0, "norms, 2020": 2.0, "ALTI": 8.0}
AIMS = WITHOUT_GRADIENTS | {f"relevance, {m}": 4.0 for m in METHODS}
FLOW_TOKENS, FLOW_SECONDS = 128, 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, and prints a table; 1 if an aim was missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.analysis", description=__doc__)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--layers", type=int, default=subjects.LAYERS)
    parser.add_argument("--pairs", type=int, default=3, help="rounds")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    report = measured(options.tokens, options.layers, options.pairs)
    print(as_json(report) if options.json else text(report))
    slow = any(report["ratios"][name].median > aim for name, aim in AIMS.items())
    large = any(report["MiB"][name] > report["MiB of all weights"] for name in WITHOUT_GRADIENTS)
    return int(slow or large or report["flow seconds"].median > FLOW_SECONDS)


def measured(tokens: int, layers: int, rounds: int) -> dict[str, Any]:
    """Seconds of each case, and its ratio to the forward pass of the same round."""
    network = Encoder(
        EncoderConfig(
            vocab=1000,
            dim=subjects.DIM,
            heads=subjects.HEADS,
            depth=layers,
            mlp=subjects.MLP,
            activation="gelu",
            max_tokens=max(tokens, FLOW_TOKENS),
            classes=7,
        )
    )
    model = load(network)
    ids = torch.randint(1000, (1, tokens), generator=torch.Generator().manual_seed(1))
    t = trace(model, ids, hidden=True)
    t.projections(t.sites[0])
    cases: dict[str, Callable[[], object]] = {
        "forward": lambda: trace(model, ids),
        "rollout": lambda: rollout(t),
        "norms, 2020": lambda: _each(value_norms(t, site) for site in t.sites),
        "ALTI": lambda: alti(t),
    }
    for method in METHODS:
        cases[f"relevance, {method}"] = lambda method=method: relevance(
            model, ids, target=(3, 2), method=method
        )
    seconds = interleaved(cases, rounds)
    rises = {name: rise_of(case) / MIB for name, case in cases.items()}
    dice = torch.Generator().manual_seed(2)
    short = trace(model, torch.randint(1000, (1, FLOW_TOKENS), generator=dice))
    row = interleaved({"flow": lambda: flow(short, 0)}, rounds)["flow"]
    return {
        "machine": machine(PACKAGES),
        "tokens": tokens,
        "layers": layers,
        "seconds": {name: Spread.of(values) for name, values in seconds.items()},
        "ratios": {name: Spread.of(ratios(seconds[name], seconds["forward"])) for name in AIMS},
        "flow seconds": Spread.of(row),
        "threads": torch.get_num_threads(),
        "MiB": rises,
        "MiB of all weights": 4 * layers * subjects.HEADS * tokens**2 / MIB,
    }


def _each(results: Iterable[object]) -> None:
    """Computes every result, and holds one at a time."""
    for _ in results:
        pass


def text(report: dict[str, Any]) -> str:
    """The report as tables."""
    rows = [
        [
            name,
            report["seconds"][name].text(),
            report["ratios"][name].text(),
            f"{aim:g}",
            "met" if report["ratios"][name].median <= aim else "MISSED",
            f"{report['MiB'][name]:.0f}",
        ]
        for name, aim in AIMS.items()
    ]
    row = report["flow seconds"]
    verdict = "met" if row.median <= FLOW_SECONDS else "MISSED"
    flows = f"flow, one row at {FLOW_TOKENS} tokens: {row.text()} s"
    head = [
        f"{report['layers']} layers, {report['tokens']} tokens",
        "seconds",
        "× forward",
        "aim",
        "",
        "MiB",
    ]
    return "\n\n".join(
        [
            machine_line(report["machine"]),
            f"forward pass {report['seconds']['forward'].text()} s, {report['threads']} threads;"
            f" all weights of one pass {report['MiB of all weights']:.0f} MiB",
            table(head, rows),
            f"{flows}; aim {FLOW_SECONDS:g} s: {verdict}",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
