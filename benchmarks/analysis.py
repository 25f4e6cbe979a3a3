"""What the analyses of the whole model cost, against the forward pass of the same network.

    python -m benchmarks.analysis [--tokens 512] [--pairs 3] [--json]

The network has the shape of BERT-base with random weights. Cases are interleaved, and ratios are
taken within a round (see `benchmarks.measure`). Attention flow is timed by itself: one row at 128
tokens.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
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
from models.encoder import Encoder, EncoderConfig
from models.run import load, trace

PACKAGES = ("torch", "scipy")
AIMS = {"rollout": 2.0, "norms": 2.0, "ALTI": 8.0} | {f"relevance, {m}": 4.0 for m in METHODS}
FLOW_TOKENS, FLOW_SECONDS = 128, 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, and prints a table; 1 if an aim was missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.analysis", description=__doc__)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--layers", type=int, default=subjects.LAYERS)
    parser.add_argument("--pairs", type=int, default=3, help="rounds")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    report = measured(options.tokens, options.layers, options.pairs)
    print(as_json(report) if options.json else text(report))
    missed = any(report["ratios"][name].median > aim for name, aim in AIMS.items())
    return int(missed or report["flow seconds"].median > FLOW_SECONDS)


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
        "norms": lambda: [value_norms(t, site) for site in t.sites],
        "ALTI": lambda: alti(t),
    }
    for method in METHODS:
        cases[f"relevance, {method}"] = lambda method=method: relevance(
            model, ids, target=(3, 2), method=method
        )
    seconds = interleaved(cases, rounds)
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
    }


def text(report: dict[str, Any]) -> str:
    """The report as tables."""
    rows = [
        [
            name,
            report["seconds"][name].text(),
            report["ratios"][name].text(),
            f"{aim:g}",
            "met" if report["ratios"][name].median <= aim else "MISSED",
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
    ]
    return "\n\n".join(
        [
            machine_line(report["machine"]),
            f"forward pass {report['seconds']['forward'].text()} s",
            table(head, rows),
            f"{flows}; aim {FLOW_SECONDS:g} s: {verdict}",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
