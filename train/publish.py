"""Publishes a trained network as a checkpoint folder with its measurements and examples."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from einops import rearrange
from PIL import Image
from safetensors.torch import save
from torch import nn

from models.card import Example, Measure
from models.model import settings_of
from models.run import Model, load, trace
from train.recipes import Pointer, Recipe
from train.task import PictureTask, exam, score

LICENCE = "that of this project: made here, from nothing"
LIBRARIES = ("torch", "numpy", "safetensors", "tokenizers")


def measured(network: nn.Module, recipe: Recipe, items: int | None = None) -> tuple[Measure, ...]:
    """The network's scores on held-out items: `items` of them, or the recipe's number."""
    return tuple(
        score(network, task, exam(task, items or recipe.items), name=name, aim=aim)
        for name, (task, aim) in recipe.exams.items()
    )


def publish(
    network: nn.Module,
    recipe: Recipe,
    measures: Sequence[Measure],
    minutes: tuple[float, float],
    folder: Path,
) -> None:
    """Writes a folder that `load` opens, replacing an existing one.

    Args:
        network: the trained network.
        recipe: of the network.
        measures: its scores.
        minutes: duration of the training, wall-clock and CPU.
        folder: destination.

    Raises:
        OSError: if it cannot be written; the old folder is kept.
    """
    weights = save({name: t.contiguous().cpu() for name, t in network.state_dict().items()})
    words = [vocabulary.names for vocabulary in recipe.vocabularies.values()]
    settings = asdict(recipe.settings)
    config: dict[str, Any] = {
        **settings_of(recipe.config),
        **recipe.card,
        "licence": LICENCE,
        "measures": [asdict(each) for each in measures],
        "examples": [],
        "questions": [{"title": q, "classes": names} for q, names in recipe.questions.items()],
        "place": recipe.place,
        "tokens": words[0] if words else [],
        "target_tokens": words[1] if len(words) > 1 else [],
        "training": {
            "task": repr(recipe.task),
            "settings": settings,
            "minutes": round(minutes[0], 1),
            "processor_minutes": round(minutes[1], 1),
            "versions": {name: version(name).partition("+")[0] for name in LIBRARIES},
        },
        "sha256": sha256(weights).hexdigest(),
    }
    with whole_folder(folder) as new:
        (new / "model.safetensors").write_bytes(weights)
        for name, vocabulary in recipe.vocabularies.items():
            vocabulary.save(new / name)
        _write(config, new)
        model = load(new)
        config["examples"] = [asdict(_example(model, recipe, p, new)) for p in recipe.pointers]
        _write(config, new)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write to, which takes the place of `folder` once it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=".") as work:
        new = Path(work) / "new"
        new.mkdir()
        yield new
        if folder.exists():
            folder.rename(Path(work) / "old")
        new.rename(folder)


def _write(config: dict[str, Any], folder: Path) -> None:
    text = json.dumps(config, indent=1, ensure_ascii=False) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")


def _example(model: Model, recipe: Recipe, pointer: Pointer, folder: Path) -> Example:
    """The example with the head that gives one of its keys the most weight, its picture written."""
    given: Any = pointer.input
    name, answers = pointer.input, ()
    if isinstance(recipe.task, PictureTask):
        item, name = recipe.item(pointer), pointer.file
        given = folder / name
        picture(recipe.task, item).save(given)
        answers = answers_to(recipe.task, item)
    t = trace(model, given)
    best = Example(pointer.name, name, pointer.kind, 0, 0, pointer.query, 0, -1.0, answers=answers)
    for site in t.sites:
        if site.kind != pointer.kind:
            continue
        rows = range(pointer.query, pointer.query + 1)
        weights = t.weights(site.layer, kind=site.kind, rows=rows)[:, 0]
        among = list(pointer.keys or range(site.keys))
        weight, place = weights[:, among].flatten().max(0)
        if weight > best.weight:
            head, key = divmod(int(place), len(among))
            best = replace(best, layer=site.layer, head=head, key=among[key], weight=float(weight))
    weight = round(best.weight, 2)
    hint = pointer.hint.format(layer=best.layer, head=best.head, weight=f"{weight:.2f}")
    return replace(best, weight=weight, hint=hint)


def picture(task: PictureTask, item: Any) -> Image.Image:
    """The picture of an item."""
    pixels = task.pictures([item])[0]
    return Image.fromarray(rearrange(pixels, "channel row col -> row col channel").numpy())


def answers_to(task: PictureTask, item: Any) -> tuple[str, ...]:
    """The right answer to each question about an item's picture."""
    targets = task.batch([item]).target[0].tolist()
    return tuple(classes[t] for classes, t in zip(task.questions.values(), targets, strict=True))
