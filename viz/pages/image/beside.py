"""A second picture or network beside the first: what is chosen in one view shows in both."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from viz.pages import picture, shared
from viz.pages.image import controls, cost, examples, network, tracing
from viz.pages.shared import BUILT
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import attention, pictures
from viz.pages.widgets.controls import select

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.api.registry import Held

_DIGEST = link.sha256("")


def _parse(text: str) -> str:
    kind, _, name = text.partition(":")
    if kind == "upload":
        _DIGEST.parse(name)
    elif text and name not in {"photo": picture.PICTURES, "model": network.TITLES}.get(kind, ()):
        raise ValueError
    return text


PARAM = link.Param("compare", "", _parse, "photo:, upload: or model:, and a name")


@dataclass(frozen=True, eq=False)
class Second:
    """What is shown beside the first picture.

    Attributes:
        request: of its trace.
        data: contents of the picture's file.
        file: its name in Python code.
        example: the picture, if it is one of the network's examples.
        titles: of the first and of the second.
    """

    request: tracing.Input
    data: bytes
    file: str
    example: Any
    titles: tuple[str, str]


def choose(page: str) -> None:
    """The choice of what is beside the picture."""
    titles = _titles(page)
    chosen = session.get(page, PARAM.name)
    if chosen not in titles:
        if chosen.startswith("upload:") and chosen.partition(":")[2] not in pictures.strip(page):
            shared.error_line(
                f"This link shows an uploaded picture beside the first (SHA-256 {chosen[7:19]}…):"
                " upload the same file to see it."
            )
        session.edit(page, {PARAM.name: ""})
    help = (
        "Another picture through this network, or this picture through another network: layer,"
        " head and patch are the same in both"
    )
    select(page, PARAM.name, "Compare with", titles, help, width=200)


def _titles(page: str) -> Mapping[str, str]:
    """What can be beside the page's picture."""
    model, photo = session.get(page, "model"), session.get(page, "photo")
    own, upload = pictures.strip(page), session.get(page, pictures.UPLOAD.name)
    shown = f"upload:{upload}" if pictures.has_upload(page) else f"photo:{photo}"
    found = {f"photo:{name}": examples.named(model, name) for name in examples.of(model)}
    for number, digest in enumerate(own):
        found[f"upload:{digest}"] = pictures.own_title(number, len(own))
    found = {key: f"Picture: {title}" for key, title in found.items() if key != shown}
    for name, title in network.TITLES.items():
        if name not in (network.OWN, model):
            found[f"model:{name}"] = f"Network: {title}"
    return {"": "Nothing", **found}


def second(page: str, request: tracing.Input, data: bytes) -> Second | None:
    """What is chosen to be beside the picture; None for nothing.

    Args:
        page: of the setting.
        request: of the first trace.
        data: contents of the first picture's file.

    Raises:
        ValueError: for a network built here that would take long.
    """
    kind, _, name = session.get(page, PARAM.name).partition(":")
    model = session.get(page, "model")
    if not kind:
        return None
    if kind == "model":
        choice = controls.choice_of(page, name)
        if name == BUILT and not cost.estimate(choice, request.device).quick:
            raise ValueError("the untrained network takes long: make it smaller first")
        made = replace(request, choice=choice)
        titles = network.TITLES[model], network.TITLES[name]
        return Second(made, data, pictures.name_in_code(page), None, titles)
    own = pictures.strip(page)
    first = session.get(page, "photo")
    title = examples.named(model, first)
    if pictures.has_upload(page):
        title = pictures.own_title([*own].index(session.get(page, "upload")), len(own))
    if kind == "upload":
        other, file, example = own[name], "picture.png", None
        titles = title, pictures.own_title([*own].index(name), len(own))
    else:
        other = picture.PICTURES[name].read_bytes()
        file = picture.PICTURES[name].relative_to(shared.ROOT).as_posix()
        example, titles = examples.of(model).get(name), (title, examples.named(model, name))
    made = replace(request, digest=link.digest_of(other))
    return Second(made, other, file, example, titles)


def props(titles: tuple[str, str], held: "Held[TraceEntry]") -> dict[str, Any]:
    """The props with which the view shows both.

    Args:
        titles: of the first and of the second.
        held: the second.
    """
    first, other = titles
    return {
        "title": first,
        "second": {
            "trace": held.id,
            "made": held.serial,
            "heads": attention.heads_of(held),
            "title": other,
        },
    }


def shown(found: Second) -> "Held[TraceEntry]":
    """The registry entry of the second trace."""
    return tracing.shown(found.request, found.data, found.file)
