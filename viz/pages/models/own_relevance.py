"""Relevance of the patches on the Models page: the Image page's section for any classifier of them.

The methods need one stack of layers over one grid of patches. Of networks without it, one sentence
says why they do not apply.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages import shared
from viz.pages.image import relevance
from viz.pages.models.inputs import Input
from viz.pages.models.source import PAGE, Open

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor

    from models.trace import Trace

PIXELS = "pixel_values"


def show(found: Open, request: Input, trace: "Trace") -> None:
    """The section, or why the methods do not apply; nothing for a model without a picture.

    Args:
        found: the model.
        request: its input.
        trace: of the pass.
    """
    if request.image is None:
        return
    try:
        _check_layers(trace)
        pixels = _pixels(request.arguments[0])
        _check_patches(trace, pixels)
        _check_output(trace)
    except ValueError as error:
        st.caption(shared.plain(f"Relevance does not apply to {trace.model}: {error}."))
        return
    relevance.show(PAGE, _subject(found, request, trace, pixels, request.image))


def _subject(
    found: Open, request: Input, trace: "Trace", pixels: "Tensor", image: "Image"
) -> relevance.Subject:
    catalogue = found.source.place == "catalogue"
    questions = relevance.questions(found.source.name) if catalogue else ()
    key = found.source, found.stamp, request.key
    return relevance.Subject(
        key, found.model, pixels, image, trace, questions or (_classes(found, trace),)
    )


def _classes(found: Open, trace: "Trace") -> tuple[str, ...]:
    """A name for every class."""
    from analysis.target import class_names

    return class_names(found.model, trace.output.values.shape[-1])


def _pixels(given: Any) -> "Tensor":
    """The picture as the model reads it.

    Raises:
        ValueError: if the model reads something beside it.
    """
    if not isinstance(given, Mapping):
        return given
    more = sorted(given.keys() - {PIXELS})
    if more:
        raise ValueError(f"it reads {', '.join(more)} beside the pixels")
    return given[PIXELS]


def _check_layers(trace: "Trace") -> None:
    """Raises ValueError unless the layers are one stack over the same tokens."""
    from analysis.stack import self_attention

    towers = sorted({str(site.tower) for site in trace.sites})
    if len(towers) > 1:
        raise ValueError(f"it has several stacks of layers ({', '.join(towers)})")
    self_attention(trace)


def _check_patches(trace: "Trace", pixels: "Tensor") -> None:
    """Raises ValueError unless the tokens are one grid of patches, after class and registers."""
    rows, cols = trace.grid or (0, 0)
    if pixels.ndim != 4 or not rows * cols or trace.prefix + rows * cols != len(trace.labels):
        raise ValueError("its tokens are not one grid of patches of the whole picture")
    if pixels.shape[-2] % rows or pixels.shape[-1] % cols:
        raise ValueError("its patches do not cover the whole picture")


def _check_output(trace: "Trace") -> None:
    """Raises ValueError for outputs that are neither classes nor hidden states."""
    from analysis.target import EMBEDDINGS

    name, values = trace.output.name, trace.output.values
    if name in EMBEDDINGS:
        return
    if name != "logits" or values.ndim != 2:
        raise ValueError(f"it gives {name} for many places, not classes of the whole picture")
    if values.shape[-1] < 2:
        raise ValueError("it gives one number, and no classes")
