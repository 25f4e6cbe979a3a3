"""What filters leave of a picture, against plain loops over single weights."""

import pytest

from analysis.filters import hidden, strongest
from models.run import load, trace

TEXT = "The animal didn't cross the street because it was too tired."
ROUNDING = 1e-6  # sums of float32 weights in another order


@pytest.fixture(scope="module")
def seen():
    return trace(load("minilm"), TEXT)


@pytest.fixture(params=[7, "mean", "max"])
def head(request):
    return request.param


def whole(seen, head) -> list[list[float]]:
    weights = seen.weights(2)
    found = {"mean": weights.mean(0), "max": weights.amax(0)}.get(str(head))
    return (weights[head] if found is None else found).tolist()


def ranked(row: list[float], keys: range, count: int) -> list[int]:
    return sorted(keys, key=lambda key: -row[key])[:count]


@pytest.mark.parametrize("count", [1, 3, 99])
def test_the_strongest_keys_of_each_row(seen, head, count) -> None:
    rows, keys = range(3, 9), range(2, 13)
    found = strongest(seen, seen.sites[2], head, rows, keys, count).tolist()
    table = whole(seen, head)
    assert found == [ranked(table[row], keys, count) for row in rows]


@pytest.mark.parametrize("least", [0.0, 0.03, 0.4])
@pytest.mark.parametrize("top", [None, 1, 4])
@pytest.mark.parametrize("keys", [range(15), range(4, 11)])
def test_the_share_of_weight_that_is_not_drawn(seen, head, least, top, keys) -> None:
    table, rows = whole(seen, head), range(1, 12)
    total = sum(sum(table[row]) for row in rows)
    drawn = sum(
        table[row][key]
        for row in rows
        for key in ranked(table[row], keys, top or len(keys))
        if table[row][key] >= least
    )
    found = hidden(seen, seen.sites[2], head, rows, keys, least=least, top=top)
    assert found.share == pytest.approx(1 - drawn / total, abs=ROUNDING)
    assert (found.rows, found.total) == (11, 11)


def test_of_many_weights_evenly_spaced_rows_are_taken(seen) -> None:
    site = seen.sites[2]
    found = hidden(seen, site, 7, range(15), range(1), most=5 * site.heads * site.keys)
    rows = [round(14 * step / 4) for step in range(5)]
    table = whole(seen, 7)
    expected = 1 - sum(table[row][0] for row in rows) / 5
    assert found.share == pytest.approx(expected, abs=ROUNDING)
    assert (found.rows, found.total) == (5, 15)
