"""What the API answers about why equals the analyses, and plain loops over small networks."""

from typing import Any

import pytest
import torch

from analysis.attribution import logit_attribution
from analysis.blame import blame
from analysis.lens import jacobian_lens, logit_lens
from models.decoder import DecoderConfig
from models.edits import Cut
from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from tests.models.pretrained.tiny import BY_NAME
from tests.viz.api.asking import ask
from viz.api.entries import TraceEntry

SIZES: dict[str, Any] = {"dim": 21, "depth": 2, "heads": 3, "mlp": 17, "vocab": 31}
IDS = torch.tensor([[5, 9, 2, 9, 7, 8]])
CLOSE: dict[str, Any] = {"rel": 1e-4, "abs": 1e-5}


def entry_of(network: Any, given: Any = IDS, written: Any = None, **how: Any) -> TraceEntry:
    model = load(network)
    shown = trace(model, given, written, **how)
    return TraceEntry(shown, opened=lambda: (model, given, written))


@pytest.fixture(scope="module")
def decoder() -> TraceEntry:
    return entry_of(DecoderConfig(**SIZES))


@pytest.fixture(scope="module")
def pair() -> TraceEntry:
    sizes: dict[str, Any] = {"source_vocab": 31, "target_vocab": 31, "dim": 10, "heads": 2}
    return entry_of(
        Seq2SeqConfig(**sizes, depth=2, mlp=13, d_k=5, d_v=5), IDS, torch.arange(5, 9)[None]
    )


@pytest.mark.parametrize("lens", [logit_lens, jacobian_lens])
def test_a_lens_is_that_of_the_analysis(decoder: TraceEntry, lens: Any) -> None:
    answer = ask(decoder, "lens", 0, lens.__name__.removesuffix("_lens"))
    assert answer["layers"] == ["embedding", "layer 0", "output"]
    assert (answer["first"], answer["tokens"]) == (0, 6)
    t = trace(load(DecoderConfig(**SIZES)), IDS, hidden=True)
    for layer in range(3):
        top = lens(t, layer).softmax(-1).max(-1)
        assert answer["ids"][layer] == top.indices.tolist()
        assert answer["names"][layer] == [f"id {id}" for id in top.indices.tolist()]
        assert answer["probabilities"][layer] == pytest.approx(top.values.tolist(), **CLOSE)


def test_ranks_are_those_of_the_analysis(decoder: TraceEntry) -> None:
    answer = ask(decoder, "ranks", "2.17")
    assert (answer["id"], answer["position"]) == (17, 2)
    t = trace(load(DecoderConfig(**SIZES)), IDS, hidden=True)
    states = [logit_lens(t, state)[2] for state in range(3)]
    assert answer["ranks"] == [1 + int((logits > logits[17]).sum()) for logits in states]
    shares = [float(logit_lens(t, layer)[2].softmax(-1)[17]) for layer in range(3)]
    assert answer["probabilities"] == pytest.approx(shares, **CLOSE)
    likeliest = ask(decoder, "ranks")
    assert (likeliest["position"], likeliest["ranks"][-1]) == (5, 1)


@pytest.mark.parametrize(("name", "versus"), [("decoder", ""), ("pair", "3.11"), ("Llama", "3.11")])
def test_parts_are_those_of_the_analysis_and_sum_to_the_logit(
    request: pytest.FixtureRequest, name: str, versus: str
) -> None:
    library = name == "Llama"
    entry = entry_of(BY_NAME[name].build()) if library else request.getfixturevalue(name)
    answer, t = ask(entry, "parts", "3.7", versus), entry.trace
    other = 11 if versus else None
    expected = logit_attribution(t, 7, query=3, versus=other)
    for row in answer["rows"]:
        site = t.sites[row["site"]]
        word = "cross head" if site.kind == "cross" else "head"
        for head, value in enumerate(row["heads"]):
            name = f"layer {site.layer}, {word} {head}"
            assert value == pytest.approx(expected.pop(name), **CLOSE)
        if row.get("mlp") is not None:
            assert row["mlp"] == pytest.approx(expected.pop(f"layer {site.layer}, MLP"), **CLOSE)
    assert {each["name"]: each["value"] for each in answer["rest"]} == pytest.approx(
        expected, **CLOSE
    )
    logits = t.output.row(3)
    logit = float(logits[7]) - (float(logits[11]) if versus else 0.0)
    assert answer["logit"] == pytest.approx(logit, **CLOSE)
    assert answer["sum"] == pytest.approx(logit, rel=1e-3, abs=1e-3)
    assert (answer["position"], answer["versus"]) == (3, "id 11" if versus else None)


def test_blame_is_the_analysis_and_its_check_is_passes_with_edges_cut(decoder: TraceEntry) -> None:
    answer = ask(decoder, "blame", "5.7")
    model = load(DecoderConfig(**SIZES))
    found = blame(model, IDS, target=(5, 7))
    assert answer["tokens"] == pytest.approx(found.tokens.tolist(), **CLOSE)
    assert answer["controls"] == pytest.approx(list(found.controls), **CLOSE)
    cuts = [
        Cut(decoder.trace.sites[each["site"]].layer, each["head"], each["query"], each["key"])
        for each in answer["edges"]
    ]
    after = trace(model, IDS, edits=cuts).output.row(5).softmax(-1)[7]
    assert answer["after"] == pytest.approx(float(after), **CLOSE)
    before = trace(model, IDS).output.row(5).softmax(-1)[7]
    assert answer["before"] == pytest.approx(float(before), **CLOSE)
    for edge, expected in zip(answer["path"], found.path, strict=True):
        own = (edge["site"], edge["head"], edge["query"], edge["key"])
        assert own == (expected.layer, expected.head, expected.query, expected.key)


def test_one_sentence_says_why(pair: TraceEntry) -> None:
    assert "expected no encoder–decoder" in ask(pair, "blame")["why"]
    assert "there is no" not in str(ask(pair, "refused"))
    states = entry_of(EncoderConfig(**SIZES))
    reasons = ask(states, "refused")
    assert set(reasons) == {"lens"}  # of a state, heads that move it are swept in "parts"
    assert "why" in ask(states, "lens", 0)
    assert "why" in ask(states, "parts")
    assert "why" in ask(states, "blame")
    bare = TraceEntry(states.trace)
    assert "weights only" in ask(bare, "blame")["why"]
