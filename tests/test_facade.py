"""`import headscope as hs`: what it offers, and what it says of names that went."""

import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
import torch

import headscope as hs
from models import edits

PUBLIC = set(
    re.findall(
        r"\w+",
        """
    load trace verify View Prompt Video explore export heads joined_tokens words_of in_template
    EncoderConfig DecoderConfig Seq2SeqConfig ViTConfig AttentionLayerConfig SmallestConfig
    TranslatorConfig VectorEncoderConfig
    Ablate AblateMLP Cut SetWeights Temperature UsePattern Patch Cover Reference
    rollout flow value_norms alti relevance explain faithfulness split
    logit_lens jacobian_lens logit_attribution blame sweep state_sweep align alike predict averaged
    continue_text Sampling Logit Loss Divergence corpus open_corpus
    """,
    )
)
TEXT, OTHER = "the cat saw the dog", "the dog saw the cat"


def decoder() -> tuple[Any, Any]:
    model = hs.load("grammar-next")
    return model, hs.trace(model, TEXT, hidden=True)


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    assert set(dir(hs)) >= PUBLIC
    for name in dir(hs):
        assert getattr(hs, name).__doc__, name
        assert getattr(hs, name).__name__ == name


def test_an_edit_that_only_its_file_names_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = edits.Temperature
    monkeypatch.delattr(edits, "Temperature")
    monkeypatch.delitem(vars(hs), "Temperature", raising=False)
    monkeypatch.setattr(hs, "_HOMES", {})
    assert hs.Temperature is kind


@pytest.mark.parametrize("name", ["atention", "__path__", "_HOME"])
def test_a_name_that_never_was_is_said_not_to_be_there(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"^headscope has no '{name}'$"):
        getattr(hs, name)


# --- names that went ------------------------------------------------------------------------------


def hides_a_key() -> None:
    model, before = decoder()
    t = hs.trace(model, TEXT, edits=[hs.Cut(None, None, None, 1)])
    assert all(not t.weights(site)[..., 1].any() for site in t.sites)
    assert before.weights(0)[..., 1].any()


def hides_a_key_from_a_query() -> None:
    model, before = decoder()
    t = hs.trace(model, TEXT, edits=[hs.Cut(None, None, 4, (1, 2))])
    assert not t.weights(0, rows=4)[..., 1:3].any()
    assert torch.equal(t.weights(0, rows=3), before.weights(0, rows=3))


def silences_a_head() -> None:
    model, _ = decoder()
    t = hs.trace(model, TEXT, edits=[hs.Ablate(0, 1)])
    assert hs.logit_attribution(t, 5)["layer 0, head 1"] == 0


def ignores_the_order() -> None:
    model = hs.load(hs.EncoderConfig(heads=2, dim=10, depth=1, positions="none"))
    one, other = (hs.trace(model, text) for text in (TEXT, OTHER))
    assert torch.allclose(one.weights(0)[:, 0, 1], other.weights(0)[:, 0, 4], atol=1e-6)


def swaps_words() -> None:
    model, t = decoder()
    assert sorted(hs.trace(model, OTHER).labels) == sorted(t.labels)


def follows_all_layers() -> None:
    _, t = decoder()
    assert hs.alti(t).shape == (len(t.labels),) * 2


def continues() -> None:
    model, _ = decoder()
    assert hs.continue_text(model, TEXT, 2).steps == 2


GONE: MappingProxyType[str, Callable[[], None]] = MappingProxyType(
    {
        "Drop": hides_a_key,
        "Evict": hides_a_key_from_a_query,
        "SetGate": silences_a_head,
        "SetPositions": ignores_the_order,
        "Swap": swaps_words,
        "decompx": follows_all_layers,
        "write_on": continues,
    }
)


@pytest.mark.parametrize("name", GONE)
def test_a_name_that_went_says_what_to_do_instead(name: str) -> None:
    assert name not in dir(hs)
    with pytest.raises(AttributeError) as caught:
        getattr(hs, name)
    message = str(caught.value)
    advice = message.removeprefix(f"headscope has no {name!r} any more: ")
    assert advice != message
    assert "\n" not in message
    assert set(re.findall(r"\w+(?=\()", advice)) <= set(dir(hs))
    GONE[name]()


def test_no_other_name_went() -> None:
    assert set(GONE) == set(hs._GONE)
