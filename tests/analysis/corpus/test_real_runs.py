"""A long run: the known heads of a pretrained model."""

from pathlib import Path

import pytest

from analysis.corpus import corpus, open_corpus
from analysis.corpus.repeated import repeated
from models.run import load

pytestmark = pytest.mark.long


def test_the_known_heads_of_smollm2_come_first(tmp_path: Path) -> None:
    """Over repeated random tokens: induction in layer 18, head 6; the token before in 16, 0."""
    model = load("smollm2")
    assert model.tokenizer is not None
    found = open_corpus(corpus(model, repeated(model, 24), tmp_path / "out", longest=64))
    first = {key: found.top(key, 1).iloc[0] for key in ("induction", "previous token")}
    assert (first["induction"]["layer"], first["induction"]["head"]) == (18, 6)
    assert (first["previous token"]["layer"], first["previous token"]["head"]) == (16, 0)
    assert found.heads["sentence"].notna().all()
