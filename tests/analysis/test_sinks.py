"""Weights without sinks against plain loops over rows."""

import pytest
import torch
from torch import Tensor

from analysis import sinks
from analysis.overview import pooled, rows_of
from analysis.sinks import WithoutSinks, resting_on, sinks_of
from analysis.view import View
from models.run import load, trace
from models.trace import Trace
from tests.models.architectures import BY_NAME

NAMES = ("BERT", "GPT-2", "Llama", "Gemma 2", "GPT-OSS", "T5")
EXACT = 1e-6  # float32 sums of a dozen weights, in another order


def slow(weights: Tensor, sinks: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Rows without some keys, and what went to these, one number at a time."""
    left, given = [], []
    for row in weights.tolist():
        rest = [0.0 if key in sinks else weight for key, weight in enumerate(row)]
        left.append(rest)
        given.append(sum(row[key] for key in sinks))
    return torch.tensor(left), torch.tensor(given)


def close(mine: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(mine, expected, rtol=1e-5, atol=EXACT)


@pytest.mark.parametrize("name", NAMES)
def test_rows_without_sinks(name: str) -> None:
    found = trace(BY_NAME[name].build(), BY_NAME[name].inputs())
    for site in found.sites:
        heads = found.weights(site)
        hidden = (0, site.keys - 3)
        each = [slow(head, hidden) for head in heads]
        left, given = (torch.stack(parts) for parts in zip(*each, strict=True))
        source = WithoutSinks(found, {site: hidden})
        rows = range(len(heads[0]))
        close(rows_of(source, site, 1, rows), left[1])
        close(rows_of(source, site, "mean", rows), left.mean(0))
        close(rows_of(source, site, "max", rows[2:4]), left[:, 2:4].amax(0))
        close(source.shares(site, 1, rows), given[1])
        close(source.shares(site, "mean", rows[1:]), given[:, 1:].mean(0))
        close(source.shares(site, "max", rows), given.amax(0))
        small = pooled(source, site, 1, rows, range(site.keys), size=4)
        assert float(small.max()) == pytest.approx(float(left[1].max()), rel=1e-5)


def test_shares_of_rows_that_see_no_first_key() -> None:
    """A window's block holds the keys that its rows reach, here those from 7 on."""
    found = trace(BY_NAME["Mistral"].build(), {"input_ids": torch.arange(3, 17)[None]})
    site, rows, hidden = found.sites[0], range(10, 13), (0, 9)
    assert next(iter(found.blocks(site, rows=rows))).keys.start > 0
    _, given = slow(found.weights(site, 1)[10:13], hidden)
    assert given.min() > 0
    close(WithoutSinks(found, {site: hidden}).shares(site, 1, rows), given)


@pytest.fixture(scope="module")
def sentence() -> Trace:
    return trace(load("minilm"), "An unbelievable cat sat")


def test_the_sinks_are_the_first_token_and_the_separators(sentence: Trace) -> None:
    last = len(sentence.labels) - 1
    assert sinks_of(sentence, sentence.sites[0]) == (0, last)
    view = View(sentence, words=True)
    assert sinks_of(view, view.sites[0]) == (0, len(view.labels) - 1)


@pytest.mark.parametrize("name", ["GPT-2", "Llama", "BERT", "T5"])
def test_resting_keys_take_over_half_of_a_heads_weight(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the mean of single weights, at a share that some keys of a random network reach."""
    monkeypatch.setattr(sinks, "MOST", 0.2)
    network = trace(BY_NAME[name].build(), BY_NAME[name].inputs())
    reached = 0
    for site in network.sites:
        expected = set()
        for head in network.weights(site).tolist():
            for key in range(site.keys):
                column = [row[key] for row in head if row[key] > 0]
                enough = 2 * len(column) >= len(head)
                if enough and sum(column) / len(column) > 0.2:
                    expected.add(key)
        assert set(sinks.resting_keys(network, site)) == expected
        reached += len(expected)
    assert reached


@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_a_matrix_rests_on_the_key_with_most_of_its_rows(scale: float) -> None:
    """Rows in any unit, such as norms: each counts by its shares; a row of zeros has none."""
    rows = [[1, 0, 0, 0], [0.75, 0.25, 0, 0], [0.5, 0.25, 0.25, 0], [0, 0, 0, 0]]
    found = resting_on(scale * torch.tensor(rows))
    assert found is not None
    assert found[0] == 0
    assert found[1] == pytest.approx(0.75)  # of the three rows that see it
    assert resting_on(torch.full((4, 4), scale)) is None
    assert resting_on(scale * torch.eye(4)) is None  # each key is seen by one row of four
