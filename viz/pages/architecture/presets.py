"""Presets of the Architecture page: their settings and link parameters.

Does not import torch: the controls are drawn before it is loaded.
"""

from collections.abc import Mapping
from dataclasses import replace

from models.presets import PRESETS
from viz.api.samples import PHOTOS
from viz.pages.architecture.fields import Value, fields, value_of
from viz.pages.state import params as link
from viz.pages.state import selected

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
    first = values(name)
    return (
        PRESET,
        *(field.param(first[field.name]) for field in fields(PRESETS[name].kind)),
        link.choice("run", "no", ("no", "yes")),
        link.text("text", SENTENCE),
        link.text("answer", ANSWER),
        link.choice("photo", "flower", PHOTOS),
    )


def part_of(name: str) -> link.Param:
    """The selected part of the diagram, by its path; by default the attention."""
    above = {"seq2seq": "encoder/blocks/", "smallest": "", "layer": "target/"}.get(
        PRESETS[name].kind, "blocks/"
    )
    return link.text("part", above + "attention/attend")


def selection_of(name: str) -> tuple[link.Param, ...]:
    """The selection of the attention view."""
    is_picture = PRESETS[name].kind == "vit"
    scales, opens = SCALES[is_picture], {"form": "image"} if is_picture else {}
    return (
        link.number("layer", 0, 0, 99),
        link.choice("attention", "self", KINDS),
        link.number_or("head", 0, 99, ("mean", "max")),
        link.number("token", None, 0, 9999),
        link.choice("direction", "out", ("out", "in")),
        link.choice("scale", scales[0], scales),
        *(replace(each, default=opens.get(each.name, each.default)) for each in selected.FORMS),
    )


def values(name: str) -> dict[str, Value]:
    """The values of the controls for a preset."""
    preset = PRESETS[name]
    settings = {"tokens": preset.tokens, "target": preset.target} | dict(preset.fields)
    return {field.name: value_of(field, settings) for field in fields(preset.kind)}
