"""Networks that were built, by the link to them: `preset=small&heads=8`.

Does not import torch.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from models.presets import PRESETS
from models.request import Source, built
from viz.pages.build.fields import FIELDS, meaning, value_of
from viz.pages.state import params as link
from viz.values import Kind

FIRST = "small"
PRESET = link.choice("preset", FIRST, PRESETS)
LONGEST = 1000  # characters


def values(name: str) -> dict[str, Any]:
    """The values of the controls for a preset."""
    preset = PRESETS[name]
    return {field.name: value_of(field, preset.fields) for field in FIELDS[preset.kind]}


def params(name: str) -> tuple[link.Param, ...]:
    """Those of a preset: only deviations from it are in the link."""
    first = values(name)
    fields = FIELDS[PRESETS[name].kind]
    return PRESET, *(field.param(first[field.name]) for field in fields)


def written(name: str, values: Mapping[str, Any]) -> str:
    """A network as a link has it: its preset, and what differs from that."""
    return urlencode({PRESET.name: name, **link.write(params(name), {**values, "preset": name})})


def read(text: str) -> tuple[str, dict[str, Any]]:
    """The preset of a network in a link, and the values of its controls.

    Raises:
        ValueError: for a preset, a setting or a value that is not there.
    """
    if len(text) > LONGEST:
        raise ValueError(f"expected at most {LONGEST} characters")
    query = dict(parse_qsl(text))
    name = link.value(PRESET, query)
    values, problems = link.read(params(name), query)
    if problems:
        raise ValueError(problems[0])
    return values.pop("preset"), values


def fields_of(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a config for values of the controls; the preset supplies the rest.

    Raises:
        ValueError: for widths that cannot be read.
    """
    preset = PRESETS[name]
    settings = dict(preset.fields) | {
        field.of or field.name: meaning(field, values[field.name]) for field in FIELDS[preset.kind]
    }
    if settings.get("neurons"):  # the controls hold the widths of the hidden layers
        classes = settings["classes"]
        settings |= {"neurons": (*settings["neurons"], classes) if classes else ()}
        settings |= {"classes": None if classes else classes}
    return settings


def source_of(text: str, device: str) -> Source:
    """The model that a link to a network names."""
    name, values = read(text)
    return built(PRESETS[name].kind, fields_of(name, values), device)


def title(text: str) -> str:
    """The name of a network in a link: of its preset."""
    return PRESETS[read(text)[0]].title


def _checked(text: str) -> str:
    fields_of(*read(text))
    return text


EXPECTED = f"a network of Build, such as preset={FIRST}&heads=8"
NETWORK = link.Param("network", f"preset={FIRST}", Kind(EXPECTED, _checked))
