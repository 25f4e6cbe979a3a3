"""What a sweep over all heads costs, in passes of the same network.

    python -m benchmarks.sweep [--tokens 128] [--pairs 1] [--threads 1] [--json]

The networks have the shape of GPT-2 and BERT-base, 12 × 12 heads, with random weights. An exact
sweep makes a pass for each head; an attribution takes one pass and its gradient. Cases are
interleaved, and ratios are taken within a round (see `benchmarks.measure`).
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch

from analysis.effects import Probability
from analysis.sweep import sweep
from benchmarks import subjects
from benchmarks.measure import Spread, as_json, interleaved, machine, machine_line, ratios, table
from models.decoder import DecoderConfig
from models.edits import Ablate
from models.encoder import EncoderConfig
from models.model import Model
from models.run import load, trace

PACKAGES = ("torch", "transformers")
How = Literal["exact", "attribution"]
AIMS: dict[How, float] = {"exact": 80.0, "attribution": 4.0}
VOCAB = 50_257


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, and prints a table; 1 if an aim was missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.sweep", description=__doc__)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--layers", type=int, default=subjects.LAYERS)
    parser.add_argument("--pairs", type=int, default=1, help="rounds")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    report = measured(options.tokens, options.layers, options.pairs)
    print(as_json(report) if options.json else text(report))
    return int(any(each["passes"].median > AIMS[each["how"]] for each in report["cases"]))


def networks(tokens: int, layers: int) -> dict[str, Model]:
    """The same stack as a decoder, as an encoder of token classes, and as one of the library."""
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes: dict[str, Any] = {"dim": subjects.DIM, "heads": subjects.HEADS, "depth": layers}
    sizes |= {"mlp": subjects.MLP, "activation": "gelu", "max_tokens": tokens}
    theirs = GPT2Config(
        n_embd=subjects.DIM,
        n_head=subjects.HEADS,
        n_layer=layers,
        n_inner=subjects.MLP,
        n_positions=tokens,
        vocab_size=VOCAB,
        bos_token_id=0,
        eos_token_id=0,
    )
    return {
        "decoder": load(DecoderConfig(vocab=VOCAB, **sizes)),
        "encoder": load(EncoderConfig(vocab=1000, classes=7, **sizes)),
        "GPT-2 of transformers": load(GPT2LMHeadModel(theirs).eval()),
    }


def measured(tokens: int, layers: int, rounds: int) -> dict[str, Any]:
    """Seconds of a pass and of each sweep, and their ratio in the same round."""
    ids = torch.randint(1000, (1, tokens), generator=torch.Generator().manual_seed(1))
    measured_cases = []
    for name, model in networks(tokens, layers).items():
        cases: dict[str, Callable[[], object]] = {"pass": lambda model=model: trace(model, ids)}
        for how in AIMS:
            cases[how] = lambda model=model, how=how: sweep(
                model, ids, edit=Ablate, measure=Probability(3), how=how
            )
        seconds = interleaved(cases, rounds)
        measured_cases += [
            {
                "network": name,
                "how": how,
                "seconds": Spread.of(seconds[how]),
                "pass": Spread.of(seconds["pass"]),
                "passes": Spread.of(ratios(seconds[how], seconds["pass"])),
            }
            for how in AIMS
        ]
    threads = torch.get_num_threads()
    return {
        "machine": machine(PACKAGES),
        "tokens": tokens,
        "cases": measured_cases,
        "threads": threads,
    }


def text(report: dict[str, Any]) -> str:
    """The report as a table."""
    rows = [
        [
            f"{each['network']}, {each['how']}",
            each["pass"].text(3),
            each["seconds"].text(),
            each["passes"].text(1),
            f"{AIMS[each['how']]:g}",
            "met" if each["passes"].median <= AIMS[each["how"]] else "MISSED",
        ]
        for each in report["cases"]
    ]
    head = [f"{report['tokens']} tokens", "pass, s", "sweep, s", "passes", "aim", ""]
    machine = f"{machine_line(report['machine'])} · {report['threads']} threads"
    return f"{machine}\n\n{table(head, rows)}"


if __name__ == "__main__":
    sys.exit(main())
