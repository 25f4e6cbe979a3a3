"""The pictures of the cards and of links, from traces of the models' real weights."""

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from models.card import Example
from models.request import Picture, Recording, TraceRequest
from viz import card_pictures
from viz.api import samples, tracing
from viz.pages.explore import compute, examples, opening, sizes, welcome
from viz.theme import MODES, Mode

if TYPE_CHECKING:
    from models.trace import Trace

PHOTO = "flower"
ALONG = "One word back"  # the example on the card of the course
HEADS = 3  # of each layer on the card of one's own model
MORE = 6  # frames after the last that a token looks at
SHARE = "share.png"
LINES = ["What does every head look at?", "all-MiniLM-L6-v2 · layer 3 · head 1"]


def files(cards: tuple[welcome.Card, ...] = welcome.CARDS) -> Iterator[tuple[str, bytes]]:
    """Name and contents of every picture, light and dark."""
    for card, mode in product(cards, MODES):
        yield f"{card.name}-{mode}.png", DRAWN[card.name](mode)


def of_links() -> bytes:
    """The picture of a link: the example that the page opens with."""
    example = examples.texts("minilm")[0]
    trace = _trace("minilm", example)
    labels = list(trace.labels)
    return card_pictures.of_link(_weights(trace, example), labels, "Headscope", LINES)


def _sentence(mode: Mode) -> bytes:
    return _head("minilm", examples.texts("minilm")[0], mode)


def _next(mode: Mode) -> bytes:
    return _head("smollm2", examples.texts("smollm2")[0], mode)


def _picture(mode: Mode) -> bytes:
    """What the class token of DINOv2 looks at in the head that the page opens with."""
    request = TraceRequest(tracing.of_catalogue("dinov2"), Picture(samples.file(PHOTO)))
    trace = tracing.traced(request).value
    image = tracing.read_image(request, trace)
    chosen = compute.telling(trace)
    if chosen is None or image is None:
        raise ValueError("expected a head to begin with")
    (rows, cols), prefix = compute.grid_of(trace, chosen.site)
    weights = trace.weights(chosen.site, chosen.head, rows=[chosen.query])[0]
    patches = weights[prefix : prefix + rows * cols].numpy(force=True).reshape(rows, cols)
    return card_pictures.over_picture(np.asarray(image.convert("RGB")), patches, mode)


def _speech(mode: Mode) -> bytes:
    """The head of Whisper that follows time best, over the frames that it looks at."""
    request = TraceRequest(tracing.of_catalogue("whisper"), Recording(samples.speech()))
    trace = tracing.traced(request).value
    best = compute.aligning_heads(trace, most=1)[0]
    weights = trace.weights(best.layer, best.head, kind="cross").numpy(force=True)
    return card_pictures.over_time(weights[:, : int(weights.argmax(-1).max()) + MORE], mode)


def _translation(mode: Mode) -> bytes:
    example = examples.texts("translate")[0]
    return card_pictures.crossing(_weights(_trace("translate", example), example), mode)


def _atlas(mode: Mode) -> bytes:
    """Heads of every layer of MiniLM: what is seen first of any model."""
    trace = _trace("minilm", examples.texts("minilm")[0])
    maps = [trace.weights(site)[:HEADS].numpy(force=True) for site in trace.sites]
    return card_pictures.every_head(np.stack(maps), mode)


def _built(mode: Mode) -> bytes:
    request = opening.of_text(sizes.ENCODER)
    trace = tracing.traced(request).value
    return card_pictures.head(_weights(trace, examples.texts("minilm")[0]), mode)


def _course(mode: Mode) -> bytes:
    example = next(each for each in examples.texts("minilm") if each.name == ALONG)
    return _head("minilm", example, mode)


DRAWN = {
    "sentence": _sentence,
    "next": _next,
    "picture": _picture,
    "speech": _speech,
    "translation": _translation,
    "own": _atlas,
    "built": _built,
    "course": _course,
}


def _head(model: str, example: Example, mode: Mode) -> bytes:
    return card_pictures.head(_weights(_trace(model, example), example), mode)


def _trace(model: str, example: Example) -> "Trace":
    source = tracing.of_catalogue(model)
    return tracing.traced(TraceRequest(source, example.input, example.target)).value


def _weights(trace: "Trace", example: Example) -> np.ndarray:
    site = trace.site(example.layer, example.kind)
    return trace.weights(site, example.head).numpy(force=True)
