"""Publishes a trained network as a checkpoint folder with its measurements and examples."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from torch import nn

from models.card import Measure
from models.loading.convert.own import settings_of
from models.loading.load import as_model
from models.model import Model, Network
from models.text import FileTokenizer
from train.examples import Pointer, examples_of, picture
from train.recipe import Recipe
from train.store import libraries, save_checkpoint
from train.task import exam, score

LICENCE = "that of this project: made here, from nothing"


def measured(network: nn.Module, recipe: Recipe, items: int | None = None) -> tuple[Measure, ...]:
    """The network's scores on held-out items: `items` of them, or the recipe's number."""
    measures = []
    for name, (task, aim) in recipe.exams.items():
        result = score(network, task, exam(task, items or recipe.items))
        measures.append(Measure(name, result.right, result.of, *result.interval, aim))
    return tuple(measures)


def publish(
    network: nn.Module,
    recipe: Recipe,
    measures: Sequence[Measure],
    minutes: tuple[float, float],
    folder: Path,
) -> None:
    """Writes the folder.

    Args:
        network: the trained network.
        recipe: of the network.
        measures: its scores.
        minutes: duration of the training, wall-clock and CPU.
        folder: destination.

    Raises:
        OSError: if it cannot be written; the old folder is kept.
    """
    files: dict[str, Callable[[Path], None]] = {
        name: vocabulary.save for name, vocabulary in recipe.vocabularies.items()
    }
    for pointer in recipe.pointers:
        if not isinstance(pointer.item, str):
            files[pointer.file] = partial(picture(pointer.item).save, format="PNG")
    examples = [
        replace(example, answers=answers(recipe, pointer))
        for example, pointer in zip(
            examples_of(as_read(network, recipe), recipe.pointers), recipe.pointers, strict=True
        )
    ]
    settings = asdict(recipe.settings)
    words = [vocabulary.names for vocabulary in recipe.vocabularies.values()]
    config: dict[str, Any] = {
        **settings_of(recipe.config),
        "title": recipe.title,
        "summary": recipe.summary,
        "licence": LICENCE,
        "task": recipe.about,
        "hint": recipe.hint,
        "measures": [asdict(each) for each in measures],
        "examples": [asdict(each) for each in examples],
        "questions": [{"title": q, "classes": names} for q, names in recipe.questions.items()],
        "place": recipe.place,
        "tokens": words[0] if words else [],
        "target_tokens": words[1] if len(words) > 1 else [],
        "training": {
            "task": repr(recipe.task),
            "settings": settings,
            "minutes": round(minutes[0], 1),
            "processor_minutes": round(minutes[1], 1),
            "versions": libraries(),
        },
    }
    save_checkpoint(network, config, folder, files=files)


def answers(recipe: Recipe, pointer: Pointer) -> tuple[str, ...]:
    """The right answer to each question about an example's picture."""
    if not recipe.questions:
        return ()
    targets = recipe.task.batch([pointer.item]).target[0].tolist()
    classes = recipe.questions.values()
    return tuple(names[target] for names, target in zip(classes, targets, strict=True))


def as_read(network: nn.Module, recipe: Recipe) -> Model:
    """The network as the app opens it, with its tokenizers."""
    with TemporaryDirectory() as place:
        readers = {}
        for name, vocabulary in recipe.vocabularies.items():
            vocabulary.save(Path(place) / name)
            readers[name] = FileTokenizer(Path(place) / name, trusted=True)
    reads, writes = readers.get("tokenizer.json"), readers.get("target_tokenizer.json")
    model = as_model(cast(Network, network.eval()))
    return replace(model, tokenizer=reads, target_tokenizer=writes)
