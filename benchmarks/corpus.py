"""What a run over a corpus costs, against untraced passes over the same batches.

    python -m benchmarks.corpus [--texts 2000] [--model minilm] [--threads 2] [--eager] [--json]

The texts are sentences of Python's own docstrings, from the first one again where there are too
few. Batch by batch, the network runs without a trace, and a worker reads the batch as a run does:
it tokenises, traces and counts. With `--eager` transformers' own eager attention returns all
weights of the same batch, and the same statistics are taken of these; its tokens and masks come
from the trace, whose time is not in it. The order alternates. Planning, which reads the corpus once
without the network, and saving are timed apart and are in the ratio of the whole. Memory is the
peak of a process that does nothing else, over a fifth of the texts and over all of them.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq
import torch

from analysis.corpus import blocks, corpus
from analysis.corpus.blocks import Block, Item
from analysis.corpus.docstrings import sentences
from analysis.corpus.files import FOLDER, write_table
from analysis.corpus.plan import Planner
from analysis.corpus.settings import BLOCK, Settings
from analysis.corpus.state import Layout, State
from analysis.corpus.texts import Text
from analysis.corpus.worker import Worker
from benchmarks.measure import Spread, as_json, machine, machine_line, table
from models.model import Model
from models.run import load, trace
from models.trace import Trace

PACKAGES = ("torch", "pyarrow")
RATIO_AIM, MEMORY_AIM = 1.3, 1.1
MIB = 2**20
Times = defaultdict[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, and prints a table; 1 if an aim was missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.corpus", description=__doc__)
    parser.add_argument("--texts", type=int, default=2_000)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--no-memory", action="store_true", help="leave the peak memory out")
    parser.add_argument("--eager", action="store_true", help="beside eager transformers")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peak", action="store_true", help="run here, and print the peak alone")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    if options.peak:
        print(json.dumps(peak(options.model, options.texts)))
        return 0
    eager = eager_network(options.model) if options.eager else None
    report = measured(load(options.model), options.texts, eager)
    if not options.no_memory:
        sizes = (options.texts // 5, options.texts)
        report["peak MiB"] = {size: peak_elsewhere(options.model, size) for size in sizes}
    print(as_json(report) if options.json else text(report))
    few, many = report.get("peak MiB", {0: 1.0, 1: 1.0}).values()
    return int(report["ratio of the whole"] > RATIO_AIM or many > MEMORY_AIM * few)


def measured(model: Model, count: int, eager: Any = None) -> dict[str, Any]:
    """Seconds of each block untraced, read, and through an eager network; and their ratios."""
    texts = [Text(f"sentence {n}", each) for n, each in enumerate(some_sentences(count))]
    layout = Layout.of(trace(model, texts[0].text).sites)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        plan = Planner(model, Settings(), Path(folder), "", BLOCK)(texts, layout)
        planning = time.perf_counter() - start
        shards = [pq.read_table(Path(folder) / FOLDER / name) for name in plan.shards.values()]
        worker, state, saving = Worker(model, plan.scheme), State.empty(layout), 0.0
        eager_state = State.empty(layout)
        seconds: Times = defaultdict(float)
        processor: Times = defaultdict(float)
        spread: list[float] = []
        for shard in shards:
            items = [Item(**row) for row in shard.to_pylist()]
            block, before = Block(plan.scheme, state), dict(processor)
            eager_block = Block(plan.scheme, eager_state)
            for number, batch in enumerate(worker.batches(items)):
                ids = batch_of(model, batch)
                cases: dict[str, Callable[[], object]] = {
                    "untraced": partial(untraced, model, ids),
                    "read": partial(worker._read, batch, block),
                }
                if eager is not None:
                    traced = worker.traced(batch)
                    cases["eager"] = partial(read_eager, eager, ids, batch, traced, eager_block)
                for case in sorted(cases, reverse=bool(number % 2)):
                    timed(case, cases[case], seconds, processor)
            timed("read", block.close, seconds, processor)
            if eager is not None:
                timed("eager", eager_block.close, seconds, processor)
            used = [processor[case] - before.get(case, 0.0) for case in ("read", "untraced")]
            spread.append(used[0] / used[1])
            start = time.perf_counter()
            state.forget()
            write_table(Path(folder) / "state.parquet", state.to_table())
            saving += time.perf_counter() - start
    bare, read = seconds["untraced"], seconds["read"]
    return {
        "machine": machine(PACKAGES),
        "threads": torch.get_num_threads(),
        "model": model.name,
        "texts": plan.texts,
        "tokens": plan.tokens,
        "seconds": {**seconds, "planning": planning, "saving": saving},
        "processor seconds": dict(processor),
        "ratio of a block": Spread.of(spread),
        "ratio of the whole": (read + planning + saving) / bare,
    }


def some_sentences(count: int) -> list[str]:
    """Sentences of the docstrings, from the first one again where there are too few."""
    return list(islice(cycle(sentences(count)), count))


def eager_network(name: str) -> Any:
    """The network of a model through transformers, with attention spelled out."""
    network: Any = load(name, door="transformers").network
    network.set_attn_implementation("eager")
    return network


@torch.no_grad()
def read_eager(
    network: Any, ids: torch.Tensor, batch: Sequence[Item], traced: Trace, block: Block
) -> None:
    """All weights of a batch from an eager network, and the same statistics of them."""
    weights = network(ids, output_attentions=True).attentions
    of_site = {
        site.where: [(slice(0, site.heads), each)]
        for site, each in zip(traced.sites, weights, strict=True)
    }
    with patch.object(blocks, "_weights", lambda _, site: iter(of_site[site.where])):
        block.add(batch, traced)


def timed(
    case: str,
    call: Callable[[], object],
    seconds: Times,
    processor: Times,
) -> None:
    """Adds the time that a call takes, by the clock and of the processors."""
    start, before = time.perf_counter(), time.process_time()
    call()
    seconds[case] += time.perf_counter() - start
    processor[case] += time.process_time() - before


def batch_of(model: Model, batch: Sequence[Item]) -> torch.Tensor:
    """The ids of a batch."""
    assert model.tokenizer is not None
    return torch.tensor([model.tokenizer.encode(item.text).ids for item in batch])


@torch.no_grad()
def untraced(model: Model, ids: torch.Tensor) -> None:
    """The network over a batch; of a decoder, the logits of the last token."""
    more: dict[str, Any] = {"logits_to_keep": 1} if hasattr(model.network, "lm_head") else {}
    model.network(ids.to(model.device), **more)


def peak(model: str, count: int) -> float:
    """MiB that this process has taken at most, after a run over so many sentences."""
    with tempfile.TemporaryDirectory() as folder:
        corpus(model, some_sentences(count), Path(folder) / "run")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB


def peak_elsewhere(model: str, count: int) -> float:
    """The same of a new process."""
    command = [sys.executable, "-m", "benchmarks.corpus", "--peak", "--model", model]
    command += ["--texts", str(count), "--threads", str(torch.get_num_threads())]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout))


def text(report: dict[str, Any]) -> str:
    """The report as tables."""
    seconds = report["seconds"]
    rows = [
        [name, f"{value:.1f}", f"{value / seconds['untraced']:.3f}"]
        for name, value in seconds.items()
    ]
    lines = [
        machine_line(report["machine"]),
        f"{report['model']}: {report['texts']:,} texts, {report['tokens']:,} tokens,"
        f" {report['threads']} threads",
        "",
        table(["", "seconds", "× untraced"], rows),
        "",
        "processor seconds: "
        + ", ".join(f"{case} {value:.1f}" for case, value in report["processor seconds"].items()),
        f"of them, read / untraced by block: {report['ratio of a block'].text()}",
        f"the whole run / untraced: {report['ratio of the whole']:.2f} (aim {RATIO_AIM})",
    ]
    for size, mib in report.get("peak MiB", {}).items():
        lines.append(f"peak of a process over {size:,} texts: {mib:,.0f} MiB")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
