"""What weights gained or lost, against whole matrices."""

import pytest
import torch

from analysis import derived
from analysis.derived import Difference, most_changed
from analysis.overview import column_of, pooled, rows_of
from models.decoder import DecoderConfig
from models.edits import Temperature
from models.run import load, trace

IDS = torch.randint(3, 31, (1, 13), generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def passes():
    model = load(DecoderConfig(dim=15, heads=3, depth=2, mlp=7, vocab=31, seed=1))
    return trace(model, IDS), trace(model, IDS, edits=[Temperature(0.2, 1)])


def largest(values: torch.Tensor, axis: int) -> torch.Tensor:
    """Of several numbers the one that is farthest from 0."""
    places = values.abs().argmax(axis, keepdim=True)
    return values.gather(axis, places).squeeze(axis)


@pytest.mark.parametrize("head", [1, "mean", "max"])
def test_a_row_a_column_and_a_map_are_differences_of_matrices(passes, head) -> None:
    before, after = passes
    site = after.sites[1]
    whole = after.weights(site) - before.weights(site)
    if head == "max":
        expected = largest(whole, 0)
    else:
        expected = whole.mean(0) if head == "mean" else whole[head]
    made = Difference(after, before)
    close = {"atol": 1e-6, "rtol": 0}  # sums of heads in another order
    torch.testing.assert_close(rows_of(made, site, head, range(2, 9)), expected[2:9], **close)
    torch.testing.assert_close(column_of(made, site, head, 3), expected[:, 3], **close)
    cells = pooled(made, site, head, range(13), range(13), size=13)
    torch.testing.assert_close(cells, expected, **close)


def test_a_pooled_cell_has_the_largest_change_with_its_sign(passes) -> None:
    before, after = passes
    site = after.sites[1]
    whole = (after.weights(site) - before.weights(site))[0, :12, :12]
    cells = pooled(Difference(after, before), site, 0, range(12), range(12), size=4)
    parts = whole.unflatten(1, (4, 3)).unflatten(0, (4, 3)).transpose(1, 2).flatten(2)
    torch.testing.assert_close(cells, largest(parts, -1))
    assert (cells < 0).any()
    assert (cells > 0).any()


def test_the_largest_change_in_blocks_of_rows(passes, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = passes
    made = Difference(after, before)
    whole = torch.stack([after.weights(site) - before.weights(site) for site in after.sites])
    place = [int(x) for x in torch.unravel_index(whole.abs().argmax(), whole.shape)]
    for block in (2**24, 100):
        monkeypatch.setattr(derived, "BLOCK", block)
        found = most_changed(made, after.sites)
        assert found is not None
        assert [found.site, found.head, found.query, found.key] == place
        assert found.change == pytest.approx(float(whole[tuple(place)]))
    assert most_changed(Difference(before, before), before.sites) is None
