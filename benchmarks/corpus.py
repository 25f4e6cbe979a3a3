"""What a run over a corpus costs, against untraced passes over the same batches.

    python -m benchmarks.corpus [--texts 2048] [--model minilm] [--rounds 1]

The texts are sentences of Python's own docstrings, from the first one again where there are too
few. Untraced, they are tokenised and go through the network in batches of equal length, as a run
makes them; a run also plans, traces, counts and saves. Seconds are of the processor, the fairer
measure on a busy machine. Memory is the peak of a process that does nothing else, over a fifth of
the texts and over all of them.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch

from analysis.corpus.docstrings import sentences
from analysis.corpus.engines import TOKENS
from analysis.corpus.runs import corpus
from benchmarks.measure import Aim, Spread, Table, command, interleaved, ratios
from benchmarks.memory import MIB, in_fresh_process, peak
from models.model import Model
from models.run import load


@command
def main(texts: int = 2048, model: str = "minilm", rounds: int = 1) -> Iterator[object]:
    opened, every = load(model), some_sentences(texts)
    cases = {"untraced": untraced, "run": read}
    for case in cases.values():
        case(opened, every[:100])  # warms up
    cases = {name: partial(case, opened, every) for name, case in cases.items()}
    seconds = interleaved(cases, rounds, clock=time.process_time, warm=False)
    beside = ratios(seconds["run"], seconds["untraced"])
    head = ["", f"{model}: seconds of {texts:,} texts", "× untraced"]
    rows = [
        ["untraced", Spread(seconds["untraced"]), None],
        ["run", Spread(seconds["run"]), beside],
    ]
    yield Table(head, rows)
    yield Aim("a run, × untraced", beside.median, 1.3)
    few = in_fresh_process(peak_of_run, model, texts // 5) / MIB
    many = in_fresh_process(peak_of_run, model, texts) / MIB
    yield Aim(f"peak over {texts:,} texts, MiB, at most a tenth over a fifth's", many, 1.1 * few)


def some_sentences(count: int) -> list[str]:
    """Sentences of the docstrings, from the first one again where there are too few."""
    return list(islice(cycle(sentences(count)), count))


def read(model: Model | str, texts: list[str]) -> None:
    """A whole run."""
    with tempfile.TemporaryDirectory() as folder:
        corpus(model, texts, Path(folder) / "run")


@torch.no_grad()
def untraced(model: Model, texts: list[str]) -> None:
    """The network over batches of equal length; of a decoder, the logits of the last token."""
    assert model.tokenizer is not None
    groups: dict[int, list[tuple[int, ...]]] = {}
    for text in texts:
        ids = tuple(model.tokenizer.encode(text).ids)
        groups.setdefault(len(ids), []).append(ids)
    more: dict[str, Any] = {"logits_to_keep": 1} if hasattr(model.network, "lm_head") else {}
    for tokens, group in sorted(groups.items()):
        most = max(1, TOKENS["cpu"] // tokens)
        for start in range(0, len(group), most):
            model.network(torch.tensor(group[start : start + most]).to(model.device), **more)


def peak_of_run(model: str, count: int) -> int:
    """The most memory of this process, after a run over so many sentences."""
    read(model, some_sentences(count))
    return peak()


if __name__ == "__main__":
    sys.exit(main())
