"""A second picture or model beside the first: what is chosen in one view shows in both."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.card import Example
from models.catalogue import entry, is_here
from models.request import Picture, Source, TraceRequest
from viz.api import samples, tracing
from viz.pages import shared
from viz.pages.explore import compute, cost, examples, sizes, source
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import attention, pictures
from viz.pages.widgets.controls import select

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.api.registry import Held

PICTURES = ("photo", "upload")  # what can be beside the first, as in `photo:flower`
MODELS = ("catalogue", "built", "hub", "folder")
SEEN = f"{PAGE}/pictured"  # models with a view of pictures that were open here, the latest first
MOST = 8  # of them
_DIGEST = link.sha256("")


def _parse(text: str) -> str:
    kind, _, name = text.partition(":")
    if kind == "upload":
        _DIGEST.parse(name)
    known = {"photo": samples.PICTURES, "catalogue": source.TITLES, "built": sizes.MODELS}
    if text and (kind not in (*PICTURES, *MODELS) or not name):
        raise ValueError
    if kind in known and name not in known[kind]:
        raise ValueError
    return text


PARAM = link.Param(
    "compare", "", _parse, "photo:, upload:, catalogue:, built:, hub: or folder:, and a name"
)


@dataclass(frozen=True, eq=False)
class Second:
    """What is shown beside the first picture.

    Attributes:
        held: its result.
        request: of its trace.
        example: the picture, if it is one of the model's examples.
        titles: of the first and of the second.
    """

    held: "Held[TraceEntry]"
    request: TraceRequest
    example: Example | None
    titles: tuple[str, str]

    @property
    def props(self) -> dict[str, Any]:
        """The props with which the view shows both."""
        first, other = self.titles
        return {
            "title": first,
            "second": {
                "trace": self.held.id,
                "made": self.held.serial,
                "heads": attention.heads_of(self.held),
                "title": other,
            },
        }


def choose(request: TraceRequest, place: DeltaGenerator | None) -> Second | None:
    """Draws the choice; returns what is beside the picture.

    Args:
        request: of the first trace, whose view is one of pictures.
        place: where it is drawn.
    """
    key = _key(request.model)
    seen = st.session_state.get(SEEN, ())
    st.session_state[SEEN] = (key, *(each for each in seen if each != key))[:MOST]
    titles = _titles(request.model)
    chosen = session.get(PAGE, PARAM.name)
    if chosen not in titles:
        if chosen.startswith("upload:") and chosen.partition(":")[2] not in pictures.strip(PAGE):
            shared.error_line(
                f"This link shows an uploaded picture beside the first (SHA-256 {chosen[7:19]}…):"
                " upload the same file to see it."
            )
        session.edit(PAGE, {PARAM.name: ""})
    help = (
        "Another picture through this model, or this picture through another: layer, head and"
        " patch are the same in both"
    )
    with place or nullcontext():
        select(PAGE, PARAM.name, "Compare with", titles, help, width=200, collapsed=True)
    chosen = session.get(PAGE, PARAM.name)
    if not chosen:
        return None
    try:
        with st.spinner("Running the second …"):
            return _second(request, chosen, titles[chosen])
    except ValueError as error:
        shared.error_line(f"{titles[chosen]}: {error}")
        return None


def _second(request: TraceRequest, chosen: str, title: str) -> Second:
    """What is chosen, traced.

    Raises:
        ValueError: if it cannot be opened or traced, or has no view of pictures.
    """
    kind, _, name = chosen.partition(":")
    picture, listed = request.picture, source.listed()
    if picture is None:
        raise ValueError("expected the trace of a picture")
    example = None
    if kind in MODELS:
        other = _request_of(request, kind, name)
        titles = _title(_key(request.model)), title.partition(": ")[2]
    else:
        file = pictures.strip(PAGE)[name] if kind == "upload" else samples.file(name)
        other = replace(request, input=replace(picture, file=file))
        titles = _picture_title(), title.partition(": ")[2]
        example = examples.pictures(listed).get(name) if kind == "photo" else None
    held = tracing.entry_for(other)
    if held.value.kind != "image":
        raise ValueError("its layers do not attend to patches of the picture")
    if notes := held.value.trace.notes:
        st.caption(shared.plain(f"{title}: {'; '.join(notes)}"))
    return Second(held, other, example, titles)


def _request_of(request: TraceRequest, place: str, name: str) -> TraceRequest:
    """The request of another model, which reads the picture in its own way."""
    settings = session.current(PAGE).settings
    if place == "built":
        model = sizes.MODELS[name]
        begin = settings if source.listed() == model else {**settings, **sizes.begin(model)}
        if not cost.estimate(begin).quick:
            raise ValueError("the untrained network takes long: make it smaller first")
        other = source.of({**begin, "place": "catalogue", "model": model})
    else:
        other = replace(request.model, place=place, name=name, sizes=(), stamp="")
    stamped = tracing.stamped(other)
    takes = compute.reads(tracing.opened(stamped))
    if not takes.image or takes.text:
        raise ValueError("expected a model that reads pictures alone")
    picture = request.picture
    if picture is None:
        raise ValueError("expected the trace of a picture")
    return replace(request, model=stamped, input=Picture(picture.file))


def _titles(first: Source) -> Mapping[str, str]:
    """What can be beside the first picture, by their names in a link."""
    listed = source.listed()
    uploads, upload = pictures.strip(PAGE), session.get(PAGE, pictures.UPLOAD.name)
    now = f"upload:{upload}" if pictures.has_upload(PAGE) else f"photo:{_photo()}"
    images = {f"photo:{name}": examples.named(listed, name) for name in examples.pictures(listed)}
    for number, digest in enumerate(uploads):
        images[f"upload:{digest}"] = pictures.own_title(number, len(uploads))
    titles = {key: f"Picture: {title}" for key, title in images.items() if key != now}
    asked = session.get(PAGE, PARAM.name)
    known = [f"catalogue:{name}" for name in samples.TRAINED]
    known += ["catalogue:dinov2"] if is_here(entry("dinov2")) else []
    models = (*st.session_state.get(SEEN, ()), *([asked] if _is_model(asked) else []), *known)
    others = dict.fromkeys((*models, f"built:{sizes.KINDS[sizes.VIT]}"))
    for key in others:
        if key != _key(first) and key.partition(":")[0] in tracing.places():
            titles[key] = f"Model: {_title(key)}"
    return {"": "Compare with …", **titles}


def _is_model(chosen: str) -> bool:
    return chosen.partition(":")[0] in MODELS


def _photo() -> str:
    return session.get(PAGE, "photo")


def _picture_title() -> str:
    """Name of the page's picture."""
    uploads = [*pictures.strip(PAGE)]
    if pictures.has_upload(PAGE):
        return pictures.own_title(uploads.index(session.get(PAGE, "upload")), len(uploads))
    return examples.named(source.listed(), _photo())


def _title(key: str) -> str:
    place, _, name = key.partition(":")
    return source.titled(place, name)


def _key(first: Source) -> str:
    return f"{first.place}:{first.name}"
