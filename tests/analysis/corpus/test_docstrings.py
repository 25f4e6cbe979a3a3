"""Corpora that any machine has."""

import pytest

from analysis.corpus.docstrings import repeated, sentences
from models.model import Model
from models.run import load


def test_sentences_of_the_standard_library() -> None:
    found = sentences(50)
    assert len(found) == len(set(found)) == 50
    assert sentences(20) == found[:20]
    assert all(each[0].isupper() and each[-1] in ".!?" and "\n" not in each for each in found)


def test_repeated_tokens_are_the_same_twice(encoder: Model) -> None:
    model = load("induction")
    assert model.tokenizer is not None
    found = repeated(model, 5)
    assert found == repeated(model, 5)
    for text in found:
        plain = model.tokenizer.encode(text).ids
        assert len(set(plain)) <= len(plain) // 2 + 2
    with pytest.raises(ValueError, match="has no tokenizer that writes text"):
        repeated(encoder, 5)
