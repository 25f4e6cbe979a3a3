"""Pictures beside a text: where words look, what they need, and the objects of a detector."""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from viz.api.endpoint import QuestionError, endpoint
from viz.api.entries import TraceEntry
from viz.api.pool import report
from viz.api.rerun import opened
from viz.api.text import of_head, own_site
from viz.values import AREA, WORD, Head

if TYPE_CHECKING:
    from jaxtyping import Float
    from PIL.Image import Image
    from torch import Tensor

    from analysis.contrast import Caption
    from analysis.masking import Need
    from models.inputs.prompt import Prompt
    from models.model import Model
    from models.picture_grid import Box
    from models.pretrained.detection import Detection, SamplingPoints
    from models.request import File
    from models.trace import Site, Trace

LARGEST = 720  # pixels of the longer side of a picture that is sent
PARTS = 1000  # of a side of a picture, in which an area is told
HEADS = 12  # that are listed
CAPTIONS = 6
CONTROLS = 3  # areas elsewhere


@dataclass(frozen=True)
class AnswerWord:
    """A word of an answer, and the rows that attend while they write it."""

    text: str
    rows: list[int]
    special: bool


@dataclass(frozen=True)
class AnswerWords:
    """What a model has written about pictures, and the sites in which words look at them.

    Where image tokens have no places on a picture, `unplaced` says why, and the sites are all those
    that write words.
    """

    words: list[AnswerWord]
    sites: list[int]
    unplaced: str = ""


@dataclass(frozen=True, eq=False)
class Shares:
    """The shares of some rows' weight on pictures, sinks and other text, by head; the sinks."""

    image: "Float[Tensor, 'head']"
    sinks: "Float[Tensor, 'head']"
    text: "Float[Tensor, 'head']"
    at: tuple[int, ...]


@dataclass(frozen=True)
class HeadOnPicture:
    """A head's weight on pictures."""

    site: int
    head: int
    mass: float


@dataclass(frozen=True)
class Ranked:
    """The heads that look at the pictures most while a word is written."""

    heads: list[HeadOnPicture]


@dataclass(frozen=True)
class AreaReaders:
    """What each row of an answer, from the `first` on, gives to an area of a picture.

    Beside it how many image tokens lie there.
    """

    first: int
    weights: list[float]
    patches: int


@dataclass(frozen=True, eq=False)
class Versus:
    """What speaks for a word and what for a rival, by grid: positive for the word."""

    difference: float
    rival: str
    word: str
    maps: "list[Float[Tensor, 'row col']]"


@dataclass(frozen=True, eq=False)
class Captions:
    """Captions of a picture."""

    captions: "tuple[Caption, ...]"


@dataclass(frozen=True)
class Objects:
    """The object of each query.

    For each site the row of the first query, −1 for none; and the sites whose block also samples
    the picture.
    """

    objects: "tuple[Detection, ...]"
    first: list[int]
    sampled: list[int]


@dataclass(frozen=True, eq=False)
class SampledPoints:
    """Where a query samples the picture: across and down, in shares of it."""

    places: "Float[Tensor, 'point 2']"
    weights: "Float[Tensor, 'point']"
    module: str


# ---- where words look


@endpoint("answer", "text")
def answer(entry: TraceEntry) -> AnswerWords:
    """The words that are written, and for each the rows that write it; none without any."""
    from analysis import grounding
    from analysis.words import joined_tokens, words_of

    trace, unplaced = entry.trace, ""
    if trace.answer is None and trace.target_tokens is None:
        return AnswerWords([], [])
    tokens, first = grounding.answer(trace)
    try:
        sites = grounding.sites_on_pictures(trace)
    except ValueError as error:
        sites, unplaced = grounding.sites_of_words(trace), str(error).split(": ", 1)[-1]
    groups = words_of(tokens)
    words = [
        AnswerWord(
            label.strip() or "␣",
            [first + place - 1 for place in group],
            all(tokens.special[place] for place in group),
        )
        for group, label in zip(groups, joined_tokens(tokens, groups).labels, strict=True)
    ]
    return AnswerWords(words, [trace.sites.index(site) for site in sites], unplaced)


@endpoint("photo")
def photo(entry: TraceEntry, number: int) -> tuple[bytes, str]:
    """One of the pictures."""
    if number >= len(entry.pictures):
        raise QuestionError(f"expected picture 0 to {len(entry.pictures) - 1}")
    file = entry.answers.once(("photo", number), lambda: _file(entry.pictures[number]))
    return file, "image/png"


@endpoint("shares", "text")
def shares(entry: TraceEntry, site: int, first: int, last: int) -> Shares:
    """Where the weight of some rows goes, in each head of a site."""
    from analysis import grounding

    where = own_site(entry, site)
    split = grounding.split(entry.trace, where, _rows(where, first, last))
    return Shares(*split, grounding.sinks(entry.trace, where))


@endpoint("ranked", "text", slow=True)
def ranked(entry: TraceEntry, first: int, last: int) -> Ranked:
    """The heads that look at the pictures most while a word is written."""
    from analysis import grounding

    trace = entry.trace
    rows = _rows(grounding.sites_of_words(trace)[0], first, last)
    heads = entry.answers.once(("ranked", first, last), lambda: grounding.ranked(trace, rows))
    return Ranked(
        [HeadOnPicture(trace.sites.index(site), head, mass) for site, head, mass in heads[:HEADS]]
    )


@endpoint("readers", "text")
def readers(
    entry: TraceEntry, site: int, head: Head, area: str, frame: int | None = None
) -> AreaReaders:
    """The weight that each row of the answer gives to an area of a picture.

    The mean or largest of all heads is that of their sums over the area. A frame of a video is one
    whose tokens are meant; None is all.
    """
    from analysis import grounding, masking

    trace, where = entry.trace, own_site(entry, site)
    number, box = area_of(area)
    grids = masking.grids_of(trace, where, number, () if frame is None else (frame,))
    patches = sorted({place for grid in grids for place in grid.within(box)})
    if not patches:
        raise ValueError("area: no image token has its middle in it")
    if where not in grounding.sites_on_pictures(trace):
        raise ValueError("choose a layer in which words look at pictures")
    tokens, first = grounding.answer(trace)
    rows = range(first - 1, first - 1 + len(tokens))
    weights = of_head(grounding.readers(trace, where, patches, rows), head).tolist()
    return AreaReaders(rows[0], weights, len(patches))


# ---- what words need


@endpoint("need", "text", slow=True)
def need(entry: TraceEntry, area: str, first: int, last: int, frame: int | None = None) -> "Need":
    """The probability of a word with an area of a picture, and with its mean colour there.

    Of a video, a frame and those that share its tokens are masked; None is all.
    """
    from analysis import masking

    (number, box), places = area_of(area), _places(entry, first, last)
    frames = _sharing(entry, number, frame)

    def test() -> "Need":
        how: Any = {"picture": number, "frames": frames, "controls": CONTROLS}
        with opened(entry) as (model, given, _):
            report(0, 1)
            ids = masking.ids_of(entry.trace)
            return masking.need(model, _prompt(given), ids, places, box, **how)

    return entry.answers.once(("need", *places, area, frames), test)


@endpoint("versus", "text", slow=True, rival=WORD)
def versus(entry: TraceEntry, row: int, rival: str = "") -> Versus:
    """What speaks for the word whose first token a row writes, and what for that of a rival."""
    from analysis import grounding, masking
    from analysis.contrast import contrast

    (place,) = _places(entry, row, row)
    word = int(grounding.answer(entry.trace)[0].ids[place])

    def compare() -> Versus:
        with opened(entry) as (model, given, _):
            other = _first_token(model, rival) if rival else None
            written = masking.read_whole(model, masking.ids_of(entry.trace))
            signed = contrast(model, _prompt(given), written, place, word, other)
        grids = signed.trace.key_pictures(next(iter(signed.keys)))
        against = "" if other is None else _name(model, other)
        maps = [signed.on(grid) for grid in grids]
        return Versus(signed.difference, against, _name(model, word), maps)

    return entry.answers.once(("versus", place, rival), compare)


@endpoint("captions", "text", slow=True)
def captions(entry: TraceEntry, texts: str) -> Captions:
    """Captions of the picture, with "|" between them."""
    from analysis import contrast

    lines = tuple(dict.fromkeys(line.strip() for line in texts.split("|") if line.strip()))
    if len(lines) > CAPTIONS:
        raise ValueError(f"captions: expected at most {CAPTIONS}, received {len(lines)}")
    if entry.before is not None:
        raise ValueError("captions are compared by the model as it is: undo the edits first")

    def compare() -> "tuple[Caption, ...]":
        with opened(entry) as (model, given, _):
            picture = given["pixel_values"] if contrast.compares(model) else None
            return contrast.captions(model, picture, lines)

    return Captions(entry.answers.once(("captions", lines), compare))


# ---- the objects of a detector


@endpoint("objects", "text")
def objects(entry: TraceEntry) -> Objects:
    """The object of each query of a detector; none of other networks."""
    from models.pretrained.detection import detections, sampling_modules

    def find() -> "tuple[Detection, ...]":
        with opened(entry) as (model, given, _):
            return detections(model, given) if model.door == "transformers" else ()

    trace, result = entry.trace, entry.answers.once("objects", find)
    with opened(entry) as (model, _, _):
        sampled = {_block(name) for name in sampling_modules(model)} if result else set()
    return Objects(
        result,
        [_first_row(trace, site, len(result)) for site in trace.sites],
        [
            index
            for index, site in enumerate(trace.sites)
            if site.module is not None and _block(site.module) in sampled
        ],
    )


@endpoint("points", "text")
def points(entry: TraceEntry, site: int, head: int | str, query: int) -> SampledPoints:
    """Where one object query samples the picture in the block of a site, with the weights.

    Of several heads all points, with the share that each has in their mean.
    """
    from models.pretrained.detection import sampling_points

    def find() -> "tuple[SamplingPoints, ...]":
        with opened(entry) as (model, given, _):
            return sampling_points(model, given)

    where = own_site(entry, site)
    layers = entry.answers.once("points", find)
    mine = [each for each in layers if _block(each.module) == _block(where.module or "")]
    if not mine:
        raise ValueError(f"layer {where.layer} samples no points of the picture")
    layer = mine[0]
    count, heads = layer.weights.shape[1:3]
    if query >= count:
        raise QuestionError(f"expected object query 0 to {count - 1}")
    if isinstance(head, int) and head >= heads:
        raise QuestionError(f"expected head 0 to {heads - 1}, mean or max")
    chosen = range(head, head + 1) if isinstance(head, int) else range(heads)
    places = layer.places[0, query, chosen].flatten(0, -2)
    weights = layer.weights[0, query, chosen].flatten() / len(chosen)
    return SampledPoints(places, weights, layer.module)


def _first_row(trace: "Trace", site: "Site", count: int) -> int:
    """The row of the first object query of a site whose queries are objects, or end with them."""
    grid = trace.query_grid(site)
    first = 0 if grid is None else grid.prefix + grid.rows * grid.cols
    return first if count and site.queries - first == count else -1


def _block(module: str) -> str:
    """The path of the block that holds an attention module."""
    return module.rpartition(".")[0]


# ---- the parts


def area_of(text: str) -> "tuple[int, Box]":
    """The number of a picture and an area of it, as a selection has them.

    Raises:
        ValueError: for none.
    """
    from models.picture_grid import Box

    if not AREA(text):
        raise ValueError("area: expected one")
    number, *sides = map(int, text.split("."))
    return number, Box(*(side / PARTS for side in sides))


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
        for id, special, label in zip(tokens.ids, tokens.special, tokens.labels, strict=True):
            if not special and label.strip():
                return int(id)
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
    return encoded(small)


def encoded(image: "Image") -> bytes:
    """A picture as a PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
