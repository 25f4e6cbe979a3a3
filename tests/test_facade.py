"""`import headscope as hs`: what it offers, and what it says of names that went."""

import re

import pytest

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


@pytest.mark.parametrize("name", hs._GONE)
def test_a_name_that_went_says_what_to_do_instead(name: str) -> None:
    assert name not in dir(hs)
    with pytest.raises(AttributeError) as caught:
        getattr(hs, name)
    message = str(caught.value)
    advice = message.removeprefix(f"headscope has no {name!r} any more: ")
    assert advice != message
    assert "\n" not in message
    assert set(re.findall(r"\w+(?=\()", advice)) <= set(dir(hs))
