"""Answers to what a view asks for, from the API's own functions: for saved pages and notebooks."""

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from viz.api import (
    beside,
    objects,
    provenance,
    reachable,
    requests,
    sound,
    text,
    writing,
)
from viz.api.endpoint import BOTH, HEAD, SITE, TEXT, WHOLE, Endpoint, options, work_of
from viz.api.requests import one_of, word
from viz.values import real
from viz.views import VIEWS

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry

DRAWN = {"temperature": real(0, 100), "top_k": WHOLE, "top_p": real(0, 1)}
TIMED_BY = {"method": one_of(*sound.METHODS)}
ANSWERS = (
    Endpoint("overview", TEXT, text.overview),
    Endpoint("provenance", BOTH, provenance.provenance, SITE),
    Endpoint("code", BOTH, provenance.code, HEAD, {**options("direction"), "token": WHOLE}),
    Endpoint(
        "predictions",
        BOTH,
        provenance.predictions,
        {**SITE, **options("direction")},
        {"token": WHOLE, **DRAWN},
    ),
    Endpoint("written", TEXT, writing.written, {"count": WHOLE}, {"seed": WHOLE, **DRAWN}),
    Endpoint("cache", TEXT, writing.cache, {"first": WHOLE}, {}, writing.weights_read),
    Endpoint("aligned", TEXT, beside.aligned, {"second": word}),
    Endpoint("likeness", TEXT, beside.likeness, {**HEAD, "second": word}, {}, text.weights_read),
    Endpoint(
        "reachable",
        BOTH,
        reachable.reachable,
        {**SITE, "what": one_of(*reachable.WHATS)},
        {"head": requests.head, "token": WHOLE},
    ),
    Endpoint("words", TEXT, sound.words, optional=TIMED_BY),
    Endpoint("aligning", TEXT, sound.aligning, optional=TIMED_BY),
    Endpoint("spectrogram", TEXT, sound.spectrogram),
    Endpoint("recording", TEXT, sound.recording),
    Endpoint("times", TEXT, sound.times, {"format": one_of(*sound.KINDS)}, TIMED_BY),
    Endpoint("objects", TEXT, objects.objects),
    Endpoint("points", TEXT, objects.points, {**HEAD, "query": WHOLE}),
    *(endpoint for view in VIEWS.values() for endpoint in view.endpoints),
)


def answered(entry: "TraceEntry", id: str, path: str) -> Any:
    """The answer to a path such as "map?site=0&head=3"."""
    name, _, query = path.partition("?")
    return work_of(ANSWERS, entry, id, name, parse_qsl(query))[1]()
