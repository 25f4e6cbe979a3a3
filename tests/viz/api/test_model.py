"""What the API answers about the whole model equals the analyses."""

from typing import Any

import pytest
import torch

from analysis.relevance import explain
from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from tests.viz.api.asking import ask
from viz.api.entries import TraceEntry

TEXT = "The keys to the cabinet are on the table"
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}


def entry_of(shown: Any, network: Any, given: Any, written: Any = None) -> TraceEntry:
    return TraceEntry(shown, opened=lambda: (network, given, written))


@pytest.fixture(scope="module")
def minilm() -> TraceEntry:
    network = load("minilm")
    return entry_of(trace(network, TEXT), network, TEXT)


@pytest.fixture(scope="module")
def pair() -> TraceEntry:
    sizes: dict[str, Any] = {"source_vocab": 31, "target_vocab": 31, "dim": 10, "heads": 2}
    network = load(Seq2SeqConfig(**sizes, depth=2, mlp=13, d_k=5, d_v=5))
    given, written = torch.arange(4, 11)[None], torch.arange(5, 9)[None]
    return entry_of(trace(network, given, written), network, given, written)


def test_relevance_of_a_similarity_is_that_of_the_model(minilm):
    answer = ask(minilm, "relevance", "attnlrp", "Where are they?")
    expected = explain(load("minilm"), TEXT, target="Where are they?", method="attnlrp")
    torch.testing.assert_close(torch.tensor(answer["values"]), expected.tokens, **CLOSE)
    assert answer["similarity"]
    assert answer["value"] == pytest.approx(expected.value, rel=1e-3)
    assert answer["unassigned"] == pytest.approx(expected.unassigned, abs=1e-4)
    kept = minilm.answers.once(("relevance", "attnlrp", "Where are they?"), lambda: None)
    assert kept.trace is minilm.view  # gradients of a whole pass are not kept


def test_relevance_of_an_encoder_decoder_has_both_sides(pair):
    answer = ask(pair, "relevance", "chefer", "2.7")
    assert (answer["position"], answer["id"]) == (2, 7)
    trace_ = pair.view
    source, target = answer["sites"]
    assert len(answer["values"]) == len(trace_.query_labels(trace_.sites[source])) == 7
    assert len(answer["read"]) == len(trace_.query_labels(trace_.sites[target]))
    curves = ask(pair, "faithfulness", "chefer", "2.7")
    assert (curves["tokens"], curves["removal"], curves["read"]) == (7, "drop", True)


def test_one_sentence_says_why(minilm, pair):
    assert "second text" in ask(minilm, "relevance", "chefer")["why"]
    crossed = next(n for n, site in enumerate(pair.view.sites) if site.kind == "cross")
    assert "follows one tower" in ask(pair, "model", crossed, "mean", "rollout")["why"]
    assert "shape" in ask(pair, "model", crossed, "mean", "mean")
    network = load(EncoderConfig(vocab=31, dim=10, heads=2, depth=1, mlp=13))
    held = trace(network, torch.arange(4, 11)[None])
    alone = TraceEntry(held)
    assert "this needs the model" in ask(alone, "relevance", "chefer")["why"]


@pytest.fixture(scope="module")
def masked() -> TraceEntry:
    network = load("grammar")
    given = "the keys near the [MASK] [MASK] dusty ."
    return entry_of(trace(network, given), network, given)


def test_outputs_are_listed_where_the_model_answers(masked):
    """At the first of two masked words, as transformers' own fill-mask pipeline reads each."""
    logits = masked.view.output.values[0]
    place = masked.view.labels.index("[MASK]")
    expected = logits[place].softmax(-1).topk(8)
    listed = ask(masked, "outputs", 0, "out")
    assert listed["kind"] == "tokens"
    assert {option["position"] for option in listed["options"]} == {place}
    shares = [option["probability"] for option in listed["options"]]
    assert shares == pytest.approx(expected.values.tolist(), rel=1e-3)
    for option, id in zip(listed["options"], expected.indices.tolist(), strict=True):
        found = ask(masked, "relevance", "gradient", option["value"])
        assert (found["id"], found["position"]) == (id, place)
        assert found["name"] == option["label"]
    elsewhere = ask(masked, "outputs", 0, "out", 1)
    assert {option["position"] for option in elsewhere["options"]} == {1}
    assert all(option["value"].endswith("@1") for option in elsewhere["options"])


def test_what_does_not_apply_is_rejected_in_words(masked, minilm):
    assert ask(masked, "outputs", 0, "out", None, "the")["chosen"] == "the"
    assert ask(masked, "outputs", 0, "out", None, "5.140")["chosen"] == "the"
    first = ask(masked, "outputs", 0, "out", None, "dusty@2")["options"][0]
    share = masked.view.output.values[0, 2].softmax(-1)[masked.view.tokens[0].ids[-3]]
    assert (first["value"], first["label"], first["position"]) == ("dusty@2", "dusty", 2)
    assert first["probability"] == pytest.approx(float(share), rel=1e-3)
    wrong = ask(masked, "outputs", 0, "out", None, "a second sentence")
    assert wrong["chosen"] is None
    assert "expected one token" in wrong["rejected"]
    assert ask(minilm, "outputs", 0, "out", None, "any text")["chosen"] == "any text"


OF_ENCODER: dict[str, Any] = {"dim": 21, "depth": 2, "heads": 3, "mlp": 17, "vocab": 31}
IDS = torch.tensor([[5, 9, 2, 9, 7, 8]])


def untrained(config: Any, given: Any = IDS, written: Any = None) -> TraceEntry:
    model = load(config)
    shown = trace(model, given, written)
    return TraceEntry(shown, opened=lambda: (model, given, written))


def test_what_reads_no_logits_says_why() -> None:
    sizes: dict[str, Any] = {"source_vocab": 31, "target_vocab": 31, "dim": 10, "heads": 2}
    config = Seq2SeqConfig(**sizes, depth=2, mlp=13, d_k=5, d_v=5)
    pair = untrained(config, IDS, torch.arange(5, 9)[None])
    assert "expected no encoder–decoder" in ask(pair, "blame")["why"]
    assert "there is no" not in str(ask(pair, "refused"))
    states = untrained(EncoderConfig(**OF_ENCODER))
    reasons = ask(states, "refused")
    assert set(reasons) == {"lens"}  # of a state, heads that move it are swept in "parts"
    assert "why" in ask(states, "lens", 0)
    assert "why" in ask(states, "parts")
    assert "why" in ask(states, "blame")
    bare = TraceEntry(states.trace)
    assert "run=(model, input)" in ask(bare, "blame")["why"]
