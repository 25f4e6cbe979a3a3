"""What the explorer is sent equals the trace, and nonsense in a question changes nothing."""

import numpy as np
import pytest
import torch

from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from viz.pack import unpack
from viz.pages import answers

TOKENS = 11
SELECT = {"site": 1, "head": 2, "token": 3, "direction": "out", "scale": "fixed"}


def traced(tokens):
    model = load(EncoderConfig(vocab=53, dim=21, heads=3, depth=2, mlp=13, max_tokens=1024))
    ids = torch.randint(53, (1, tokens), generator=torch.Generator().manual_seed(5))
    return trace(model, ids)


@pytest.fixture(scope="module")
def short():
    return traced(TOKENS)


@pytest.fixture(scope="module")
def long():
    return traced(701)


def cells(area, part):
    rows, cols = part["shape"]
    raw = np.frombuffer(area, np.uint8, rows * cols, part["at"]).reshape(rows, cols)
    return part["max"] * (raw / 255.0) ** 2


def test_first_message_of_a_short_text_has_every_head(short):
    header, area = unpack(answers.first(short, "abc", answers.thumbs(short), SELECT))
    base, small = header["base"], header["thumbs"]
    assert base["note"] == "untrained: random weights"
    assert [text["labels"] for text in base["texts"]] == [short.labels]
    assert header["maps"] == []  # nothing was pooled, so the thumbnails are the matrices
    shape = (small["sites"], small["columns"], small["rows"], small["cols"])
    assert shape == (2, 3 + 2, TOKENS, TOKENS)
    raw = np.frombuffer(area, np.uint8, int(np.prod(shape)), small["at"]).reshape(shape)
    for site in range(2):
        heads = short.weights(site)
        whole = torch.cat([heads, heads.mean(0)[None], heads.amax(0)[None]]).numpy()
        largest = np.array(small["max"][site])[:, None, None]
        # half a step of the square-root scale at its steepest: 1/255 of the largest weight
        np.testing.assert_allclose(largest * (raw[site] / 255.0) ** 2, whole, atol=1 / 255)


def test_first_message_of_a_long_text_is_pooled_and_small(long):
    blob = answers.first(long, "abc", answers.thumbs(long), SELECT)
    header, area = unpack(blob)
    (part,) = header["maps"]
    assert (part["site"], part["head"]) == (1, 2)
    assert part["shape"] == [answers.WHOLE, answers.WHOLE]
    assert len(blob) <= 2**20
    assert cells(area, part).max() == pytest.approx(long.weights(1, 2).max().item(), rel=1e-6)


def test_exact_rows_columns_and_tiles(long):
    ask = {
        "id": 17,
        "rows": [[0, 1, "query", 5], [1, "mean", "key", 700]],
        "maps": [[0, 0, 100, 200, 300, 350]],
    }
    header, area = unpack(answers.addition(long, "abc", ask))
    assert header["answer"] == 17
    row, column = (np.frombuffer(area, "<f4", r["count"], r["at"]) for r in header["rows"])
    # the same numbers but for the order of float32 sums: one row at a time, or all at once
    np.testing.assert_allclose(row, long.weights(0, 1)[5].numpy(), atol=1e-7)
    np.testing.assert_allclose(column, long.weights(1).mean(0)[:, 700].numpy(), atol=1e-7)
    (tile,) = header["maps"]
    part = long.weights(0, 0)[100:200, 300:350].numpy()
    assert tile["shape"] == [100, 50]
    np.testing.assert_allclose(cells(area, tile), part, atol=tile["max"] / 255)


@pytest.mark.parametrize(
    "ask",
    [
        {},
        {"id": "x", "rows": "all", "maps": {"a": 1}},
        {"rows": [[9, 0, "query", 0], [0, 99, "query", 0], [0, 0, "side", 0]]},
        {"rows": [[0, 0, "query", 11], [0, 0, "key", -1], [0, 0, "query", 1.5], [0]]},
        {"maps": [[0, 0, 5, 5, 0, 3], [0, "median", 0, 3, 0, 3], [0, 0, "a", 3, 0, 3]]},
        {"maps": [[-1, 0, 0, 3, 0, 3], [0, None, 0, 3, 0, 3], [0, [], 0, 3, 0, 3]]},
    ],
)
def test_nonsense_is_left_out(short, ask):
    header, _ = unpack(answers.addition(short, "abc", ask))
    assert header["maps"] == []
    assert header["rows"] == []


def test_a_range_beyond_the_text_is_held_within_it(short):
    header, _ = unpack(answers.addition(short, "abc", {"maps": [[0, 0, -7, 900, 2, 900]]}))
    (tile,) = header["maps"]
    assert (tile["rows"], tile["cols"]) == ([0, TOKENS], [2, TOKENS])


def test_one_question_cannot_ask_for_everything(short):
    ask = {"rows": [[0, 0, "query", 1]] * 1000}
    header, _ = unpack(answers.addition(short, "abc", ask))
    assert len(header["rows"]) == answers.MAX_PARTS


@pytest.fixture(scope="module")
def pair():
    model = load(
        Seq2SeqConfig(
            source_vocab=53,
            target_vocab=59,
            dim=21,
            heads=3,
            depth=2,
            mlp=13,
            share_source=False,
            d_k=7,
            d_v=5,
        )
    )
    return trace(model, torch.arange(4, 17)[None], torch.arange(5, 12)[None])


def test_an_encoder_decoder_names_each_text_once_and_whose_tokens_every_site_relates(pair):
    chosen = SELECT | {"site": 5}
    header, area = unpack(answers.first(pair, "abc", answers.thumbs(pair), chosen))
    source, target = (text["labels"] for text in header["base"]["texts"])
    assert (source, len(target)) == (pair.labels, 7)
    sites = header["base"]["sites"]
    assert [site["kind"] for site in sites] == ["self"] * 2 + ["causal", "cross"] * 2
    assert [(s["query_text"], s["key_text"]) for s in sites] == [(0, 0)] * 2 + [(1, 1), (1, 0)] * 2
    assert [(s["queries"], s["keys"]) for s in sites] == [(13, 13)] * 2 + [(7, 7), (7, 13)] * 2
    small = header["thumbs"]
    shape = (small["sites"], small["columns"], small["rows"], small["cols"])
    raw = np.frombuffer(area, np.uint8, int(np.prod(shape)), small["at"]).reshape(shape)
    weights = pair.weights(1, 2, kind="cross").numpy()
    found = small["max"][5][2] * (raw[5, 2, :7] / 255.0) ** 2
    np.testing.assert_allclose(found, weights, atol=1 / 255)  # half a step at its steepest


def test_rows_and_columns_of_cross_attention_are_exact(pair):
    ask = {"id": 1, "maps": [], "rows": [[5, 2, "query", 6], [5, "mean", "key", 12]]}
    header, area = unpack(answers.addition(pair, "abc", ask))
    weights = pair.weights(1, kind="cross")
    expected = [weights[2, 6], weights[:, :, 12].mean(0)]
    for row, numbers in zip(header["rows"], expected, strict=True):
        found = np.frombuffer(area, np.float32, row["count"], row["at"])
        np.testing.assert_allclose(found, numbers.numpy(), atol=1e-6)  # float32 of one softmax
