"""Answers to what a view asks for, from the API's own functions: for saved pages and notebooks."""

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from viz.api import (
    alike,
    beside,
    matter,
    objects,
    patching,
    pictured,
    provenance,
    reachable,
    requests,
    sound,
    text,
    writing,
)
from viz.api.endpoint import AXIS, BOTH, HEAD, IMAGE, SITE, TEXT, WHOLE, Endpoint, options, work_of
from viz.api.requests import one_of, sentence, within, word
from viz.views import VIEWS

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry

ROWS = {"first": WHOLE, "last": WHOLE}  # of a word
AREA = dict.fromkeys(("left", "top", "right", "bottom"), WHOLE)
FRAME = {"frame": WHOLE}  # of a video
DRAWN = {"temperature": within(0, 100), "top_k": WHOLE, "top_p": within(0, 1)}
SWITCHED = {**options("output"), "off": one_of(*matter.HOW)}
VALUES = one_of(*text.VALUES)
TIMED_BY = {"method": one_of(*sound.METHODS)}
ANSWERS = (
    Endpoint("overview", TEXT, text.overview),
    Endpoint("thumbs", TEXT, text.thumbs_of, SITE, cost=text.weights_read),
    Endpoint(
        "map",
        TEXT,
        text.map_of,
        HEAD,
        {**options("rows", "columns", "sinks"), "values": VALUES, "coding": one_of("sqrt", "log")},
        text.weights_read,
    ),
    Endpoint(
        "row",
        TEXT,
        text.row_of,
        {**HEAD, **AXIS},
        {**options("sinks"), "values": VALUES},
        text.row_reads,
    ),
    Endpoint("sharpest", TEXT, text.sharpest, HEAD),
    Endpoint("changed", TEXT, text.changed, cost=text.every_weight),
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
    Endpoint("matters", BOTH, matter.matters, SITE, {**SWITCHED, "top": WHOLE}),
    Endpoint("matters_in_layer", BOTH, matter.matters_in_layer, SITE, SWITCHED),
    Endpoint("alike", TEXT, alike.alike, {**HEAD, "model": sentence}, {}, text.weights_read),
    Endpoint("aligned", TEXT, beside.aligned, {"second": word}),
    Endpoint("likeness", TEXT, beside.likeness, {**HEAD, "second": word}, {}, text.weights_read),
    Endpoint(
        "patched",
        TEXT,
        patching.patched,
        {"second": sentence},
        {**options("output"), "top": WHOLE},
    ),
    Endpoint(
        "states",
        IMAGE,
        patching.states,
        {"second": word},
        {**options("output"), "top": WHOLE},
    ),
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
    Endpoint("answer", TEXT, pictured.answer),
    Endpoint("photo", TEXT, pictured.photo, {"number": WHOLE}),
    Endpoint("objects", TEXT, objects.objects),
    Endpoint("points", TEXT, objects.points, {**HEAD, "query": WHOLE}),
    Endpoint("shares", TEXT, pictured.shares, {**SITE, **ROWS}),
    Endpoint("ranked", TEXT, pictured.ranked, ROWS, cost=text.every_weight),
    Endpoint("readers", TEXT, pictured.readers, {**HEAD, "number": WHOLE, **AREA}, FRAME),
    Endpoint(
        "relative",
        TEXT,
        pictured.relative,
        {**HEAD, **ROWS, "question": sentence},
        {},
        text.every_weight,
    ),
    Endpoint(
        "need",
        TEXT,
        pictured.need,
        {"number": WHOLE, **AREA, **ROWS},
        {"mask": one_of(*pictured.MASKS), **FRAME},
        text.every_weight,
    ),
    Endpoint("versus", TEXT, pictured.versus, {"row": WHOLE}, {"rival": word}, text.every_weight),
    Endpoint("captions", TEXT, pictured.captions, {"texts": sentence}, {}, text.every_weight),
    *(endpoint for view in VIEWS.values() for endpoint in view.endpoints),
)


def answered(entry: "TraceEntry", id: str, path: str) -> Any:
    """The answer to a path such as "map?site=0&head=3"."""
    name, _, query = path.partition("?")
    return work_of(ANSWERS, entry, id, name, parse_qsl(query))[1]()
