"""The models that were trained here do what their cards say."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from PIL import Image

from analysis.corpus.intervals import interval
from models.card import card
from models.catalogue import CHECKPOINTS, bundled, entry
from models.run import Model, load, trace
from models.text import FileTokenizer
from train.publish import answers_to, measured, picture
from train.recipes import RECIPES
from train.task import PictureTask

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

OURS = [known.name for known in bundled() if known.trained_here]
AGAIN = 1000  # items of an exam that is held again


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return {name: load(name) for name in OURS}


def test_every_recipe_is_there_and_all_of_it_is_small() -> None:
    assert set(OURS) == set(RECIPES)
    size = sum(path.stat().st_size for path in CHECKPOINTS.rglob("*") if path.is_file())
    assert size <= 12_000_000


@pytest.mark.parametrize("name", OURS)
def test_the_card_tells_what_was_done(name: str, models: dict[str, Model]) -> None:
    recipe, told = RECIPES[name], card(entry(name))
    assert told is not None
    assert models[name].network.config == recipe.config
    assert models[name].trained
    assert (told.task, told.hint) == (recipe.card["task"], recipe.card["hint"])
    assert told.training["settings"] == {
        name: getattr(recipe.settings, name) for name in recipe.settings.__dataclass_fields__
    }
    assert told.training["task"] == repr(recipe.task)
    assert {"torch", "numpy"} <= set(told.training["versions"])
    assert told.training["minutes"] > 0
    assert len(told.examples) >= 3
    for measure in told.measures:
        assert measure.aim == recipe.exams[measure.name][1]
        assert measure.of >= AGAIN or hasattr(recipe.task, "every")
        assert measure.share >= measure.aim
        variance = measure.share * (1 - measure.share) * measure.of / (measure.of - 1)
        wilson = interval(measure.share, variance, float(measure.of), share=True)
        assert (measure.low, measure.high) == pytest.approx(wilson)
    if told.questions:
        classes = sum(len(question.classes) for question in told.questions)
        assert classes == getattr(recipe.config, "classes", 0)
    for example, pointer in zip(told.examples, recipe.pointers, strict=True):
        pictured = isinstance(recipe.task, PictureTask)
        right = answers_to(recipe.task, recipe.item(pointer)) if pictured else ()
        assert example.answers == right
    assert told.place == recipe.place
    vocabularies = list(recipe.vocabularies.values())
    assert [told.tokens, told.target_tokens] == [
        *(vocabulary.names for vocabulary in vocabularies),
        *((),) * (2 - len(vocabularies)),
    ]


@pytest.mark.parametrize("name", OURS)
def test_held_out_items_are_right(name: str, models: dict[str, Model]) -> None:
    for measure in measured(cast(Any, models[name].network), RECIPES[name], AGAIN):
        assert measure.share >= measure.aim, measure


@pytest.mark.parametrize("name", OURS)
def test_examples_hold(name: str, models: dict[str, Model]) -> None:
    told = card(entry(name))
    assert told is not None
    for example in told.examples:
        picture = CHECKPOINTS / name / example.input
        given: str | Path = picture if picture.suffix == ".png" else example.input
        found = trace(models[name], cast(Any, given), example.target)
        weights = found.weights(example.layer, example.head, kind=example.kind)
        assert weights[example.query, example.key] == pytest.approx(example.weight, abs=0.006)
        # told to two digits, and worked out on another machine
        assert f"{example.weight:.2f}" in example.hint
        assert "[UNK]" not in " ".join(found.labels)


def word(model: Model, text: str, place: int = -1) -> str:
    """The likeliest word at a place of a text."""
    found = trace(model, text).output.values[0, place]
    assert isinstance(model.tokenizer, FileTokenizer)
    return model.tokenizer.words[int(found.argmax())]


def test_what_the_examples_say_beside_the_number(models: dict[str, Model]) -> None:
    wide = "the dog did not cross the street because it was too wide . who or what ? the"
    tired = wide.replace("wide", "tired")
    she = "the king helped the aunt because she was hungry . who or what ? the"
    reader = models["grammar-next"]
    assert word(reader, wide) == "street"
    assert word(reader, tired) == "dog"
    assert word(reader, she) == "aunt"
    assert word(reader, she.replace("she", "he")) == "king"
    assert word(reader, "the keys near the cabinet") in ("are", "were", "have", "stay", "look")
    found = trace(reader, "the keys near the cabinet")
    assert found.weights(1)[:, 5, 4].max() > 0.9  # the second step
    filler = models["grammar"]
    horse = f"{wide} [MASK] .".replace("dog", "horse")
    assert word(filler, horse, 19) == "street"
    assert word(filler, horse.replace("wide", "tired"), 19) == "horse"
    assert word(filler, f"{she} aunt .".replace("she", "[MASK]"), 7) == "she"
    plural = ("are", "were", "stay", "look")
    assert word(filler, "the keys near the cabinet [MASK] dusty .", 6) in plural
    assert word(models["induction"], "junk dream vow junk") == "d"
    assert word(models["induction"], "3141 is not 27 but 314", 17) == "1"
    dates = models["dates"]
    for text, iso in (
        ("March the third, '98", "1998-03-03"),
        ("98-4-23", "1998-04-23"),
        ("4/11/2031", "2031-04-11"),
        ("4.11.2031", "2031-11-04"),
        ("Friday the 13th of December, 2013", "2013-12-13"),
    ):
        found = trace(dates, text)
        site = next(site for site in found.sites if site.kind == "cross")
        assert "".join(found.query_labels(site)[1:]) == iso
    friday = found.weights(0, kind="cross")[:, 9, : len("Friday")]
    assert friday.sum(-1).max() < 0.05


@pytest.mark.parametrize("name", ["shapes", "digits", "objects"])
def test_example_pictures_are_answered_right(name: str, models: dict[str, Model]) -> None:
    """And the file is the picture that the recipe means."""
    for pointer in RECIPES[name].pointers:
        file = CHECKPOINTS / name / pointer.file
        item, task = RECIPES[name].item(pointer), RECIPES[name].task
        made = np.asarray(picture(task, item), dtype=int)
        # processors round differently: one level of 256
        assert np.abs(np.asarray(Image.open(file), dtype=int) - made).max() <= 1
        batch = task.batch([item])
        logits = trace(models[name], cast(Any, file)).output.values
        classes = [len(names) for names in RECIPES[name].questions.values()]
        said = torch.stack([part.argmax(-1) for part in logits.split(classes, dim=1)], dim=1)
        assert said.equal(batch.target)
