"""What the API answers about all heads of a text equals the analysis."""

import json
import math

import pytest
import torch

from analysis.heads import heads
from analysis.measures import MEASURES
from models.run import load, trace
from models.trace import Trace
from tests.viz.api.asking import ask
from viz.api.entries import TraceEntry


@pytest.fixture(scope="module")
def done() -> Trace:
    return trace(load("minilm"), "A bank by the river, a bank in town.")


def entry_of(shown: Trace) -> TraceEntry:
    return TraceEntry(shown)


def test_numbers_of_every_head(done: Trace) -> None:
    answer = json.loads(json.dumps(ask(entry_of(done), "numbers"), allow_nan=False))
    table = heads(done)
    assert [each["key"] for each in answer["measures"]] == [each.key for each in MEASURES]
    assert answer["reasons"] == table.reasons
    for key, values in answer["values"].items():
        own = torch.tensor([[math.nan if n is None else n for n in row] for row in values])
        assert own.allclose(table[key], atol=1e-6, equal_nan=True), key
    assert answer["sentences"][0][2] == "100\u00a0% of its weight goes to the token before."
