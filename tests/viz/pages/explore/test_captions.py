"""Explore compares a picture with several captions."""

from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from analysis.contrast import captions
from tests.models.pretrained.tiny import BY_NAME
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import choose, entry, opened

WORDS = ("<unk>", "a", "dog", "cat", "flower")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("clip")
    network: Any = BY_NAME["CLIP"].build()
    network.save_pretrained(place)
    reader = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token=WORDS[0])
    )
    reader.pre_tokenizer = pre_tokenizers.Whitespace()
    reader.save(str(place / "tokenizer.json"))
    return place


def test_each_caption_has_its_similarity_and_its_map(folder: Path) -> None:
    app = opened(place="folder", folder=str(folder), input="a dog", captions="a dog\na cat")
    assert not [line for line in helpers.lines(app) if "preprocessing" not in line]
    model, given, _ = entry(app).opened()
    expected = captions(model, given["pixel_values"], ["a dog", "a cat"])
    lines = [each.value for each in app.markdown if each.value.startswith("**")]
    told = sorted(
        (f"**{each.similarity:.2f}** {each.text}".replace("-", "−") for each in expected),
        reverse=True,
    )
    assert sorted((line for line in lines if "a " in line), reverse=True) == told
    titles = [figure.layout.title.text or "" for figure in helpers.figures(app)]
    assert sum(title.endswith(("a dog", "a cat")) for title in titles) == 2
    assert helpers.link(app)["captions"] == "a dog\na cat"
    app = choose(app, "captions", " ")
    assert not [each for each in app.markdown if each.value.endswith("a cat")]
