"""The model of the page, by its settings."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from models.catalogue import catalogue
from models.request import Source, built
from viz.api import tracing
from viz.pages import shared
from viz.pages.explore import sizes
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session

NAMES = {"catalogue": "model", "hub": "id", "folder": "folder"}  # the setting that names a model
TITLES = {entry.name: entry.title for entry in catalogue()} | sizes.TITLES
READS = {entry.name: entry.reads for entry in catalogue()} | sizes.READS
PLACE = link.choice("place", "catalogue", NAMES)
MODEL = link.choice("model", "minilm", TITLES)
HUB, FOLDER = link.text("id", ""), link.text("folder", "")


def params(listed: str) -> tuple[link.Param, ...]:
    """The settings that name a model; a link names one of the list even if it is the default.

    Args:
        listed: the model of the list; "" for any other.
    """
    return PLACE, replace(MODEL, named=bool(listed)), HUB, FOLDER


def named(query: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a link, which older ones had without the model of the default."""
    is_listed = query.get(PLACE.name, PLACE.default) == PLACE.default
    return ({MODEL.name: MODEL.default} if is_listed else {}) | dict(query)


def places() -> tuple[str, ...]:
    """The places a model can be chosen from on this server."""
    return tuple(place for place in NAMES if place in tracing.places())


def chosen() -> Source:
    """The chosen model."""
    return of(session.current(PAGE).settings)


def of(settings: Any) -> Source:
    """The model that settings name."""
    place = settings["place"]
    if place == "catalogue" and settings["model"] in sizes.KINDS:
        model = settings["model"]
        return built(sizes.KINDS[model], sizes.of(model, settings), shared.device())
    name = settings[NAMES[place]].strip()
    return Source(place, name, device=shared.device())


def settings_of(source: Source) -> dict[str, str]:
    """The settings that name a model; the sizes of a network built here aside."""
    place = "catalogue" if source.place == "built" else source.place
    name = sizes.MODELS[source.name] if source.place == "built" else source.name
    return {"place": place, NAMES[place]: name}


def listed() -> str:
    """The setting `model` if a model of the list is chosen, also one built here; else ""."""
    settings = session.current(PAGE).settings
    return settings["model"] if settings["place"] == "catalogue" else ""


def title(source: Source) -> str:
    """A short name of a model: of a folder, its last two parts."""
    return titled(source.place, source.name)


def key(source: Source) -> str:
    """A model in the settings that name one, such as `folder:/a/model`."""
    return f"{source.place}:{source.name}"


def titled(place: str, name: str) -> str:
    """The same by place and name."""
    if place == "built":
        return sizes.TITLES[sizes.MODELS[name]]
    if place == "catalogue":
        return TITLES[name]
    return "/".join(Path(name).parts[-2:]) if place == "folder" else name
