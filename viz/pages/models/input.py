"""What the Models page gives a model: a text, ids, a picture, or what it writes."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages import settings, shared
from viz.pages.image import painter, picture
from viz.pages.models.checkpoint import PAGE, Given, Source
from viz.pages.state import params as link
from viz.pages.text import examples, reading, words
from viz.pages.text.examples import EXAMPLES
from viz.pages.widgets import known

if TYPE_CHECKING:
    from PIL.Image import Image

    from models.loading.summary import Reads
    from models.model import Model

MOST = 4096  # tokens a page looks at; a notebook may take more
FIRST = EXAMPLES[0].input
PARAMS = (
    link.text("input", FIRST),
    link.text("pair", ""),
    link.text("target", ""),
    link.text("ids", "1 2 3 4 5"),
    link.text("target_ids", ""),
    link.choice("photo", "flower", picture.PHOTOS),
    link.sha256("upload"),
)


@dataclass(frozen=True, eq=False)
class Looked:
    """What a model is given.

    Attributes:
        argument: input and target, as `trace` takes them.
        given: what they are remembered by.
        image: the picture as the model gets it; None if it reads none.
        notes: what was done to it on the way.
    """

    argument: tuple[Any, Any]
    given: Given
    image: "Image | None" = None
    notes: tuple[str, ...] = field(default=())


def choose(source: Source, model: "Model") -> Looked:
    """The boxes this model needs, and what they hold.

    Raises:
        ValueError: in one line, for an input that cannot be read.
    """
    from models.loading.summary import reads

    takes = reads(model)
    if takes.sound and not takes.text:
        raise ValueError(
            f"{model.name} reads recordings, which have no page yet: trace it in a notebook with"
            " trace(model, {'input_features': …})"
        )
    _follow(source)
    given: list[Any] = []
    image, notes = None, ()
    with st.container(key=f"{PAGE}_input_row", horizontal=True, vertical_alignment="bottom"):
        text = _text(model, takes, given) if takes.text else None
        target = _target(model, given) if takes.target else None
        if takes.text and model.tokenizer is not None:
            words.choose(PAGE)
    if takes.image:
        image, notes = _image(model, given)
    argument = _argument(model, takes, text, image)
    return Looked((argument, target), tuple(given), image, notes)


def wait() -> None:
    """What can be typed while PyTorch is loaded."""
    _box("input", "Type a text; the picture follows")


def _argument(model: "Model", takes: "Reads", text: Any, image: "Image | None") -> Any:
    """The input as `trace` takes it."""
    if image is None:
        return text
    pixels = _channels(model, image)
    return {"input_ids": text, "pixel_values": pixels} if takes.text else pixels


def _text(model: "Model", takes: "Reads", given: list[Any]) -> Any:
    state = st.session_state
    if model.tokenizer is None:
        _box("ids", "Token ids: it has no tokenizer")
        return _ids(model, "ids", given)
    _box("input", "Type a text; the picture follows")
    if takes.pair:
        _box("pair", "A second text, if there is one", width=260)
    text, pair = (_clean(state[f"{PAGE}_{name}"]) for name in ("input", "pair"))
    if not text.strip():
        raise ValueError("there is no text to read: type a sentence")
    pair = pair.strip() if takes.pair else ""
    _check_length(len(model.tokenizer.encode(text, pair or None)))
    given += ["text", text, pair]
    return (text, pair) if pair else text


def _target(model: "Model", given: list[Any]) -> Any:
    """What the decoder is to write; None lets it write."""
    if (model.target_tokenizer or model.tokenizer) is None:
        _box("target_ids", "Ids it is to write; empty: its own")
        if not st.session_state[f"{PAGE}_target_ids"].strip():
            return None
        return _ids(model, "target_ids", given)
    _box("target", "What it is to write; empty: what it writes itself")
    written = _clean(st.session_state[f"{PAGE}_target"]).strip()
    given += ["target", written]
    return written or None


def _image(model: "Model", given: list[Any]) -> "tuple[Image, tuple[str, ...]]":
    """The picture, cut to the size the model takes."""
    from models.image import fit_image

    painter.take_dropped(PAGE)
    for problem in painter.missing(PAGE):
        shared.error_line(problem)
    painter.source(PAGE)
    painter.refused(PAGE)
    if model.preprocessing is None:
        raise ValueError(f"{model.name} does not say how large its pictures are: use a notebook")
    data, digest = picture.source(PAGE)
    opened = picture.opened_image(digest, data)
    image, note = fit_image(opened, *model.preprocessing.size, model.preprocessing.resize)
    given += ["image", digest]
    return image, (*opened.notes, *([note] if note else []))


def _channels(model: "Model", image: "Image") -> Any:
    """The picture, or its numbers where the model takes another number of colours."""
    from models.image import to_pixels

    config = model.network.config
    config = getattr(config, "vision_config", None) or config
    count = getattr(config, "num_channels", getattr(config, "channels", 3))
    if count == 3 or model.preprocessing is None:
        return image
    if count != 1:
        raise ValueError(f"{model.name} takes {count} channels: give it pixels, in a notebook")
    return to_pixels(image, model.preprocessing.mean, model.preprocessing.std).mean(1, keepdim=True)


def _ids(model: "Model", name: str, given: list[Any]) -> Any:
    import torch

    numbers = reading.numbers_in(st.session_state[f"{PAGE}_{name}"])
    _check_length(len(numbers))
    given += [name, *numbers]
    return torch.tensor([numbers], device=model.device)


def _check_length(count: int) -> None:
    if count > MOST:
        raise ValueError(
            f"this text has {count:,} tokens and a page looks at {MOST:,} at most: shorten it, or"
            " trace it in a notebook"
        )


def _clean(text: str) -> str:
    from models.text import clean

    return clean(text)[0]


def _box(name: str, label: str, width: Any = "stretch") -> None:
    st.text_input(label, key=f"{PAGE}_{name}", live=True, persist_state="session", width=width)


def _follow(source: Source) -> None:
    """An example of another model says nothing to one that was trained on a task of its own."""
    state = st.session_state
    if source.place != "catalogue" or state.get(f"{PAGE}_followed") == source.name:
        return
    state[f"{PAGE}_followed"] = source.name
    readers = {entry.name for entry in known.readers()}
    text = state[f"{PAGE}_input"]
    foreign = any(examples.of_text(name, text) for name in readers - {source.name})
    if source.name in readers and foreign and examples.of_text(source.name, text) is None:
        first = examples.of(source.name)[0]
        settings.say(PAGE, {"input": first.input, "target": first.target or ""})
