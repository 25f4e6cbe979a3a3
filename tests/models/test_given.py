"""Weights that somebody already has: every form in which they come, and each view of weights."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers

import headscope as hs
from models.attention.given import ALONE
from models.encoder import EncoderConfig
from viz.notebook import answer
from viz.pack import unpack

TOKENS = ["[CLS]", "Ġthe", "cat", "Ġsaw", "Ġthe", "mat"]


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(7)).softmax(-1)


WEIGHTS = drawn(2, 3, 6, 6)


class Foreign:
    """An array of another library, as JAX has them: read through NumPy, and not writable."""

    ndim = 4

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        array = WEIGHTS.numpy().astype(dtype or "f4")
        array.flags.writeable = False
        return array


@pytest.mark.parametrize(
    "given",
    [
        WEIGHTS,
        WEIGHTS.requires_grad_(False).double().numpy(),
        WEIGHTS.tolist(),
        [*WEIGHTS],
        tuple(each[None] for each in WEIGHTS),
        WEIGHTS[:, None],
        Foreign(),
    ],
)
def test_every_form_gives_the_same_trace(given: Any) -> None:
    t = hs.from_weights(given, TOKENS)
    assert [(site.layer, site.kind, site.heads) for site in t.sites] == [
        (0, "self", 3),
        (1, "self", 3),
    ]
    for layer in (0, 1):
        torch.testing.assert_close(t.weights(layer), WEIGHTS[layer], atol=1e-7, rtol=0)
    assert t.labels == ["[CLS]", " the", "cat", " saw", " the", "mat"]
    assert t.tokens[0].special == (True, *[False] * 5)
    assert t.notes == ()


def test_what_transformers_returns_opens_as_it_is() -> None:
    config = transformers.BertConfig(
        vocab_size=53,
        hidden_size=12,
        num_hidden_layers=3,
        num_attention_heads=2,
    )
    network = transformers.BertModel(config).eval()
    network.set_attn_implementation("eager")
    ids = torch.tensor([[3, 5, 7, 5], [2, 9, 9, 1]])
    with torch.no_grad():
        attentions = network(ids, output_attentions=True).attentions
    t = hs.from_weights(attentions, [list("abcb"), list("defg")])
    assert t.weights(2, 1, item=1).equal(attentions[2][1, 1])
    assert t.query_labels(t.sites[0], 1) == list("defg")
    left_out = hs.from_weights((None, attentions[1]), [list("abcb")] * 2)
    assert [site.layer for site in left_out.sites] == [1]


def test_cross_attention_takes_two_lists_of_tokens() -> None:
    t = hs.from_weights(drawn(2, 4, 3, 5), (list("abc"), list("vwxyz")))
    assert {site.kind for site in t.sites} == {"cross"}
    assert (t.query_labels(t.sites[1]), t.key_labels(t.sites[1])) == (list("abc"), list("vwxyz"))


def test_numbers_are_those_of_a_trace_with_the_same_weights() -> None:
    """The oracle is a trace of a network, whose weights are given a second time."""
    real = hs.trace(hs.load(EncoderConfig(vocab=53, dim=21, heads=3, depth=2, mlp=13)), "a b a c")
    given = torch.stack([real.weights(layer) for layer in range(len(real.sites))])
    mine, theirs = hs.heads(given, real.labels), hs.heads(real)
    shared = [key for key in theirs if key not in ("copying", "copying of tokens", "matching")]
    for key in {*shared} - {"separator", "punctuation"}:
        torch.testing.assert_close(mine[key], theirs[key], equal_nan=True, msg=key)
    assert "without its network" in mine.reasons["copying"]
    assert [*hs.heads(given, "entropy", tokens=real.labels)] == ["entropy"]
    t = hs.from_weights(given, real.labels)
    torch.testing.assert_close(hs.rollout(t), hs.rollout(real))
    torch.testing.assert_close(hs.flow(t, query=2), hs.flow(real, query=2), atol=1e-5, rtol=1e-4)


def test_causal_weights_are_found_to_be_causal() -> None:
    lower = WEIGHTS.tril() / WEIGHTS.tril().sum(-1, keepdim=True)
    t = hs.from_weights(lower, TOKENS)
    assert {site.kind for site in t.sites} == {"causal"}
    assert t.visible(t.sites[0], torch.tensor([1]))[0, 0].tolist() == [True, True, *[False] * 4]


def test_every_view_of_weights_shows_them(tmp_path: Any) -> None:
    for view in ("matrix", "lines", "text", "atlas", "numbers", "model"):
        place = {} if view in ("atlas", "numbers", "model") else {"layer": 1, "head": 2}
        for suffix in (".svg", ".npz", ".html"):
            path = hs.export(WEIGHTS, tmp_path / f"a{suffix}", tokens=TOKENS, view=view, **place)
            assert path.stat().st_size > 1000
    with np.load(hs.export(WEIGHTS, tmp_path / "a.npz", tokens=TOKENS, layer=1)) as file:
        np.testing.assert_allclose(file["weights"], WEIGHTS[1], atol=1e-7)
    assert hs.figure(WEIGHTS, TOKENS, layer=0, head=1).axes


def test_the_widget_offers_no_more_than_there_is() -> None:
    shown = hs.explore(WEIGHTS, TOKENS, layer=1, head=1)
    assert unpack(shown.held["overview"])[0]["base"]["given"]
    status, content = answer(shown.entry, "refused")
    assert (status, set(eval(content))) == (200, {"head", "parts", "lens"})
    for path in ("map?site=0&head=0&values=scores", "inside?site=0&head=0&query=1"):
        status, content = answer(shown.entry, path)
        assert (status, content) == (400, ALONE)


@pytest.mark.parametrize("view", ["head", "lens", "parts", "blame", "faithfulness", "features"])
def test_what_needs_a_model_is_refused_by_name(view: str, tmp_path: Any) -> None:
    for suffix in (".png", ".html"):
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            hs.export(WEIGHTS, tmp_path / f"a{suffix}", tokens=TOKENS, view=view, layer=0, head=0)


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.logits,
        lambda t: t.scores(0),
        lambda t: t.gradient(0),
        lambda t: t.hidden(0),
        lambda t: hs.value_norms(t, layer=0),
        lambda t: hs.alti(t),
        lambda t: hs.split(t, 0, 0, 1, 0),
        lambda t: hs.logit_attribution(t, 1),
    ],
)
def test_what_weights_do_not_tell_is_one_line(ask: Any) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        ask(hs.from_weights(WEIGHTS, TOKENS))


def test_rows_of_another_sum_are_shown_and_said() -> None:
    t = hs.from_weights(WEIGHTS * 1.5, TOKENS)
    assert t.notes == ("36 of 36 rows do not sum to 1 (1.5 to 1.5): they are shown as they are",)
    torch.testing.assert_close(t.weights(0), WEIGHTS[0] * 1.5)
    assert "do not sum to 1" in unpack(hs.explore(t).held["overview"])[0]["base"]["note"]


@pytest.mark.parametrize(
    ("weights", "tokens", "message"),
    [
        (torch.randn(3, 4, 4), None, "expected finite numbers of 0 or more.*take the softmax"),
        (torch.full((1, 2, 2), torch.nan), None, "expected finite numbers"),
        (torch.rand(4), None, "expected head query key, .* received 4"),
        ("abc", None, "that is no array of numbers"),
        ([[1, 2], [3]], None, "that is no array of numbers"),
        ([None], None, "expected head query key, .* received 1"),
        (((WEIGHTS,), (WEIGHTS,)), None, "one for each step"),
        ([drawn(1, 2, 3, 3), drawn(1, 2, 4, 4)], None, "expected layers of one size"),
        (WEIGHTS, ["a"], "expected 6 strings, a list for each item, received"),
        (WEIGHTS, "abcdef", "expected 6 strings, a list for each item, received 'abcdef'"),
        (WEIGHTS, 5, "expected 6 strings, a list for each item, received 5"),
        (drawn(2, 3, 5), list("abc"), "expected a tuple of two lists"),
    ],
)
def test_other_input_is_refused_in_a_line(weights: Any, tokens: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        hs.from_weights(weights, tokens)
    assert "\n" not in str(caught.value)


def test_a_trace_has_tokens_of_its_own() -> None:
    with pytest.raises(ValueError, match="tokens: expected none"):
        hs.heads(hs.from_weights(WEIGHTS), tokens=TOKENS)
