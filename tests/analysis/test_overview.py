"""Pooled and combined weights against plain loops over the full matrices."""

import pytest
import torch

from analysis import overview
from models.attention import blocks
from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig

TOKENS = 23
HEADS = 5


@pytest.fixture(scope="module")
def pass_():
    model = load(EncoderConfig(vocab=101, dim=35, heads=HEADS, depth=2, mlp=13, seed=3))
    ids = torch.randint(101, (1, TOKENS), generator=torch.Generator().manual_seed(7))
    return trace(model, ids)


def slow_pool(matrix, size):
    """Largest weight of every bin ⌊i·n/size⌋ … ⌈(i+1)·n/size⌉, by loops."""
    rows, cols = matrix.shape
    high, wide = min(size, rows), min(size, cols)
    out = torch.zeros(high, wide)
    for i in range(high):
        for j in range(wide):
            part = matrix[
                i * rows // high : -(-(i + 1) * rows // high),
                j * cols // wide : -(-(j + 1) * cols // wide),
            ]
            out[i, j] = part.max()
    return out


@pytest.mark.parametrize("head", [0, 3, "mean", "max"])
@pytest.mark.parametrize("size", [1, 7, 11, TOKENS, 40])
@pytest.mark.parametrize("block_rows", [1, 5, 128])
def test_pooling_keeps_every_peak(pass_, head, size, block_rows, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", block_rows)
    site = pass_.sites[1]
    heads = pass_.weights(1)
    whole = heads[head] if isinstance(head, int) else overview.combine(heads, head)
    rows, keys = range(2, 19), range(TOKENS)
    pooled = overview.pooled(pass_, site, head, rows, keys, size=size)
    # pooling only picks numbers; the numbers round by how many rows are worked out at once
    torch.testing.assert_close(pooled, slow_pool(whole[2:19], size), rtol=0, atol=1e-6)


# --- attention from one sequence to another, and padding of each side -------------------------

LENGTHS = {"source": (19, 11), "target": (7, 13)}


@pytest.fixture(scope="module")
def pair():
    """Two sources of 19 and 11 tokens, two targets of 7 and 13."""
    config = Seq2SeqConfig(
        source_vocab=101,
        target_vocab=101,
        dim=35,
        depth=2,
        heads=HEADS,
        d_k=7,
        d_v=7,
        mlp=13,
        seed=3,
    )
    dice = torch.Generator().manual_seed(7)
    source = torch.randint(3, 101, (2, 19), generator=dice)
    target = torch.randint(3, 101, (2, 13), generator=dice)
    source[1, 11:], target[0, 7:] = 0, 0
    return trace(load(config), source, target)


def sizes_of(site):
    """How many queries and keys the first item has of its own."""
    rows = LENGTHS["source" if site.tower == "encoder" else "target"][0]
    return rows, rows if site.kind != "cross" else LENGTHS["source"][0]


@pytest.mark.parametrize("block_rows", [1, 4, 128])
@pytest.mark.parametrize("kind", ["self", "causal", "cross"])
def test_every_kind_of_site(pair, kind, block_rows, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", block_rows)
    site = pair.site(1, kind)
    rows, keys = sizes_of(site)
    heads = pair.weights(1, kind=kind)
    assert heads.shape == (HEADS, rows, keys)
    small = overview.survey(pair, site, size=5)
    expected = [slow_pool(one, 5) for one in (*heads, heads.mean(0), heads.amax(0))]
    torch.testing.assert_close(small, torch.stack(expected), rtol=0, atol=1e-6)
    for head in (3, "mean", "max"):
        whole = heads[head] if isinstance(head, int) else overview.combine(heads, head)
        found = overview.rows_of(pair, site, head, range(2, 5))
        torch.testing.assert_close(found, whole[2:5], rtol=0, atol=1e-6)
        found = overview.column_of(pair, site, head, keys - 1)
        torch.testing.assert_close(found, whole[:, -1], rtol=0, atol=1e-6)
        part = range(1, rows), range(2, keys)
        found = overview.pooled(pair, site, head, *part, size=3)
        torch.testing.assert_close(found, slow_pool(whole[1:, 2:], 3), rtol=0, atol=1e-6)


def test_a_key_beyond_the_source_is_refused(pair):
    site = pair.site(0, "cross")
    with pytest.raises(ValueError, match="expected 0 to 18"):
        overview.column_of(pair, site, 0, 19)
