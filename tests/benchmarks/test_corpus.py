"""The benchmark of corpus runs: what is compared counts the same."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from analysis.corpus.blocks import Block, Item
from analysis.corpus.plan import Planner
from analysis.corpus.settings import Settings
from analysis.corpus.state import Layout, State
from analysis.corpus.texts import Text
from analysis.corpus.worker import Worker
from benchmarks.corpus import batch_of, eager_network, read_eager, some_sentences
from models.run import load, trace


def uniform(ids: torch.Tensor, *, output_attentions: bool) -> Any:
    """Weights of no network."""
    items, tokens = ids.shape
    weights = torch.full((items, 12, tokens, tokens), 1 / tokens)
    return SimpleNamespace(attentions=[weights] * 6)


def test_weights_of_eager_transformers_give_the_same_statistics(tmp_path: Path) -> None:
    model, eager = load("minilm"), eager_network("minilm")
    texts = [Text(str(n), each) for n, each in enumerate(some_sentences(9))]
    layout = Layout.of(trace(model, texts[0].text).sites)
    plan = Planner(model, Settings(), tmp_path, "", 9)(texts, layout)
    worker = Worker(model, plan.scheme)
    items = [
        Item(n, t.source, t.text, len(trace(model, t.text).labels)) for n, t in enumerate(texts)
    ]
    states = {name: State.empty(layout) for name in ("read", "eager", "uniform")}
    for batch in worker.batches(items):
        traced, ids = worker.traced(batch), batch_of(model, batch)
        for name, state in states.items():
            block = Block(plan.scheme, state)
            if name == "read":
                block.add(batch, traced)
            else:
                read_eager(uniform if name == "uniform" else eager, ids, batch, traced, block)
            block.close()
    read, same, other = (state.sums.total("sum") for state in states.values())
    assert same == pytest.approx(read, rel=1e-4, abs=1e-4)  # float32, another order of additions
    assert np.abs(other - read).max() > 1
