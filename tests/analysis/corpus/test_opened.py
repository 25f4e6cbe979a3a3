"""Finding heads: planted ones come first, by number, by token and by likeness."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.corpus.intervals import interval
from analysis.corpus.opened import ADDRESS, Run, open_corpus
from analysis.corpus.runs import corpus
from models.encoder import EncoderConfig
from models.model import Model
from models.run import load, trace
from tests.analysis.corpus.conftest import WORDS, sentences

OTHER, PREVIOUS, DUPLICATE, COMMA, LAST = range(5)  # heads; the first and the last are random
VOCAB, PLACES, WIDTH = 28, 16, 47  # the words of WORDS have different ids below 28
STRONG = 9.0  # score of the pairs that a planted head looks for


def planted(seed: int = 1) -> Model:
    """An encoder whose heads attend to the previous token, to equal tokens, and to commas.

    The vector of a token is its id, one-hot, then its position, one-hot.
    """
    width = 5 * WIDTH
    sizes: dict[str, Any] = {"vocab": VOCAB, "dim": width, "depth": 1, "heads": 5, "mlp": 17}
    model = load(EncoderConfig(**sizes, max_tokens=PLACES, positions="learned", seed=seed))
    state = model.network.state_dict()
    attention = "blocks.0.attention"
    query, key = (state[f"{attention}.{name}.weight"] for name in ("query", "key"))
    places = torch.arange(PLACES)
    comma = trace(model, ",").tokens[0].ids[0]
    with torch.no_grad():
        for name in ("tokens.weight", "positions.table"):
            state[name].zero_()
        state["tokens.weight"][:, :VOCAB] = torch.eye(VOCAB)
        state["positions.table"][:, VOCAB : VOCAB + PLACES] = torch.eye(PLACES)
        for each in ("query", "key"):
            state[f"{attention}.{each}.bias"].zero_()
        for head in (PREVIOUS, DUPLICATE, COMMA):
            rows = slice(head * WIDTH, (head + 1) * WIDTH)
            query[rows], key[rows] = 0, 0
        scale = math.sqrt(WIDTH) * STRONG
        row = PREVIOUS * WIDTH + places
        query[row[:-1], VOCAB + places[1:]] = scale
        key[row[:-1], VOCAB + places[:-1]] = 1
        row = DUPLICATE * WIDTH + torch.arange(VOCAB)
        query[row, torch.arange(VOCAB)] = scale
        key[row, torch.arange(VOCAB)] = 1
        state[f"{attention}.query.bias"][COMMA * WIDTH] = scale
        key[COMMA * WIDTH, comma] = 1
    return model


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return open_corpus(corpus(planted(), sentences(80), tmp_path_factory.mktemp("run") / "out"))


def test_planted_heads_come_first(found: Run) -> None:
    assert found.top("previous token", 1)["id"].tolist() == [PREVIOUS]
    assert found.top("duplicate token", 1)["id"].tolist() == [DUPLICATE]
    assert found.top("entropy", 1, lowest=True)["id"].tolist()[0] in (PREVIOUS, COMMA)
    row = found.top("previous token", 1).iloc[0]
    assert row["low"] < row["mean"] < row["high"]
    for name in (",", "comma", "Commas", " , "):
        first = found.attending_to(name, 1)
        assert first["id"].tolist() == [COMMA]
        assert first["share"].iloc[0] > 0.25
    assert found.attending_to("nothing of it").empty
    both, comma, dog = (
        found.attending_to(name, 5).set_index("id")["share"] for name in ("dog, commas", ",", "dog")
    )
    assert both.to_dict() == pytest.approx(comma.add(dog, fill_value=0.0).to_dict())
    assert found.attending_to(query="and", key="comma", count=1)["id"].tolist() == [COMMA]
    with pytest.raises(ValueError, match="expected a token"):
        found.attending_to(" ")


def test_a_pair_of_tokens_has_its_share_of_the_query_s_weight_by_a_plain_loop(found: Run) -> None:
    """Every query is sampled here: of each "dog", the key that draws most, where it is "it"."""
    model = planted()
    shares, queries, both, all_queries = np.zeros(5), 0, np.zeros(5), 0
    for text in sentences(80):
        t = trace(model, text)
        words, weights = text.split(), t.weights(0).numpy()
        for place, word in enumerate(words):
            if word not in ("dog", "and"):
                continue
            queries += word == "dog"
            all_queries += 1
            for head in range(5):
                best = 1 + int(weights[head, place, 1:].argmax())  # the first token is a sink
                weight = weights[head, place, best]
                shares[head] += weight * ((word, words[best]) == ("dog", "it"))
                both[head] += weight * (words[best] in ("it", ","))
    pairs = found.attending_to(query="Dog", key="it")
    assert dict(zip(pairs["id"], pairs["share"], strict=True)) == pytest.approx(
        {head: share / queries for head, share in enumerate(shares)}, abs=1e-6
    )
    pairs = found.attending_to(query="dog, And", key="comma, it")
    assert dict(zip(pairs["id"], pairs["share"], strict=True)) == pytest.approx(
        {head: share / all_queries for head, share in enumerate(both)}, abs=1e-6
    )


def test_like_heads_of_this_and_another_run(found: Run, tmp_path: Path) -> None:
    other = open_corpus(corpus(planted(seed=2), sentences(50, seed=7), tmp_path / "other"))
    for head in (PREVIOUS, DUPLICATE, COMMA):
        assert other.like_head(head, 1, of=found)["id"].tolist() == [head]
        assert found.like_head(head, 1)["id"].tolist() != [head]
    alike: Any = found.like_head(COMMA, 9, of=found).set_index("id")["likeness"]
    assert alike[COMMA] == pytest.approx(1)
    assert alike.between(0, 1 + 1e-9).all()
    back: Any = found.like_head(LAST, 9, of=found).set_index("id")["likeness"]
    assert back[COMMA] == pytest.approx(alike[LAST])


def test_two_runs_compared(found: Run, tmp_path: Path) -> None:
    """Of two models with the same planted heads, the others differ most."""
    other = open_corpus(corpus(planted(seed=2), sentences(80), tmp_path / "other"))
    table = found.compare(other)
    row = table[(table["measure"] == "previous token") & (table["head"] == PREVIOUS)].iloc[0]
    assert row["difference"] == pytest.approx(row["mean_there"] - row["mean_here"])
    assert row["low"] <= 0 <= row["high"]
    assert table["head"].iloc[0] in (OTHER, LAST)
    up = math.hypot(row["high_there"] - row["mean_there"], row["mean_here"] - row["low_here"])
    assert row["high"] - row["difference"] == pytest.approx(up)
    row = table[(table["measure"] == "distance") & (table["head"] == OTHER)].iloc[0]
    error = math.sqrt(
        row["variance_here"] / row["count_here"] + row["variance_there"] / row["count_there"]
    )
    for end in (row["high"] - row["difference"], row["difference"] - row["low"]):
        assert end == pytest.approx(1.96 * error, rel=1e-3)


def test_the_interval_of_a_difference_is_newcombe_s() -> None:
    """Table II of the paper, (a) by method 10: 56 / 70 − 48 / 80 has 0.0524 to 0.3339."""
    sides = []
    for ones, count in ((48, 80), (56, 70)):
        share = ones / count
        variance = share * (1 - share) * count / (count - 1)
        low, high = interval(np.array(share), np.array(variance), np.array(count), share=True)
        values = {"count": count, "mean": share, "variance": variance, "low": low, "high": high}
        values |= dict.fromkeys(ADDRESS, 0)
        run = Run(Path(), {})
        run.__dict__["measures"] = pd.DataFrame([{"id": 0, "measure": "one", **values}])
        sides.append(run)
    row = sides[0].compare(sides[1]).iloc[0]
    assert [row["low"], row["high"]] == pytest.approx([0.0524, 0.3339], abs=5e-5)


def test_examples_come_with_their_texts(found: Run) -> None:
    rows: Any = found.examples(PREVIOUS)
    assert rows["from"].iloc[0] == 0.9
    for _, row in rows.iterrows():
        words = row["content"].split()
        assert set(words) <= set(WORDS)
        assert len(row["keys"]) == len(row["weights"]) == min(8, len(words))
    strongest = rows.iloc[0]
    assert strongest["keys"][0] == strongest["query"] - 1


def test_tables_are_read_by_any_tool(found: Run) -> None:
    table = found.table("heads")
    assert table["id"].to_pylist() == [0, 1, 2, 3, 4]
    measures = found.table("measures").to_pandas()
    assert (measures["head"] == measures["id"]).all()
    assert set(measures["layer"]) == {0}
    with pytest.raises(ValueError, match="expected one of heads, measures"):
        found.table("nothing")
    with pytest.raises(ValueError, match="expected one of broad"):
        found.top("nothing")
    assert found.head(0, PREVIOUS) == PREVIOUS
    with pytest.raises(ValueError, match="expected one head at"):
        found.head(7, 0)
