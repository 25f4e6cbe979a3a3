"""Inputs of the Models page: a text, ids, a picture, a recording, or a decoder's target."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from viz.pages import picture, reading, shared
from viz.pages.models import preprocessing, recordings
from viz.pages.models.source import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.text import examples, words
from viz.pages.text.examples import EXAMPLES
from viz.pages.widgets import cards, entry, pictures

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor

    from models.inputs.pictures import Processed
    from models.loading.summary import Reads
    from models.model import Model

MAX_TOKENS = 16_384  # limit of the page; notebooks have none
FIRST = EXAMPLES[0].input
Part = tuple[Any, ...]
FILES = (".txt", ".md")
PATH = Path("picture.png")  # stands for the user's picture in lines of Python
WAV = "recording.wav"  # for the user's recording


@dataclass(frozen=True, eq=False)
class Input:
    """The input of a model.

    Attributes:
        arguments: input and target of `trace`.
        key: cache key of the input.
        image: the preprocessed picture, if the model takes one.
        notes: on its preprocessing.
        written: the arguments as Python code, with the path of a picture or recording; None if
            `arguments` will do.
        changes: of the preprocessing, as arguments of `models.preprocessing.changed`.
    """

    arguments: tuple[Any, Any]
    key: Part
    image: "Image | None" = None
    notes: tuple[str, ...] = ()
    written: tuple[Any, Any] | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)


def params(model: str = "") -> tuple[link.Param, ...]:
    """The page's inputs.

    Args:
        model: of the catalogue; its first example is the default.
    """
    text, target = _first(model)
    return (
        link.text("input", text),
        link.text("pair", ""),
        link.text("target", target),
        link.text("ids", "1 2 3 4 5"),
        link.text("target_ids", ""),
        link.choice("photo", "flower", picture.PHOTOS),
        *pictures.PARAMS,
        *preprocessing.PARAMS,
        recordings.UPLOAD,
    )


def follow() -> None:
    """Called after another catalogue model was selected: shows one of its examples.

    The user's own text stays; only examples of another model are replaced.
    """
    session.fold(PAGE)
    model, text = session.get(PAGE, "model"), session.get(PAGE, "input")
    readers = {entry.name for entry in cards.readers()}
    foreign = any(examples.of_text(name, text) for name in readers - {model})
    if model in readers and foreign and examples.of_text(model, text) is None:
        first, target = _first(model)
        session.assign(PAGE, {"input": first, "target": target})


def choose(model: "Model") -> Input:
    """The entries this model needs, and the input they hold.

    Raises:
        ValueError: in one line, for an input that cannot be read.
    """
    from models.loading.summary import reads

    takes = reads(model)
    if _hears(takes) and model.sound is None:
        raise ValueError(
            f"{model.name} states no feature extractor (preprocessor_config.json): use a notebook,"
            " and pass its own inputs"
        )
    _entries(model, takes)
    text = target = None
    key: list[Any] = []
    if takes.text:
        text = _text(model, takes, key)
    if takes.target:
        target = _target(model, key)
    if _hears(takes):
        recording, digest = recordings.current()
        return Input((recording, target), (*key, "sound", digest), written=(WAV, target))
    if not takes.image:
        return Input((text, target), tuple(key))
    made, changes = _picture(model, key)
    done = [note for note in made.notes if note not in preprocessing.assumed(model)]
    notes = (f"Done to the picture: {'; '.join(done)}",) if done else ()
    written = {"input_ids": text, "pixel_values": PATH} if takes.text else PATH
    inputs = _with_picture(model, takes, text, made)
    return Input((inputs, target), tuple(key), made.image, notes, (written, target), changes)


def of_picture(model: "Model") -> Input:
    """The page's picture as another model reads it.

    Raises:
        ValueError: for a model that reads anything else, or does not state how it reads pictures.
    """
    from models.loading.summary import reads

    takes = reads(model)
    if not takes.image or takes.text:
        raise ValueError("expected a model that reads pictures alone")
    if model.preprocessing is None:
        raise ValueError("it does not state its image size: use a notebook")
    data, digest = pictures.current(PAGE)
    made = picture.prepared(digest, model.preprocessing, data)
    written = PATH, None
    arguments = _with_picture(model, takes, None, made), None
    return Input(arguments, ("image", digest), made.image, written=written)


def _hears(takes: "Reads") -> bool:
    """Whether the input is a recording."""
    return takes.sound and not takes.text and not takes.image


def _first(model: str) -> tuple[str, str]:
    """Text and target of a model's first example, else of the Text page's first example."""
    if model not in {entry.name for entry in cards.readers()}:
        return FIRST, ""
    first = examples.of(model)[0]
    return first.input, first.target or ""


def _entries(model: "Model", takes: "Reads") -> None:
    """Draws all entries before any is read, so that an error in one does not hide the others."""
    with st.container(key=f"{PAGE}_input", horizontal=True, gap="small"):
        if takes.text and model.tokenizer is None:
            _entry("ids", "Token ids, such as 1 5 9 2: this model has no tokenizer")
        elif takes.text:
            label = "Type a text; the picture updates live"
            entry.text(
                PAGE,
                "input",
                label,
                placeholder=f"{label}, paste one, or open a file",
                multiline=True,
                bare=True,
                files=FILES,
            )
            if takes.pair:
                _entry("pair", "Second text (optional)", width=260)
        if takes.target and _writer(model) is None:
            _entry("target_ids", "Target ids (leave empty to generate)", width=320)
        elif takes.target:
            _entry("target", "Target (leave empty to generate)", width=320)
    if takes.text and model.tokenizer is not None:
        with st.container(key=f"{PAGE}_tools", horizontal=True, vertical_alignment="center"):
            words.choose(PAGE, special_names(model))
    if _hears(takes):
        with st.container(key=f"{PAGE}_pictures", horizontal=True, vertical_alignment="bottom"):
            recordings.choose()
        for problem in recordings.problems():
            shared.error_line(problem)
    if takes.image:
        with st.container(key=f"{PAGE}_pictures", horizontal=True, vertical_alignment="bottom"):
            pictures.choose(PAGE, dict.fromkeys(picture.PHOTOS))
            preprocessing.choose(model)
        for problem in pictures.problems(PAGE):
            shared.error_line(problem)


def _entry(name: str, label: str, width: int | Literal["stretch"] = "stretch") -> None:
    """An entry of one line whose label stands in it while it is empty."""
    entry.text(PAGE, name, label, placeholder=label, bare=True, width=width)


def _with_picture(model: "Model", takes: "Reads", text: Any, made: "Processed") -> Any:
    """The input as `trace` takes it: the picture is prepared already."""
    from models.inputs.pretrained import forward_arguments

    pixels = _channels(model, made.pixels)
    if model.door == "own":
        return pixels
    known = forward_arguments(model.network)
    more = {name: value for name, value in made.arguments.items() if name in known}
    return {**({"input_ids": text} if takes.text else {}), **more, "pixel_values": pixels}


def _text(model: "Model", takes: "Reads", key: list[Any]) -> Any:
    if model.tokenizer is None:
        return _ids(model, "ids", key)
    settings = session.current(PAGE).settings
    reader, most = model.tokenizer, min(model.limit, MAX_TOKENS)
    text, notes = reading.readable(settings["input"], lambda: (reader, most))
    if notes:
        shared.notice(" ".join(notes))
    if not text:
        raise ValueError("the text is empty: type a sentence")
    pair = _clean(settings["pair"]).strip() if takes.pair else ""
    if pair:
        _check_length(len(reader.encode(text, pair)))
    key += ["text", text, pair]
    return (text, pair) if pair else text


def special_names(model: "Model") -> tuple[str, ...]:
    """The special tokens that the page can hide."""
    from models.loading.summary import reads

    return words.names(model.tokenizer, target=reads(model).target)


def _writer(model: "Model") -> Any:
    """The tokenizer of the decoder."""
    return model.target_tokenizer or model.tokenizer


def _target(model: "Model", key: list[Any]) -> Any:
    """The target of the decoder; None generates it."""
    if _writer(model) is None:
        empty = not session.get(PAGE, "target_ids").strip()
        return None if empty else _ids(model, "target_ids", key)
    target = _clean(session.get(PAGE, "target")).strip()
    key += ["target", target]
    return target or None


def _picture(model: "Model", key: list[Any]) -> "tuple[Processed, dict[str, Any]]":
    """The picture as the model reads it, and what was changed about its preprocessing."""
    prepared, changes = preprocessing.chosen(model)
    data, digest = pictures.current(PAGE)
    key += ["image", digest, *sorted(changes.items())]
    return picture.prepared(digest, prepared, data), changes


def _channels(model: "Model", pixels: "Tensor") -> "Tensor":
    """The pixels with the number of channels the model takes."""
    config = model.network.config
    config = getattr(config, "vision_config", None) or config
    count = getattr(config, "num_channels", getattr(config, "channels", 3))
    if pixels.ndim != 4 or count == pixels.shape[1]:
        return pixels
    if count != 1:
        raise ValueError(f"{model.name} takes {count} channels: pass pixels in a notebook")
    return pixels.mean(1, keepdim=True)


def _ids(model: "Model", name: str, key: list[Any]) -> Any:
    import torch

    numbers = reading.numbers_in(session.get(PAGE, name))
    _check_length(len(numbers))
    key += [name, *numbers]
    return torch.tensor([numbers], device=model.device)


def _check_length(count: int) -> None:
    if count > MAX_TOKENS:
        raise ValueError(
            f"this text has {count:,} tokens, and the limit here is {MAX_TOKENS:,}: shorten it,"
            " or trace it in a notebook"
        )


def _clean(text: str) -> str:
    from models.text import clean

    return clean(text)[0]
