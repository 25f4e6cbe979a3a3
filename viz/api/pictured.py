"""Responses about pictures beside a text: where words look, and what they need."""

import io
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from analysis.percent import percent as in_percent
from viz.api.entries import TraceEntry
from viz.api.model import Answer, opened, or_why
from viz.api.pool import report
from viz.api.requests import QuestionError
from viz.api.text import site_at

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor

    from analysis.overview import Head
    from models.inputs.prompt import Prompt
    from models.model import Model
    from models.picture_grid import Box
    from models.request import File
    from models.trace import Site

LARGEST = 720  # pixels of the longer side of a picture that is sent
PARTS = 1000  # of a side of a picture, in which an area is told
MASKS = ("mean", "blur", "cut")
HEADS = 12  # that are listed
CAPTIONS = 6
WORDS = 6  # of a question, that are listed
CONTROLS = 3  # areas elsewhere


@or_why
def answer(entry: TraceEntry, id: str) -> Answer:
    """The words that are written, and for each the rows that write it; [] without any.

    Where the image tokens have no places on a picture, it says why, and in which layers words are
    written.
    """
    from analysis import grounding
    from analysis.words import joined_tokens, words_of

    trace = entry.trace
    if trace.answer is None and trace.target_tokens is None:
        return {"words": [], "sites": []}
    tokens, first = grounding.answer(trace)
    sites, unplaced = (), {}
    try:
        sites = grounding.sites_on_pictures(trace)
    except ValueError as error:
        written = [trace.sites.index(site) for site in grounding.sites_of_words(trace)]
        unplaced = {"unplaced": {"why": str(error).split(": ", 1)[-1], "sites": written}}
    words = words_of(tokens)
    return {
        "words": [
            {
                "text": label.strip() or "␣",
                "rows": [first + place - 1 for place in group],
                "special": all(tokens.special[place] for place in group),
            }
            for group, label in zip(words, joined_tokens(tokens, words).labels, strict=True)
        ],
        "sites": [trace.sites.index(site) for site in sites],
        **unplaced,
    }


def photo(entry: TraceEntry, id: str, number: int) -> tuple[bytes, str]:
    """One of the pictures."""
    if number >= len(entry.pictures):
        raise QuestionError(f"expected picture 0 to {len(entry.pictures) - 1}")
    file = entry.answers.once(("photo", number), lambda: _file(entry.pictures[number]))
    return file, "image/png"


@or_why
def shares(entry: TraceEntry, id: str, site: int, first: int, last: int) -> Answer:
    """The shares of some rows' weight on pictures, sinks and other text, in each head of a site."""
    from analysis import grounding

    layer = own_site(entry, site)
    split = grounding.split(entry.trace, layer, _rows(layer, first, last))
    at = grounding.sinks(entry.trace, layer)
    return {**{name: _numbers(values) for name, values in split._asdict().items()}, "at": [*at]}


@or_why
def ranked(entry: TraceEntry, id: str, first: int, last: int) -> Answer:
    """The heads that localise a word, the sharpest first; by their mass alone, without places."""
    from analysis import grounding

    trace = entry.trace
    rows = _rows(grounding.sites_on_image_tokens(trace)[0], first, last)
    heads = entry.answers.once(("ranked", first, last), lambda: grounding.ranked(trace, rows))
    return {
        "heads": [
            {
                "site": trace.sites.index(each.site),
                "head": each.head,
                "mass": _number(each.mass),
                "entropy": None if each.entropy is None else _number(each.entropy),
                "localises": each.localises,
            }
            for each in heads[:HEADS]
        ],
        "count": sum(each.localises for each in heads),
    }


@or_why
def readers(
    entry: TraceEntry,
    id: str,
    site: int,
    head: "Head",
    number: int,
    left: int,
    top: int,
    right: int,
    bottom: int,
    frame: int | None = None,
) -> Answer:
    """The weight that each row of the answer gives to an area of a picture, from the first row on.

    Beside them the words of the question that give it the most while they are read: those that
    stand behind the picture.

    Args:
        entry: the trace.
        id: of the trace.
        site: index of the layer.
        head: a head; or the mean or largest of all heads' sums over the area.
        number: of the picture.
        left: of the area, in thousandths of the picture's width; so is `right`.
        top: in thousandths of its height; so is `bottom`.
        right: of the area.
        bottom: of the area.
        frame: of a video, a frame whose tokens are meant; None for all.
    """
    from analysis import grounding, masking
    from analysis.words import joined_tokens

    trace, layer = entry.trace, own_site(entry, site, head)
    grids = masking.grids_of(trace, layer, number, _frames(frame))
    area = _area(left, top, right, bottom)
    patches = sorted({place for grid in grids for place in grid.within(area)})
    if not patches:
        raise ValueError("area: no image token has its middle in it")
    _index(layer, grounding.sites_on_pictures(trace))
    tokens, first = grounding.answer(trace)
    rows = range(first - 1, first - 1 + len(tokens))
    asked = grounding.words_asked(trace, layer)
    queries = [*(place for group in asked for place in group), *rows]
    each = iter(of_head(grounding.readers(trace, layer, patches, queries), head).tolist())
    question = [(group, sum(next(each) for _ in group) / len(group)) for group in asked]
    question.sort(key=lambda word: -word[1])
    question = question[:WORDS]
    names = joined_tokens(trace.tokens[0], [tuple(group) for group, _ in question]).labels
    return {
        "first": rows[0],
        "weights": [_number(weight) for weight in each],
        "patches": len(patches),
        "question": [
            {"text": name.strip(), "weight": _number(weight)}
            for name, (_, weight) in zip(names, question, strict=True)
            if weight > 0
        ],
    }


@or_why
def relative(
    entry: TraceEntry, id: str, site: int, head: "Head", first: int, last: int, question: str
) -> Answer:
    """A word's map in units of that of another question's answer, by grid.

    Each of both is divided by its sum over all image tokens; null where the other has no weight.

    Args:
        entry: the trace.
        id: of the trace.
        site: index of the layer.
        head: a head, or a combination of all heads.
        first: row that writes the word's first token.
        last: row that writes its last.
        question: asked of the same pictures; the first token of its answer is taken.
    """
    import torch

    from analysis import grounding
    from models.picture_grid import tokens_of

    trace, layer = entry.trace, own_site(entry, site, head)
    grids = trace.key_pictures(layer)
    index = _index(layer, grounding.sites_on_pictures(trace))
    places = tokens_of(grids)
    other = entry.answers.once(("generic", question), lambda: _generic(entry, question))[index]
    word = trace.weights(layer, rows=_rows(layer, first, last)).mean(-2)[:, places].cpu()
    if other.shape != word.shape:
        raise ValueError("the pictures have other tokens under this question")
    ratio = torch.full((layer.keys,), torch.nan)
    ratio[places] = grounding.relative(*(of_head(each, head)[None] for each in (word, other)))[0]
    maps = [grounding.on_grid(ratio, grid).tolist() for grid in grids]
    return {"maps": [[[_number_or_none(x) for x in line] for line in lines] for lines in maps]}


@or_why
def need(
    entry: TraceEntry,
    id: str,
    number: int,
    left: int,
    top: int,
    right: int,
    bottom: int,
    first: int,
    last: int,
    mask: str = "mean",
    frame: int | None = None,
) -> Answer:
    """The probability of a word with and without an area of a picture.

    Args:
        entry: the trace.
        id: of the trace.
        number: of the picture.
        left: of the area, in thousandths of the picture's width; so is `right`.
        top: in thousandths of its height; so is `bottom`.
        right: of the area.
        bottom: of the area.
        first: row that writes the word's first token.
        last: row that writes its last.
        mask: how the area is hidden, see `analysis.masking.need`.
        frame: of a video, a frame: it and those that share its tokens are masked; None for all.
    """
    from analysis import masking

    area = _area(left, top, right, bottom)
    places = _places(entry, first, last)
    frames = _sharing(entry, number, frame)

    def test() -> masking.Need:
        with opened(entry) as (model, given, _):
            report(0, 1)
            return masking.need(
                model,
                _prompt(given),
                masking.ids_of(entry.trace),
                places,
                area,
                picture=number,
                frames=frames,
                mask=mask,  # pyright: ignore[reportArgumentType]
                controls=CONTROLS,
            )

    tested = entry.answers.once(("need", *places, area, number, frames, mask), test)
    return {
        "before": _number(tested.before),
        "after": _number(tested.after),
        "elsewhere": [_number(each) for each in tested.elsewhere],
        "places": [[round(PARTS * side) for side in place] for place in tested.places],
    }


@or_why
def versus(entry: TraceEntry, id: str, row: int, rival: str = "") -> Answer:
    """What speaks for a word and what for a rival, by grid: positive for the word.

    Args:
        entry: the trace.
        id: of the trace.
        row: that writes the word's first token.
        rival: a word whose first token is taken; "" for the relevance for the word alone.
    """
    from analysis import grounding, masking
    from analysis.contrast import contrast

    (place,) = _places(entry, row, row)
    word = int(grounding.answer(entry.trace)[0].ids[place])

    def compare() -> Answer:
        with opened(entry) as (model, given, _):
            other = _first_token(model, rival) if rival else None
            written = masking.read_whole(model, masking.ids_of(entry.trace))
            signed = contrast(model, _prompt(given), written, place, word, other)
        site = next(iter(signed.keys))
        grids = signed.trace.key_pictures(site)
        return {
            "difference": _number(signed.difference),
            "rival": "" if other is None else _name(model, other),
            "word": _name(model, word),
            "maps": [[_numbers(line) for line in signed.on(grid)] for grid in grids],
        }

    return entry.answers.once(("versus", place, rival), compare)


@or_why
def captions(entry: TraceEntry, id: str, texts: str) -> Answer:
    """Captions of the picture: the similarity of each, and which patches speak for it.

    Args:
        entry: of a model that compares pictures with texts.
        id: of the trace.
        texts: the captions, with "|" between them.
    """
    from analysis import contrast

    lines = tuple(dict.fromkeys(line.strip() for line in texts.split("|") if line.strip()))
    if len(lines) > CAPTIONS:
        raise ValueError(f"captions: expected at most {CAPTIONS}, received {len(lines)}")
    if entry.before is not None:
        raise ValueError("captions are compared by the model as it is: undo the edits first")

    def compare() -> tuple[contrast.Caption, ...]:
        with opened(entry) as (model, given, _):
            picture = given["pixel_values"] if contrast.compares(model) else None
            return contrast.captions(model, picture, lines)

    compared = entry.answers.once(("captions", lines), compare)
    return {
        "captions": [
            {
                "text": each.text,
                "similarity": _number(each.similarity),
                "map": [_numbers(line) for line in each.relevance],
            }
            for each in compared
        ]
    }


# --- the parts ------------------------------------------------------------------------------------


def own_site(entry: TraceEntry, site: int, head: "Head | None" = None) -> "Site":
    """The site of the trace itself, by its index in what is shown; checks a head of it."""
    site_at(entry.view, site, head)
    if site >= len(entry.trace.sites):
        raise ValueError("choose one kind of attention: each has layers of its own")
    return entry.trace.sites[site]


def _area(*sides: int) -> "Box":
    """An area from its left, top, right and bottom in thousandths."""
    from models.picture_grid import Box

    return Box(*(side / PARTS for side in sides))


def _frames(frame: int | None) -> tuple[int, ...]:
    return () if frame is None else (frame,)


def _sharing(entry: TraceEntry, number: int, frame: int | None) -> tuple[int, ...]:
    """The frames that share the tokens of one; () for None.

    Raises:
        ValueError: for a frame that is not there.
    """
    from analysis import grounding, masking

    if frame is None:
        return ()
    site = grounding.sites_on_pictures(entry.trace)[0]
    grids = masking.grids_of(entry.trace, site, number, (frame,))
    if not grids:
        raise ValueError(f"frame: the video has no frame {frame + 1}")
    return grids[0].frames


def _index(site: "Site", sites: "tuple[Site, ...]") -> int:
    if site not in sites:
        raise ValueError("choose a layer in which words look at pictures")
    return sites.index(site)


def of_head(values: "Tensor", head: "Head") -> "Tensor":
    """One head of values "head …", or what combines them."""
    if head == "mean":
        return values.mean(0)
    return values.amax(0) if head == "max" else values[head]


def _generic(entry: TraceEntry, question: str) -> "list[Tensor]":
    """The weights "head key" on all image tokens of the row that begins another question's answer.

    For each of the sites on pictures.
    """
    from analysis import grounding
    from models.picture_grid import tokens_of
    from models.run import trace

    with opened(entry) as (model, given, _):
        other = trace(model, replace(_prompt(given), text=question, most_written=1))
    rows = grounding.rows_of(other, [0])
    return [
        other.weights(site, rows=rows)[:, 0, tokens_of(other.key_pictures(site))].cpu()
        for site in grounding.sites_on_pictures(other)
    ]


def _rows(site: "Site", first: int, last: int) -> list[int]:
    if not first <= last < site.queries:
        raise QuestionError(f"expected rows within 0 to {site.queries - 1}")
    return [*range(first, last + 1)]


def _places(entry: TraceEntry, first: int, last: int) -> list[int]:
    """Tokens of the answer that rows write, counted within it."""
    from analysis import grounding

    tokens, begin = grounding.answer(entry.trace)
    if not begin - 1 <= first <= last < begin - 1 + len(tokens):
        raise ValueError("choose a word of the answer")
    return [*range(first + 1 - begin, last + 2 - begin)]


def _prompt(given: Any) -> "Prompt":
    from models.inputs.prompt import Prompt

    if not isinstance(given, Prompt):
        raise ValueError("expected a question about pictures")
    return given


def _first_token(model: "Model", word: str) -> int:
    """The id of a word's first token, as it stands within a text."""
    reader = model.tokenizer
    if reader is None or not word.strip():
        raise ValueError("rival: expected a word")
    for text in (f" {word.strip()}", word.strip()):
        tokens = reader.encode(text)
        ids = [
            token
            for token, special, label in zip(tokens.ids, tokens.special, tokens.labels, strict=True)
            if not special and label.strip()
        ]
        if ids:
            return int(ids[0])
    raise ValueError(f"rival: the model has no token for {word.strip()!r}")


def _name(model: "Model", id: int) -> str:
    from models.text import Decoding

    reader = model.tokenizer
    return (reader.name(id) if isinstance(reader, Decoding) else str(id)).strip() or "␣"


def _file(picture: "File | Image") -> bytes:
    from models.inputs.pictures import opened as read
    from models.request import File

    image = read(picture.data).image if isinstance(picture, File) else picture
    small = image.convert("RGB")
    small.thumbnail((LARGEST, LARGEST))
    png = io.BytesIO()
    small.save(png, "PNG", compress_level=1)
    return png.getvalue()


def percent(share: float) -> str:
    """ "42 %", "3.1 %"."""
    if share < 0.0001:
        return f"< {in_percent(0.0001, '.2f')}"
    return in_percent(share, ".0f" if share >= 0.0995 else ".2g")


def _numbers(values: "Tensor") -> list[float]:
    return [_number(value) for value in values.tolist()]


def _number(value: float) -> float:
    """Six significant digits."""
    return float(f"{float(value):.6g}")


def _number_or_none(value: float) -> float | None:
    return None if math.isnan(value) else _number(value)
