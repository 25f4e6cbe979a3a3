"""Numbers of heads: against slow loops, against closed forms, and on trained networks."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.circuits import eigenvalue_score
from analysis.descriptions import ALIGNS, descriptions
from analysis.head_numbers import HeadNumbers, Inputs
from analysis.heads import heads
from analysis.measures import MEASURES
from models.attention import Mask
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.ssru import TranslatorConfig
from models.text import Tokens
from tests.analysis.slow_heads import slow_numbers

CLOSE = 1e-5  # rounding of float32 sums over a few dozen weights
WORDS = [
    "[CLS]",
    "the",
    "dog",
    "saw",
    "the",
    "dog",
    ".",
    "the",
    "saw",
    "dog",
    "[SEP]",
    ",",
    "the",
    "cat",
    "[SEP]",
]
IDS = {word: number for number, word in enumerate(sorted(set(WORDS)))}
SPECIAL = ("[CLS]", "[SEP]")


def tokens(words: list[str]) -> Tokens:
    special = tuple(word in SPECIAL for word in words)
    none = (None,) * len(words)
    return Tokens(
        tuple(IDS[word] for word in words), tuple(words), special, (0,) * len(words), none
    )


def drawn(count: int, heads: int, *, causal: bool, window: int | None = None) -> Tensor:
    """Random weights under a mask."""
    scores = 2 * torch.randn(heads, count, count, generator=torch.Generator().manual_seed(3))
    row, key = torch.arange(count)[:, None], torch.arange(count)
    hidden = (key > row) if causal else torch.zeros(count, count, dtype=torch.bool)
    if window is not None:
        hidden = hidden | ((row - key).abs() >= window)
    return scores.masked_fill(hidden, -math.inf).softmax(-1)


def inputs(kind: str = "self", window: int | None = None) -> Inputs:
    text, count = [tokens(WORDS)], len(WORDS)
    mask = Mask(causal=kind == "causal", window=window)

    def seen_by(rows: Tensor) -> Tensor:
        visible = mask.visible(rows, count, range(1))
        visible = torch.ones(1, 1, 1, 1, dtype=torch.bool) if visible is None else visible
        return visible.expand(-1, -1, len(rows), count)

    return Inputs(text, text, kind, seen_by)


@pytest.mark.parametrize(("causal", "window"), [(False, None), (True, None), (True, 4), (False, 3)])
def test_every_number_is_the_slow_loop_s(causal: bool, window: int | None) -> None:
    """In blocks of uneven sizes, of one head or two, with the keys that a block reaches."""
    weights = drawn(len(WORDS), 3, causal=causal, window=window)
    numbers = HeadNumbers(inputs("causal" if causal else "self", window), 3)
    for rows in (slice(0, 7), slice(7, 8), slice(8, len(WORDS))):
        stop = rows.stop if causal else len(WORDS)
        first = 0 if window is None else max(0, rows.start - window + 1)
        for chosen in (slice(0, 2), slice(2, 3)):
            keys = slice(first, stop)
            numbers.update(chosen, rows, keys, weights[None, chosen, rows, keys])
    found, width = numbers.result(), len(WORDS) if window is None else window
    last = [row if causal else len(WORDS) - 1 for row in range(len(WORDS))]
    seen = [[j for j in range(last[i] + 1) if abs(i - j) < width] for i in range(len(WORDS))]
    special = [word in SPECIAL for word in WORDS]
    for head in range(3):
        expected = slow_numbers(weights[head], WORDS, special, seen, causal=causal)
        assert found.keys() == expected.keys()
        for key, number in expected.items():
            assert float(found[key][0, head]) == pytest.approx(number, abs=CLOSE, nan_ok=True), key


def test_cross_attention_has_numbers_without_positions() -> None:
    done = trace(load("dates"), "3 May 2021")
    table = heads(done)
    cross = [row for row, site in enumerate(done.sites) if site.kind == "cross"]
    assert table["distance"][cross].isnan().all()
    assert not table["confidence"][cross].isnan().any()
    assert not table["distance"][0].isnan().any()


def test_numbers_have_reasons_where_they_are_not_defined() -> None:
    config = DecoderConfig(dim=21, heads=3, depth=2, positions="rotary", head_dim=4)
    table = heads(trace(load(config), torch.tensor([[5, 6, 7, 8]])))
    assert set(table) == {measure.key for measure in MEASURES}
    for key, numbers in table.items():
        assert (key in table.reasons) == bool(numbers.isnan().all()), key
    assert "rotated" in table.reasons["matching"]
    assert "twice" in table.reasons["duplicate token"]
    assert "later" in table.reasons["next token"]


def test_copying_of_hand_made_matrices() -> None:
    """Eigenvalues of a rotation are e^{±iφ}: cos φ."""
    turn = torch.tensor([[0.6, -0.8], [0.8, 0.6]])
    scores = eigenvalue_score(torch.stack([torch.eye(2), -3 * torch.eye(2), turn]))
    assert scores.tolist() == pytest.approx([1, -1, 0.6])


def test_copying_of_tokens_is_that_of_the_whole_circuit() -> None:
    """The d × d product has the eigenvalues of the vocabulary × vocabulary matrix."""
    model = load(DecoderConfig(vocab=31, dim=21, heads=3, depth=1, mlp=17, positions="learned"))
    done = trace(model, torch.tensor([[5, 6, 7]]))
    found, network = done.projections(0), model.network
    middle = torch.eye(21) - 1 / 21
    read = network.embedding.tokens.weight @ middle * network.blocks[0].before_attention.weight
    for head in range(3):
        one = found.head(head)
        circuit = read @ one.value @ one.output @ middle @ network.embedding.tokens.weight.T
        values = torch.linalg.eigvals(circuit.detach())
        expected = float(values.real.sum() / values.abs().sum())
        assert float(heads(done)["copying of tokens"][0, head]) == pytest.approx(expected, abs=1e-4)


def test_sentences_are_of_the_head_s_own_numbers() -> None:
    done = trace(load("minilm"), "The animal didn't cross the street because it was too tired.")
    table = heads(done)
    said = descriptions(done, table)
    assert [len(row) for row in said] == [12] * 6
    assert said[0][2] == "100\u00a0% of its weight goes to the token before."
    share = float(table["first token"][5, 0])
    assert said[5][0] == f"{100 * share:.0f}\u00a0% of its weight goes to the first token, “[CLS]”."


def test_the_head_that_was_trained_to_align_says_so_for_every_input() -> None:
    config = TranslatorConfig(vocab=31, dim=24, depth=2, decoder_depth=2, heads=3, mlp=17)
    model = replace(load(config), trained=True)
    for source, target in ([5, 6, 7], [4, 8]), ([9], [3]):
        done = trace(model, torch.tensor([source]), torch.tensor([target]))
        said = descriptions(done, heads(done))
        purposes = {
            (site.kind, site.layer, head)
            for site, row in zip(done.sites, said, strict=True)
            for head, sentence in enumerate(row)
            if (sentence or "").startswith(ALIGNS)
        }
        assert purposes == {("cross", 1, 0)}
    assert not trace(load(config), torch.tensor([[5]]), torch.tensor([[4]])).aligning


def test_untrained_networks_have_no_sentences() -> None:
    done = trace(load(EncoderConfig(vocab=53, dim=21, heads=3, depth=2)), torch.tensor([[5, 6, 7]]))
    assert descriptions(done, heads(done)) == [[None] * 3] * 2


def test_a_data_frame_has_a_row_for_each_head() -> None:
    t = trace(load(Seq2SeqConfig(depth=2, heads=3)), "a b a", "b a")
    found = heads(t)
    frame = found.to_pandas()
    assert len(frame) == sum(site.heads for site in t.sites)
    for row in frame.to_dict("records"):
        place = {"kind": row["kind"], "tower": row["tower"], "module": row["module"]}
        site = t.site(row["layer"], **place)
        expected = found["entropy"][t.sites.index(site), row["head"]]
        assert row["entropy"] == pytest.approx(float(expected), nan_ok=True)
    assert frame.drop_duplicates(["layer", "head", "kind", "tower"]).shape == frame.shape


def test_numbers_of_the_weights_are_computed_once_for_as_long_as_they_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, eigvals = [], torch.linalg.eigvals
    monkeypatch.setattr(torch.linalg, "eigvals", lambda x: asked.append(x) or eigvals(x))
    model = load(EncoderConfig(vocab=53, dim=12, depth=2, heads=3, seed=5))
    first = heads(trace(model, torch.tensor([[5, 6, 7]])))["copying"]
    count = len(asked)
    again = heads(trace(model, torch.tensor([[8, 9, 5, 6]])))["copying"]
    assert (len(asked), again.equal(first)) == (count, True)
    network: Any = model.network
    with torch.no_grad():
        network.blocks[1].attention.out.weight.mul_(-1)
    other = heads(trace(model, torch.tensor([[5, 6, 7]])))["copying"]
    assert (other[1] + first[1]).abs().max() < 1e-5
    assert other[0].equal(first[0])
    alone = heads(trace(model, torch.tensor([[5, 6, 7]])), "entropy")
    assert list(alone) == ["entropy"]
    with pytest.raises(ValueError, match="only: expected entropy"):
        heads(trace(model, torch.tensor([[5, 6, 7]])), ["entropi"])
