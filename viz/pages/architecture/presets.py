"""Presets of the Architecture page: their settings, inputs and link parameters.

Does not import torch: the controls are drawn before it is loaded.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from models.card import Example
from models.presets import PRESETS
from viz.api.samples import PICTURES, SAMPLES
from viz.pages.architecture.fields import Value, fields, value_of
from viz.pages.state import params as link
from viz.pages.state import selected
from viz.pages.widgets import cards, pictures

PAGE = "architecture"
FIRST = "small"
SENTENCE = "The animal didn't cross the street because it was too tired."
ANSWER = "Das Tier überquerte die Straße nicht, weil es zu müde war."
KINDS = ("self", "causal", "cross")  # of attention
SCALES = {False: selected.SCALES, True: ("layer", "own", "fixed")}  # of texts and of pictures
PRESET = link.choice("preset", FIRST, PRESETS)


def params(name: str) -> tuple[link.Param, ...]:
    """The settings of a preset, and the selections of its views."""
    return (*settings_of(name), part_of(name), *selection_of(name))


def params_of(query: Mapping[str, str]) -> tuple[link.Param, ...]:
    """The parameters of a link; their defaults depend on its preset."""
    return params(link.value(PRESET, query))


def settings_of(name: str) -> tuple[link.Param, ...]:
    """The settings of a preset; only deviations from the preset are in the link."""
    first, begin = values(name), input_of(name, first_example(name))
    return (
        PRESET,
        *(field.param(first[field.name]) for field in fields(PRESETS[name].kind)),
        replace(link.choice("run", "no", ("no", "yes")), replaced={"score": "no"}),
        link.text("text", begin["text"]),
        link.text("answer", begin["answer"]),
        link.choice("photo", begin["photo"], PICTURES),
        *pictures.PARAMS,
    )


def part_of(name: str) -> link.Param:
    """The selected part of the diagram, by its path; by default the attention."""
    above = {"seq2seq": "encoder/blocks/", "smallest": "", "layer": "target/"}.get(
        PRESETS[name].kind, "blocks/"
    )
    return link.text("part", above + "attention/attend")


def selection_of(name: str) -> tuple[link.Param, ...]:
    """The selection of the attention view."""
    begin, is_picture = head_of(first_example(name)), PRESETS[name].kind == "vit"
    scales, opens = SCALES[is_picture], {"form": "image"} if is_picture else {}
    return (
        link.number("layer", begin["layer"], 0, 99),
        link.choice("attention", begin["attention"], KINDS),
        link.number_or("head", begin["head"], 99, ("mean", "max")),
        link.number("token", begin["token"], 0, 9999),
        link.choice("direction", "out", ("out", "in")),
        link.choice("scale", scales[0], scales),
        *(replace(each, default=opens.get(each.name, each.default)) for each in selected.FORMS),
    )


def values(name: str) -> dict[str, Value]:
    """The values of the controls for a preset."""
    preset = PRESETS[name]
    settings = {"tokens": preset.tokens, "target": preset.target} | dict(preset.fields)
    return {field.name: value_of(field, settings) for field in fields(preset.kind)}


def trained(name: str) -> str:
    """The catalogue model with the preset's weights; "" where they are random."""
    return PRESETS[name].model


def examples(name: str) -> tuple[Example, ...]:
    """The examples of a trained preset's model."""
    card = cards.card(trained(name)) if trained(name) else None
    return () if card is None else card.examples


def first_example(name: str) -> Example | None:
    """The first example of a trained preset."""
    return next(iter(examples(name)), None)


def input_of(name: str, example: Example | None) -> dict[str, str]:
    """The input of an example; for None, a sentence and a photo that suit any network."""
    settings = {"text": SENTENCE, "answer": ANSWER, "photo": "flower"}
    if example is None:
        return settings
    sample = f"{trained(name)}/{example.input}"
    if sample in SAMPLES:
        return settings | {"photo": sample}
    return settings | {"text": example.input, "answer": example.target or ""}


def head_of(example: Example | None) -> dict[str, Any]:
    """The selection of the attention view for an example."""
    if example is None:
        return {"layer": 0, "attention": "self", "head": 0, "token": None}
    return {
        "layer": example.layer,
        "attention": example.kind,
        "head": example.head,
        "token": example.query,
    }
