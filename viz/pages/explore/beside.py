"""A second model, or of pictures a second picture, beside the first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from models.card import Example
from models.catalogue import catalogue, entry, is_here
from models.request import Chat, Ids, Picture, Place, Source, TraceRequest
from viz.api import samples, tracing
from viz.api.endpoint import ResultKind
from viz.api.predictions import predicts
from viz.api.registry import MAX_NETWORK_BYTES
from viz.pages import compute, shared
from viz.pages.build import networks
from viz.pages.explore import edits, examples, files, inputs, source
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.values import SHA256, Kind

if TYPE_CHECKING:
    from models.model import Model
    from viz.api.entries import TraceEntry
    from viz.api.registry import Held

PICTURES = ("photo", "upload")  # what can be beside the first, as in `photo:flower`
MODELS = ("catalogue", "built", "hub", "folder")
UNTRAINED, ADAPTER = "weights:random", "adapter:none"  # the first model in another form
FORMS = {
    UNTRAINED: "untrained",
    ADAPTER: "without its adapter",
    "door:own": "Headscope’s code",
    "door:transformers": "the library’s code",
}
READ = ("encoder", "decoder", "seq2seq")  # kinds in the catalogue that read a text
MOST = 8  # models that were open here


def _parse(text: str) -> str:
    kind, _, name = text.partition(":")
    if kind == "upload":
        SHA256.read(name)
    if kind == "built":
        networks.NETWORK.kind.read(name)
    known = {"photo": samples.PICTURES, "catalogue": source.TITLES}
    named = kind in (*PICTURES, *MODELS) and name and name in known.get(kind, (name,))
    if text and text not in FORMS and not named:
        raise ValueError
    return text


EXPECTED = "a picture or model of “Compare”, such as photo:flower or catalogue:minilm"
BUILT = {"image": "built:preset=small-vit", "text": "built:preset=small"}
OLDER = {"built:vit": BUILT["image"], "built:encoder": BUILT["text"]}
PARAMS = (link.Param("compare", "", Kind(EXPECTED, _parse), replaced=OLDER),)


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
        second = {
            "trace": self.held.id,
            "title": other,
            "predicts": predicts(self.held.value),
            "aligned": not isinstance(self.request.input, Chat),
            "difference": edits.is_difference(self.request),
        }
        if wanted().partition(":")[0] in PICTURES:  # from which patches take
            second["source"] = wanted()
        return {"title": first, "second": second}


def wanted() -> str:
    """What is to be beside the first trace, by its name in a link; "" for nothing."""
    return session.get(PAGE, "compare")


def props(request: TraceRequest, kind: ResultKind) -> dict[str, Any]:
    """Props of the view: what can be chosen beside a trace, by its names in a link."""
    titles = dict(_titles(request, kind)) if _applies(request, kind) else {}
    if not any(titles):
        return {}
    return {
        "beside": {"titles": [*titles.items()], "chosen": wanted() if wanted() in titles else ""}
    }


def of(request: TraceRequest, kind: ResultKind) -> Second | None:
    """What is chosen beside a trace, traced; None for nothing, and for what cannot be."""
    if not _applies(request, kind):
        return None
    seen, key = f"{PAGE}/seen/{kind}", source.key()
    models = dict.fromkeys((key, *st.session_state.get(seen, ())))
    st.session_state[seen] = tuple(models)[:MOST]  # the latest first
    titles, chosen = dict(_titles(request, kind)), wanted()
    if chosen not in titles:  # such as the picture that is the first now
        if chosen.startswith("upload:") and chosen.partition(":")[2] not in files.pictures():
            shared.error_line(
                f"This link shows an uploaded picture beside the first (SHA-256 {chosen[7:19]}…):"
                " upload the same file to see it."
            )
        session.edit(PAGE, {"compare": ""})
    if chosen not in titles or not chosen:
        return None
    title = titles[chosen].partition(": ")[2] if kind == "image" else titles[chosen]
    try:
        with st.spinner("Running the second …"):
            second = _traced(request, chosen, title)
        if second.held.value.kind != kind:
            raise ValueError("its layers do not attend to patches of the picture")
        return second
    except ValueError as error:
        shared.error_line(f"{title}: {error}")
        return None


def _applies(request: TraceRequest, kind: ResultKind) -> bool:
    """Whether anything can be beside a trace."""
    return kind == "image" or isinstance(request.input, str | tuple | Chat | Ids)


# ---- what can be chosen


def _titles(request: TraceRequest, kind: ResultKind) -> Iterator[tuple[str, str]]:
    """What can be beside the first: its name in a link, and its title."""
    yield "", "nothing"
    first, lead, name = request.model, "", source.title(request.model)
    if kind == "image":
        lead, uploads = "Model: ", files.own_titles()
        photos = {
            f"photo:{name}": examples.named(name) for name in examples.pictures(source.listed())
        }
        photos |= {f"upload:{digest}": title for digest, title in uploads.items()}
        upload, photo = session.get(PAGE, "upload"), session.get(PAGE, "photo")
        photos.pop(f"upload:{upload}" if upload in uploads else f"photo:{photo}", None)
        yield from ((key, f"Picture: {title}") for key, title in photos.items())
        listed = [entry(name) for name in (*samples.TRAINED, "dinov2")]
    else:
        listed = [each for each in catalogue() if each.reads == "text" and each.kind in READ]
    yield from ((form, f"{lead}{name}, {FORMS[form]}") for form in _forms(first))
    seen, asked = st.session_state.get(f"{PAGE}/seen/{kind}", ()), wanted()
    linked = [asked] if asked.partition(":")[0] in MODELS else []
    known = [f"catalogue:{each.name}" for each in listed if is_here(each)]
    known.append(BUILT[kind])
    for key in dict.fromkeys((*seen, *linked, *known)):
        place, _, name = key.partition(":")
        if key != source.key() and place in tracing.places():
            yield key, f"{lead}{source.titled(place, name)}"


def _forms(first: Source) -> Iterator[str]:
    """The other forms of the open model, stamped: untrained, by other code, without its adapter."""
    if first.place == "built" or not first.trained:
        return
    yield UNTRAINED
    try:
        folder, door = tracing.folder(first), tracing.opened(first).door
        adapted = compute.adapter.settings_of(folder) is not None
    except ValueError:  # its files went after it was opened: nothing else opens from them
        return
    doors = () if adapted else compute.doors(folder)
    yield from [ADAPTER] if adapted else [f"door:{other}" for other in doors if other != door]


def _source_of(first: Source, chosen: str) -> Source:
    """The model that is chosen, stamped.

    Raises:
        ValueError: if it is not on this machine, or its sizes do not fit together.
    """
    place, _, name = chosen.partition(":")
    if chosen == UNTRAINED:
        other = replace(first, trained=False)
    elif chosen == ADAPTER:
        base = compute.adapter.base_of(compute.adapter.settings_of(tracing.folder(first)) or {})
        path = str(Path(base.path))
        other = replace(first, place="folder", name=path, door="transformers", stamp="")
    elif chosen in FORMS:
        other = replace(first, door=name)
    else:
        other = source.at(cast("Place", place), name)
    return tracing.stamped(other)


# ---- what is chosen, traced


def _traced(request: TraceRequest, chosen: str, title: str) -> Second:
    """What is chosen, with the edits where they are wanted and possible.

    Raises:
        ValueError: if it cannot be opened or traced.
    """
    kind, _, name = chosen.partition(":")
    example, first, words = None, source.title(request.model), inputs.whole_words()
    if kind in PICTURES and isinstance(request.input, Picture):
        file = files.pictures()[name] if kind == "upload" else samples.file(name)
        plain = replace(request, input=replace(request.input, file=file), edits=())
        first = examples.title()
        example = examples.pictures(source.listed()).get(name) if kind == "photo" else None
    else:
        plain = _by_another(request, chosen)
    try:
        other = edits.beside(plain)
        held = shared.entry_for(other, words=words)
    except ValueError as error:
        other, held = plain, shared.entry_for(plain, words=words)  # says what else is wrong
        shared.error_line(f"{title} is shown without the edits: {error}")
    if notes := held.value.trace.notes:
        st.caption(shared.plain(f"{title}: {'; '.join(notes)}"))
    return Second(held, other, example, (first, title))


def _by_another(request: TraceRequest, chosen: str) -> TraceRequest:
    """The request of the same input by another model.

    Raises:
        ValueError: if that cannot be opened, or does not read such an input.
    """
    model_source, given = _source_of(request.model, chosen), request.input
    model = tracing.opened(model_source)
    takes, is_form = compute.reads(model), chosen in FORMS
    if isinstance(given, Picture):
        if not takes.image or takes.text:
            raise ValueError("expected a model that reads pictures alone")
        # another model prepares it in its own way
        return TraceRequest(model_source, given if is_form else Picture(given.file))
    if not takes.text or takes.image or takes.sound:
        raise ValueError("expected a model that reads text alone")
    if isinstance(given, Ids) and not is_form:
        raise ValueError("token ids are of one vocabulary, and the two models have one each")
    if isinstance(given, str | tuple) and model.tokenizer is None:
        raise ValueError("it has no tokenizer, and reads token ids alone")
    if isinstance(given, tuple) and not takes.pair:
        raise ValueError("it reads no pairs of sentences")
    _check_memory(tracing.opened(request.model), model)
    target = request.target if takes.target else None
    language = request.language if request.language in model.languages else ""
    return TraceRequest(model_source, given, target, language=language)


def _check_memory(first: "Model", second: "Model") -> None:
    """Refuses two networks that the server does not hold together."""
    needed = sum(compute.summary.weights_bytes(model) for model in (first, second))
    if needed > MAX_NETWORK_BYTES:
        takes, held = (f"{each / 2**30:.1f} GiB" for each in (needed, MAX_NETWORK_BYTES))
        raise ValueError(f"the two networks take {takes}, and this server holds {held} of them")
