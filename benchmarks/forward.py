"""Overhead of tracing: a BERT-base traced, fused and eager, interleaved.

    python -m benchmarks.forward [--json] [--quick] [--tokens 128 512 2048] [--pairs 20]

The same weights, ids and threads; no mask; one item. It is traced as a network of ours and through
transformers' own code ("door"). transformers runs in inference mode, its best case. Before anything
is timed, all must agree.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from benchmarks import memory, subjects
from benchmarks.measure import (
    Spread,
    as_json,
    interleaved,
    machine,
    machine_line,
    ratios,
    table,
)

AIM = 1.05
READING_ROUNDS = 7
PACKAGES = ("torch", "transformers")


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Returns the exit status."""
    options = parse(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    forms = subjects.build(options.device, layers=options.layers)
    results = [at_length(forms, tokens, options) for tokens in options.tokens]
    report = {
        "benchmark": "forward",
        "machine": {
            **machine(PACKAGES),
            "torch threads": torch.get_num_threads(),
            "device": options.device,
        },
        "shape": f"{options.layers} layers, {subjects.HEADS} heads, width {subjects.DIM}",
        "aim": AIM,
        "results": results,
    }
    print(as_json(report) if options.json else text(report))
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options; --quick is what proves that it runs, not what it measures."""
    parser = argparse.ArgumentParser(description="Traced, fused and eager forward passes.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--tokens", type=int, nargs="+", default=None)
    parser.add_argument("--pairs", type=int, default=None, help="rounds of them all (20)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--threads", type=int, default=0, help="PyTorch's threads (its own choice)")
    parser.add_argument("--layers", type=int, default=subjects.LAYERS)
    parser.add_argument("--no-memory", action="store_true", help="leave the peak memory out")
    parser.add_argument("--quick", action="store_true", help="3 rounds at 128 and 512 tokens")
    options = parser.parse_args(arguments)
    options.tokens = options.tokens or ([128, 512] if options.quick else [128, 512, 2048])
    options.pairs = options.pairs or (3 if options.quick else 20)
    if not all(1 <= tokens <= subjects.LONGEST for tokens in options.tokens):
        parser.error(f"--tokens: expected 1 to {subjects.LONGEST}, received {options.tokens}")
    if options.device != "cpu" and not torch.cuda.is_available():
        parser.error(f"--device: expected cpu (there is no CUDA here), received {options.device}")
    return options


def at_length(
    forms: dict[str, subjects.Forward], tokens: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Everything measured at one length of text."""
    ids = subjects.draw_ids(tokens, options.device)
    apart = subjects.compare(forms, ids)
    settle = torch.cuda.synchronize if options.device != "cpu" else _nothing
    passes = {name: partial(run, ids) for name, run in forms.items()}
    seconds = interleaved(passes, options.pairs, settle=settle)
    trace = forms["traced"](ids)
    readings: dict[str, Callable[[], object]] = {
        what: partial(subjects.read, trace, what) for what in subjects.READINGS
    }
    reading = interleaved(readings, min(READING_ROUNDS, options.pairs), settle=settle)
    return {
        "tokens": tokens,
        "rounds": options.pairs,
        "apart": apart,
        "seconds": {name: Spread.of(values) for name, values in seconds.items()},
        "traced / fused": Spread.of(ratios(seconds["traced"], seconds["fused"])),
        "door / fused": Spread.of(ratios(seconds["door"], seconds["fused"])),
        "traced / eager": Spread.of(ratios(seconds["traced"], seconds["eager"])),
        "reading seconds": {name: Spread.of(values) for name, values in reading.items()},
        "peak MiB": {} if options.no_memory else peaks(tokens, options),
    }


def peaks(tokens: int, options: argparse.Namespace) -> dict[str, float]:
    """MiB that each case needs on top of the loaded model, each in a fresh process."""
    return {
        case: memory.in_fresh_process(case, tokens, options.layers, options.device)
        for case in memory.CASES
    }


def text(report: dict[str, Any]) -> str:
    """The report as tables."""
    results = report["results"]
    lengths = [f"{result['tokens']} tokens" for result in results]
    parts = [
        machine_line(report["machine"]),
        f"{report['shape']}; median (p10–p90) of {results[0]['rounds']} rounds",
        table(["seconds a pass", *lengths], _rows(results, "seconds", _seconds)),
        table(["pair by pair", *lengths], _ratio_rows(results)),
        f"aim: traced at most {report['aim']} × fused, through either door; " + _verdicts(results),
        table(["seconds to read a trace", *lengths], _rows(results, "reading seconds", _seconds)),
    ]
    if results[0]["peak MiB"]:
        rows = _rows(results, "peak MiB", lambda mib: f"{mib:.0f}")
        parts.append(table(["peak MiB above the loaded model", *lengths], rows))
    worst = max(share for result in results for share in result["apart"].values())
    parts.append(f"largest difference between them: {worst:.1e} of the largest value")
    return "\n\n".join(parts)


def _rows(results: list[dict[str, Any]], key: str, show: Callable[[Any], str]) -> list[list[str]]:
    return [[name, *(show(result[key][name]) for result in results)] for name in results[0][key]]


def _ratio_rows(results: list[dict[str, Any]]) -> list[list[str]]:
    names = ("traced / fused", "door / fused", "traced / eager")
    return [[name, *(result[name].text() for result in results)] for name in names]


def _verdicts(results: list[dict[str, Any]]) -> str:
    return ", ".join(f"{result['tokens']}: {_verdict(result)}" for result in results)


def _verdict(result: dict[str, Any]) -> str:
    worst = max(result[name].median for name in ("traced / fused", "door / fused"))
    return "met" if worst <= AIM else "MISSED"


def _seconds(spread: Spread) -> str:
    return spread.text(4 if spread.median < 1 else 2)


def _nothing() -> None:
    """A CPU has done its work when the call returns."""


if __name__ == "__main__":
    sys.exit(main())
