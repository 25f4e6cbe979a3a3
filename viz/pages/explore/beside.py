"""A second model, or of pictures a second picture, beside the first."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from models.card import Example
from models.catalogue import catalogue, entry, is_here
from models.request import Chat, Ids, Picture, Place, Several, Source, TraceRequest
from viz.api import samples, tracing
from viz.api.entries import Kind as ViewKind
from viz.api.predictions import predicts
from viz.api.registry import MAX_NETWORK_BYTES
from viz.pages import compute, shared
from viz.pages.explore import edits, examples, pictures, sizes, source, variants, words
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import attention
from viz.values import SHA256, Kind

if TYPE_CHECKING:
    from models.model import Model
    from viz.api.entries import TraceEntry
    from viz.api.registry import Held

PICTURES = ("photo", "upload")  # what can be beside the first, as in `photo:flower`
MODELS = ("catalogue", "built", "hub", "folder")
READ = ("encoder", "decoder", "seq2seq")  # kinds in the catalogue that read a text
MOST = 8  # models that were open here


def _parse(text: str) -> str:
    kind, _, name = text.partition(":")
    if kind == "upload":
        SHA256.read(name)
    known = {"photo": samples.PICTURES, "catalogue": source.TITLES, "built": sizes.MODELS}
    if text and text not in variants.FORMS:
        named = kind in (*PICTURES, *MODELS) and name and name in known.get(kind, (name,))
        if not named:
            raise ValueError
    return text


PARAM = link.Param(
    "compare",
    "",
    Kind("a picture or model of “Compare”, such as photo:flower or catalogue:minilm", _parse),
)
PARAMS = (PARAM,)


@dataclass(frozen=True, eq=False)
class Second:
    """What is shown beside the first trace.

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
                "heads": attention.heads_of(self.held),
                "title": other,
                "predicts": predicts(self.held.value),
                "aligned": not isinstance(self.request.input, Chat | Several),
                "difference": edits.is_difference(self.request),
            },
        }


def wanted() -> bool:
    """Whether anything may be beside the first trace, which is then shown with it."""
    return bool(session.get(PAGE, PARAM.name))


def of(request: TraceRequest, kind: ViewKind) -> Second | None:
    """What is chosen beside a trace, traced; None for nothing, and for what cannot be."""
    if not _applies(request, kind):
        return None
    seen, key = f"{PAGE}/seen/{kind}", source.key(request.model)
    models = dict.fromkeys((key, *st.session_state.get(seen, ())))
    st.session_state[seen] = tuple(models)[:MOST]  # the latest first
    titles, chosen = _settled(request, kind), session.get(PAGE, PARAM.name)
    if not chosen:
        return None
    title = titles[chosen].partition(": ")[2] if kind == "image" else titles[chosen]
    try:
        with st.spinner("Running the second …"):
            return (_picture if kind == "image" else _text)(request, chosen, title)
    except ValueError as error:
        shared.error_line(f"{title}: {error}")
        return None


def props(request: TraceRequest, kind: ViewKind) -> dict[str, Any]:
    """Props of the view: what can be chosen beside a trace, by its names in a link."""
    if not _applies(request, kind):
        return {}
    titles = _settled(request, kind)
    return {"beside": {"titles": [*titles.items()], "chosen": session.get(PAGE, PARAM.name)}}


def _applies(request: TraceRequest, kind: ViewKind) -> bool:
    """Whether anything can be beside a trace."""
    return kind == "image" or isinstance(request.input, str | tuple | Chat | Ids | Several)


def _settled(request: TraceRequest, kind: ViewKind) -> Mapping[str, str]:
    """What can be chosen; a choice that is none of these is given up."""
    titles, chosen = _titles(request, kind), session.get(PAGE, PARAM.name)
    if chosen not in titles:
        if chosen.startswith("upload:") and chosen.partition(":")[2] not in pictures.uploads():
            shared.error_line(
                f"This link shows an uploaded picture beside the first (SHA-256 {chosen[7:19]}…):"
                " upload the same file to see it."
            )
        session.edit(PAGE, {PARAM.name: ""})
    return titles


# ---- what is chosen, traced


def _picture(request: TraceRequest, chosen: str, title: str) -> Second:
    """Another picture, or the picture by another model.

    Raises:
        ValueError: if it cannot be opened or traced, or has no view of pictures.
    """
    kind, _, name = chosen.partition(":")
    request = replace(request, edits=())
    picture, listed, example = request.picture, source.listed(), None
    if picture is None:
        raise ValueError("expected the trace of a picture")
    if kind in PICTURES:
        file = pictures.uploads()[name] if kind == "upload" else samples.file(name)
        other, first = replace(request, input=replace(picture, file=file)), examples.title()
        example = examples.pictures(listed).get(name) if kind == "photo" else None
    else:
        model = tracing.stamped(_source_of(request.model, chosen))
        takes = compute.reads(tracing.opened(model))
        if not takes.image or takes.text:
            raise ValueError("expected a model that reads pictures alone")
        same = chosen in variants.FORMS
        given = picture if same else Picture(picture.file)  # which it prepares in its own way
        other, first = replace(request, model=model, input=given), source.title(request.model)
    second = _traced(other, example, (first, title))
    if second.held.value.kind != "image":
        raise ValueError("its layers do not attend to patches of the picture")
    return second


def _text(request: TraceRequest, chosen: str, title: str) -> Second:
    """The text by another model.

    Raises:
        ValueError: if it cannot be opened or traced, or does not read such a text.
    """
    model_source = tracing.stamped(_source_of(request.model, chosen))
    model = tracing.opened(model_source)
    takes = compute.reads(model)
    if not takes.text or takes.image or takes.sound:
        raise ValueError("expected a model that reads text alone")
    if isinstance(request.input, Ids) and chosen not in variants.FORMS:
        raise ValueError("token ids are of one vocabulary, and the two models have one each")
    if isinstance(request.input, str | tuple | Several) and model.tokenizer is None:
        raise ValueError("it has no tokenizer, and reads token ids alone")
    if isinstance(request.input, tuple) and not takes.pair:
        raise ValueError("it reads no pairs of sentences")
    _check_memory(tracing.opened(request.model), model)
    target = request.target if takes.target else None
    language = request.language if request.language in model.languages else ""
    other = TraceRequest(model_source, request.input, target, language=language)
    return _traced(other, None, (source.title(request.model), title))


def _traced(
    plain: TraceRequest,
    example: Example | None,
    titles: tuple[str, str],
) -> Second:
    """The result of a request, with the edits where they are wanted and possible."""
    request = plain
    try:
        request = edits.beside(plain)
        held = shared.entry_for(request, words=words.whole())
    except ValueError as error:
        held = shared.entry_for(
            plain, words=words.whole()
        )  # which says what is wrong without edits
        request = plain
        shared.error_line(f"{titles[1]} is shown without the edits: {error}")
    if notes := held.value.trace.notes:
        st.caption(shared.plain(f"{titles[1]}: {'; '.join(notes)}"))
    return Second(held, request, example, titles)


def _check_memory(first: "Model", second: "Model") -> None:
    """Refuses two networks that the server does not hold together."""
    needed = sum(compute.summary.weights_bytes(model) for model in (first, second))
    if needed > MAX_NETWORK_BYTES:
        takes, held = (f"{each / 2**30:.1f} GiB" for each in (needed, MAX_NETWORK_BYTES))
        raise ValueError(f"the two networks take {takes}, and this server holds {held} of them")


def _source_of(first: Source, chosen: str) -> Source:
    """The model that is chosen, not stamped yet."""
    if chosen in variants.FORMS:
        return variants.source_of(chosen, first)
    place, _, name = chosen.partition(":")
    if place != "built":
        return Source(cast("Place", place), name, device=first.device)
    settings, model = session.current(PAGE).settings, sizes.MODELS[name]
    begin = settings if source.listed() == model else {**settings, **sizes.begin(model)}
    other = source.of({**begin, "place": "catalogue", "model": model})
    sizes.check(other)
    return other


# ---- what can be chosen


def _titles(request: TraceRequest, kind: ViewKind) -> Mapping[str, str]:
    """What can be beside the first, by their names in a link."""
    titles, lead = {"": "nothing"}, ""
    if kind == "image":
        titles |= {key: f"Picture: {title}" for key, title in _other_pictures().items()}
        listed, lead = [entry(name) for name in (*samples.TRAINED, "dinov2")], "Model: "
    else:
        listed = [each for each in catalogue() if each.reads == "text" and each.kind in READ]
    known = [f"catalogue:{each.name}" for each in listed if is_here(each)]
    known.append(f"built:{sizes.KINDS[sizes.VIT if kind == 'image' else sizes.ENCODER]}")
    asked, first = session.get(PAGE, PARAM.name), request.model
    for key, title in variants.titles(first, source.title(first)).items():
        titles[key] = f"{lead}{title}"
    linked = [asked] if asked.partition(":")[0] in MODELS else []
    for key in dict.fromkeys((*st.session_state.get(f"{PAGE}/seen/{kind}", ()), *linked, *known)):
        place, _, name = key.partition(":")
        if key != source.key(first) and place in tracing.places():
            titles[key] = f"{lead}{source.titled(place, name)}"
    return titles


def _other_pictures() -> dict[str, str]:
    listed, uploads = source.listed(), pictures.uploads()
    upload, photo = session.get(PAGE, "upload"), session.get(PAGE, "photo")
    images = {f"photo:{name}": examples.named(listed, name) for name in examples.pictures(listed)}
    for number, digest in enumerate(uploads):
        images[f"upload:{digest}"] = pictures.own_title(number, len(uploads))
    images.pop(f"upload:{upload}" if pictures.has_upload() else f"photo:{photo}", None)
    return images
