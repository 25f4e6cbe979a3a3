"""What the API answers about a text equals the trace."""

import math
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient

from analysis.view import View
from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.trace import Trace
from viz.api import registry
from viz.api.entries import TraceEntry
from viz.api.text import WHOLE
from viz.pack import unpack
from viz.routes import routes
from viz.views.head.view import inside

TOKENS = 11
Ask = Callable[..., tuple[dict[str, Any], bytes]]


def traced(tokens: int) -> Trace:
    model = load(EncoderConfig(vocab=53, dim=21, heads=3, depth=2, mlp=13, max_tokens=1024))
    ids = torch.randint(53, (1, tokens), generator=torch.Generator().manual_seed(5))
    return trace(model, ids)


@pytest.fixture(scope="module")
def short() -> Trace:
    return traced(TOKENS)


@pytest.fixture(scope="module")
def long() -> Trace:
    return traced(701)


@pytest.fixture(scope="module")
def pair() -> Trace:
    sizes: dict[str, Any] = {"source_vocab": 53, "target_vocab": 59, "dim": 21, "heads": 3}
    config = Seq2SeqConfig(**sizes, depth=2, mlp=13, share_source=False, d_k=7, d_v=5)
    return trace(load(config), torch.arange(4, 17)[None], torch.arange(5, 12)[None])


@pytest.fixture(scope="module")
def ask() -> Generator[Ask, None, None]:
    """Asks the API about a trace, or a view of one: header and area of the answer."""
    with TestClient(Starlette(routes=routes()), base_url="http://127.0.0.1") as client:

        def get(shown: Trace | View, name: str, **asked: Any) -> tuple[dict[str, Any], bytes]:
            held = registry.once(
                ("test", id(shown)),
                lambda: TraceEntry(shown),
            )
            answer = client.get(f"/api/trace/{held.id}/{name}", params=asked)
            assert answer.status_code == 200, answer.text
            header, area = unpack(answer.content)
            return header, bytes(area)

        yield get


def cells(area: bytes, part: dict[str, Any]) -> np.ndarray:
    """The weights of a map, which come as the square root in eight bits."""
    rows, cols = part["shape"]
    raw = np.frombuffer(area, np.uint8, rows * cols, part["at"]).reshape(rows, cols)
    return part["max"] * (raw / 255.0) ** 2


def numbers(area: bytes, part: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(area, "<f4", part["count"], part["at"])


def test_the_overview_of_a_short_text_has_every_head(short: Trace, ask: Ask) -> None:
    header, area = ask(short, "overview")
    base, small = header["base"], header["thumbs"]
    assert base["note"] == "untrained: random weights"
    assert [text["labels"] for text in base["texts"]] == [short.labels]
    shape = (small["sites"], small["columns"], small["rows"], small["cols"])
    assert shape == (2, 3 + 2, TOKENS, TOKENS)
    raw = np.frombuffer(area, np.uint8, math.prod(shape), small["at"]).reshape(shape)
    for site in range(2):
        heads = short.weights(site)
        whole = torch.cat([heads, heads.mean(0)[None], heads.amax(0)[None]]).numpy()
        largest = np.array(small["max"][site])[:, None, None]
        # half a step of the square-root scale at its steepest: 1/255 of the largest weight
        np.testing.assert_allclose(largest * (raw[site] / 255.0) ** 2, whole, atol=1 / 255)


def test_the_first_view_of_a_long_text_is_pooled_and_small(long: Trace, ask: Ask) -> None:
    overview, first = ask(long, "overview")
    header, area = ask(long, "map", site=1, head=2)
    (part,) = header["maps"]
    assert part["shape"] == [WHOLE, WHOLE]
    assert (part["rows"], part["cols"]) == ([0, 701], [0, 701])
    assert overview["base"]["texts"][0]["labels"] == long.labels
    assert len(first) + len(area) <= 2**20
    assert cells(area, part).max() == pytest.approx(long.weights(1, 2).max().item(), rel=1e-6)


def test_rows_and_columns_are_exact(long: Trace, ask: Ask) -> None:
    header, area = ask(long, "row", site=0, head=1, axis="query", index=5)
    # the same numbers but for the order of float32 sums: one row at a time, or all at once
    np.testing.assert_allclose(
        numbers(area, header["rows"][0]), long.weights(0, 1)[5].numpy(), atol=1e-6
    )
    header, area = ask(long, "row", site=1, head="mean", axis="key", index=700)
    np.testing.assert_allclose(
        numbers(area, header["rows"][0]), long.weights(1).mean(0)[:, 700].numpy(), atol=1e-6
    )
    given = float(long.weights(1).mean(0)[:, 700].sum())
    assert header["rows"][0]["sum"] == pytest.approx(given, rel=1e-5)


def test_an_encoder_decoder_names_each_text_once_and_whose_tokens_every_site_relates(
    pair: Trace, ask: Ask
) -> None:
    header, _ = ask(pair, "overview")
    source, target = (text["labels"] for text in header["base"]["texts"])
    assert (source, len(target)) == (pair.labels, 7)
    sites = header["base"]["sites"]
    assert [site["kind"] for site in sites] == ["self"] * 2 + ["causal", "cross"] * 2
    assert [(s["query_text"], s["key_text"]) for s in sites] == [(0, 0)] * 2 + [(1, 1), (1, 0)] * 2
    assert [(s["queries"], s["keys"]) for s in sites] == [(13, 13)] * 2 + [(7, 7), (7, 13)] * 2


def test_scores_come_with_their_range_and_masked_cells_apart(pair: Trace, ask: Ask) -> None:
    expected = pair.scores(1, 2, kind="causal").numpy()
    header, area = ask(pair, "map", site=4, head=2, values="scores")
    (part,) = header["maps"]
    raw = np.frombuffer(area, np.uint8, 49, part["at"]).reshape(7, 7)
    seen = np.isfinite(expected)
    assert (part["coding"], part["shape"]) == ("scores", [7, 7])
    assert np.array_equal(raw > 0, seen)
    assert part["min"] == pytest.approx(expected[seen].min(), rel=1e-6)
    assert part["max"] == pytest.approx(expected[seen].max(), rel=1e-6)
    step = (part["max"] - part["min"]) / 254
    found = part["min"] + step * (raw - 1.0)
    assert np.abs(found - expected)[seen].max() <= step / 2 * 1.001
    header, area = ask(pair, "row", site=4, head=2, axis="query", index=3, values="scores")
    (row,) = header["rows"]
    assert (row["values"], row["sum"]) == ("scores", None)
    np.testing.assert_allclose(numbers(area, row), expected[3], rtol=1e-6)


def test_without_sinks_the_share_they_took_comes_beside(ask: Ask) -> None:
    found = trace(load("minilm"), "A cat sat")
    weights = found.weights(2, 3).numpy()
    shares = weights[:, [0, 4]].sum(-1)
    left = weights.copy()
    left[:, [0, 4]] = 0
    header, area = ask(found, "map", site=2, head=3, sinks="hidden")
    (part,) = header["maps"]
    assert (part["sinks"]["mode"], part["sinks"]["keys"]) == ("hidden", [0, 4])
    assert part["sinks"]["share"] == pytest.approx(shares.mean(), rel=1e-6)
    given = np.frombuffer(area, "<f4", 5, part["sinks"]["shares"])
    np.testing.assert_allclose(given, shares, rtol=1e-6)
    assert part["max"] == pytest.approx(left.max(), rel=1e-6)
    header, area = ask(found, "row", site=2, head=3, axis="query", index=1, sinks="hidden")
    (row,) = header["rows"]
    np.testing.assert_allclose(numbers(area, row), left[1], rtol=1e-5)
    assert row["sinks"]["share"] == pytest.approx(shares[1], rel=1e-6)
    column, area = ask(found, "row", site=2, head=3, axis="key", index=2, sinks="hidden")
    np.testing.assert_allclose(numbers(area, column["rows"][0]), left[:, 2], rtol=1e-5)


def test_a_pair_of_words_ends_in_the_weight_that_the_matrix_shows() -> None:
    found = trace(load("minilm"), "An unbelievable hippopotamus")
    view = View(found, words=True)
    entry = TraceEntry(view)
    answer = inside(entry, 2, 3, 2, 3)
    own = view.origins(view.sites[2], "out")[2][-1], view.origins(view.sites[2], "in")[3][-1]
    for place in own:
        assert f"“{found.labels[place]}”" in answer.title
    shown, single = float(view.weights(2, 3)[2, 3]), float(found.weights(2, 3)[own])
    assert answer.steps[-1][1] == pytest.approx(shown, rel=1e-6)
    assert answer.steps[-2][1] == pytest.approx(single, rel=1e-6)
    with pytest.raises(ValueError, match="one head"):
        inside(entry, 2, "mean", 2, 3)
