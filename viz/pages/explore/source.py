"""The model of the page, by its settings."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from models.catalogue import catalogue
from models.request import Place, Source
from viz.api import tracing
from viz.pages import shared
from viz.pages.build import networks
from viz.pages.build.fields import KINDS
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session

NAMES = {  # the setting that names a model
    "catalogue": "model",
    "hub": "id",
    "folder": "folder",
    "built": networks.NETWORK.name,
}
TITLES = {entry.name: entry.title for entry in catalogue()}
READS = {entry.name: entry.reads for entry in catalogue()}
PLACE = link.choice("place", "catalogue", NAMES)
MODEL = link.choice("model", "minilm", TITLES)
HUB, FOLDER = link.text("id", ""), link.text("folder", "")


def params(listed: str) -> tuple[link.Param, ...]:
    """The settings that name a model; a link names one of the list even if it is the default.

    Args:
        listed: the model of the list; "" for any other.
    """
    return PLACE, replace(MODEL, named=bool(listed)), HUB, FOLDER, networks.NETWORK


def places() -> tuple[str, ...]:
    """The places a model can be chosen from on this server."""
    return tuple(place for place in NAMES if place in tracing.places())


def chosen() -> Source:
    """The chosen model."""
    return of(session.current(PAGE).settings)


def of(settings: Any) -> Source:
    """The model that settings name."""
    place = settings["place"]
    return at(place, settings[NAMES[place]].strip())


def at(place: Place, name: str) -> Source:
    """The model of this name at a place."""
    if place == "built":
        return networks.source_of(name, shared.device())
    return Source(place, name, device=shared.device())


def listed() -> str:
    """The setting `model` if a model of the list is chosen; else ""."""
    settings = session.current(PAGE).settings
    return settings["model"] if settings["place"] == "catalogue" else ""


def title(source: Source) -> str:
    """A short name of a model: of a folder, its last two parts."""
    if source.place == "built":
        return f"{KINDS[source.name]}, untrained"
    return titled(source.place, source.name)


def key() -> str:
    """The page's model in one word, such as `folder:/a/model`."""
    settings = session.current(PAGE).settings
    return f"{settings['place']}:{settings[NAMES[settings['place']]]}"


def titled(place: str, name: str) -> str:
    """A short name of a model at a place."""
    if place == "built":
        return f"{networks.title(name)}, untrained"
    if place == "catalogue":
        return TITLES[name]
    return "/".join(Path(name).parts[-2:]) if place == "folder" else name
