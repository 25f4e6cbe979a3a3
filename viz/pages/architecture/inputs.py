"""The input of the Architecture page's network: a text, token ids or a picture."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from models.request import Ids, Input, Picture
from models.text import WordTokenizer, clean
from viz.api import reading
from viz.pages import shared
from viz.pages.architecture import compute, network, presets
from viz.pages.architecture.presets import PAGE
from viz.pages.explore import examples
from viz.pages.explore.sizes import VOCAB
from viz.pages.state import session
from viz.pages.widgets import controls, entry, pictures

if TYPE_CHECKING:
    from models.model import Config

Given = tuple[Input, str | Ids | None]  # input and target of a request

READS = {"text": "Text", "ids": "Token ids"}
FITS = {"crop": "Crop", "pad": "Pad", "stretch": "Stretch"}
FIT_HELP = "The network takes square pictures: crop the sides, add grey bars, or stretch"


def choose(config: "Config") -> Given:
    """Draws the input controls; returns the input they describe, and the target.

    Raises:
        ValueError: for ids that are not numbers.
    """
    if isinstance(config, compute.ViTConfig):
        return _picture(presets.trained(network.chosen())), None
    layer = isinstance(config, compute.AttentionLayerConfig)
    pair = layer or isinstance(config, compute.Seq2SeqConfig)
    with st.container(key=f"{PAGE}_input", horizontal=True, vertical_alignment="bottom"):
        help = "Words are hashed into the vocabulary; or type the ids"
        if controls.choice(PAGE, "reads", "Input", READS, help) == "ids":
            first = entry.text(PAGE, "ids", "Source ids" if pair else "Token ids")
            second = entry.text(PAGE, "answer_ids", "Target ids") if pair else ""
            return _ids(first), _ids(second) if second else None
        first = entry.text(PAGE, "text", "Source" if pair else "Text")
        label = "Target (leave empty to generate)"
        if layer:
            label = "Target (if empty, the source attends to itself)"
        second = entry.text(PAGE, "answer", label) if pair else ""
    return _clean(first), _clean(second) if second.strip() else None


def _picture(model: str) -> Picture:
    """The choice of a picture and its preprocessing."""
    with st.container(key=f"{PAGE}_pictures", horizontal=True, vertical_alignment="bottom"):
        known = examples.pictures(model)
        for label, key, chosen, *action in pictures.buttons(PAGE, known):
            controls.button(label, key, *action, chosen=chosen)
        for draw in pictures.uploads(PAGE, known):
            draw()
        pictures.chip(PAGE, "Your picture")
        controls.choice(PAGE, "fit", "If the picture is not square", FITS, FIT_HELP)
    for problem in pictures.problems(PAGE):
        shared.error_line(problem)
    fit = session.get(PAGE, "fit")
    changes = () if fit == "crop" else (("resize", fit),)
    return Picture(pictures.current(PAGE), changes)


def parts(config: "Config", given: Given) -> tuple[Any, ...]:
    """The parts of the network for this input.

    Raises:
        ValueError: for an input that is empty or too long.
    """
    if isinstance(given[0], Picture):
        return compute.parts(config)
    texts = [each for each in given if each is not None]
    if isinstance(texts[0], str) and not texts[0].strip():
        raise ValueError("the text is empty: type a sentence")
    reader = WordTokenizer(VOCAB)
    counts = [
        max(1, len(each.values)) if isinstance(each, Ids) else len(reader.encode(str(each)))
        for each in texts
    ]
    if not isinstance(
        config, compute.AttentionLayerConfig
    ):  # a target begins with its first symbol
        extra = [0 if isinstance(each, Ids) else 1 for each in texts[1:]]
        counts[1:] = [count + more for count, more in zip(counts[1:], extra, strict=True)]
    return compute.parts(config, *counts)


def _clean(text: str) -> str:
    return clean(text)[0]


def _ids(text: str) -> Ids:
    return Ids(tuple(reading.numbers_in(text)))
