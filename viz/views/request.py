"""What a file shows: layer, heads and options, looked up in the trace; and the words beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from analysis.percent import percent
from viz import SOFTWARE
from viz.api.endpoint import QuestionError
from viz.api.text import caveat_of, note_of
from viz.caption import Caption
from viz.selection import Selection
from viz.values import Head as One
from viz.views.sinks import source_of

if TYPE_CHECKING:
    from analysis.view import View
    from models.trace import Site, Trace
    from viz.api.entries import TraceEntry
    from viz.views.answer import Answer

Heads = One | Sequence[int] | None
COMBINED: tuple[Literal["mean", "max"], ...] = ("mean", "max")
T = TypeVar("T", bound=str)
DOUBT = "A large weight says where information may come from, not that it decided the output."


NUMBERS = {  # what is said of others than weights
    "scores": "Numbers are scores before the softmax.",
    "difference": "Numbers are what the edits changed: weights after them less those before.",
}


def left_out(selection: Selection) -> str:
    """What is left out beside sinks, in sentences; empty if nothing is."""
    parts = [
        NUMBERS.get(selection.values, ""),
        "Not all rows and columns are drawn." if selection.rows or selection.columns else "",
    ]
    return " ".join(part for part in parts if part)


@dataclass(frozen=True, eq=False)
class Second:
    """Another trace of the same text, beside the first.

    Attributes:
        id: of its result.
        request: what is shown of it.
        there: its layer and head, as the view of the first holds them.
    """

    id: str
    request: "Request"
    there: str


@dataclass(frozen=True, eq=False)
class Request:
    """What a file shows.

    Attributes:
        entry: the trace, and what is known of it.
        site: the layer.
        heads: of the layer, in order.
        every: whether all heads of all layers are shown, rather than those of the layer.
        selection: what of it is shown, and how.
        words: whether title and caption are drawn, or stand in the metadata of the file alone.
        second: what is beside it on a page: another trace of the same text.
        beside: what is beside it in a figure: the same view of other traces.
        label: its name among those, before the title.
        chosen: the one of several heads that a page opens at, if not the first.
    """

    entry: "TraceEntry"
    site: "Site"
    heads: tuple[One, ...]
    every: bool = False
    selection: Selection = Selection()
    words: bool = True
    second: "Second | None" = None
    beside: "tuple[Request, ...]" = ()
    label: str = ""
    chosen: One | None = None

    @property
    def view(self) -> "Trace | View":
        """The trace, or a `View` of it."""
        return self.entry.view

    @property
    def picture(self) -> np.ndarray | None:
        """The picture whose patches the tokens are, uint8 "row col 3"; None for other tokens."""
        image: Any = self.entry.pictures[0] if self.entry.patches else None
        return None if image is None else np.asarray(image.convert("RGB"))

    @property
    def index(self) -> int:
        """Position of the layer among the sites."""
        return self.view.sites.index(self.site)

    @property
    def row(self) -> int:
        """The query of a form that shows one: the chosen one, of a causal layer else the last."""
        if self.selection.query is not None:
            return self.selection.query
        count = len(self.view.query_labels(self.site))
        return count - 1 if self.site.kind == "causal" else 0

    @property
    def sites(self) -> "list[Site]":
        """The layers that are shown."""
        return list(self.view.sites) if self.every else [self.site]

    def at(self, site: "Site") -> "Request":
        """The same of another layer; of every layer, all its heads."""
        heads = tuple(range(site.heads)) if self.every else self.heads
        return replace(self, site=site, heads=heads)


def check_tokens(request: Request) -> None:
    """Raises QuestionError for a token, row or column of the selection that is not there."""
    chosen, site = request.selection, request.site
    token = site.keys if chosen.inward else site.queries
    for name, count in (("token", token), ("query", site.queries), ("key", site.keys)):
        place = getattr(chosen, name)
        if place is not None and not 0 <= place < count:
            raise QuestionError(f"{name}: expected 0 to {count - 1}, received {place}")
    for name, count in (("rows", site.queries), ("columns", site.keys)):
        if (places := getattr(chosen, name)) and places.stop > count:
            raise QuestionError(f"expected {name} within 0-{count}")


def heads_of(head: Heads, count: int) -> tuple[One, ...]:
    """The heads that are asked for; negative numbers count from the last.

    Raises:
        ValueError: for a head that is not there.
    """
    if head is None:
        return tuple(range(count))
    if isinstance(head, str):
        return (one_of("head", head, COMBINED),)
    asked = [head] if isinstance(head, int) else [*head]
    for each in asked:
        if not isinstance(each, int) or not -count <= each < count:
            raise ValueError(f"head: expected 0 to {count - 1}, mean or max, received {each!r}")
    if not asked:
        raise ValueError("head: expected at least one, received none")
    return tuple(int(each) % count for each in asked)


def weights_of(request: Request, head: One) -> np.ndarray:
    """ "query key" of one head: the rows and columns that are shown; or scores, −∞ where masked."""
    from analysis.overview import rows_of

    rows, columns = rows_and_columns(request)
    weights = rows_of(source_of(request)[0], request.site, head, rows).numpy(force=True)
    return weights[:, columns.start : columns.stop]


def drawn_of(request: Request, head: One) -> np.ndarray:
    """The numbers that are drawn; those of hidden sinks are NaN."""
    weights = weights_of(request, head)
    if (hidden := source_of(request)[1]) is not None:
        columns = rows_and_columns(request)[1]
        places = [key - columns.start for key in hidden.sinks[request.site] if key in columns]
        weights = weights.copy()
        weights[:, places] = np.nan
    return weights


def rows_and_columns(request: Request) -> tuple[range, range]:
    """The queries and keys that are shown."""
    rows = range(len(request.view.query_labels(request.site)))
    columns = range(len(request.view.key_labels(request.site)))
    return request.selection.rows or rows, request.selection.columns or columns


def labels_of(request: Request) -> tuple[list[str], list[str]]:
    """Labels of the rows and of the columns that are shown."""
    rows, columns = rows_and_columns(request)
    view = request.view
    query, key = view.query_labels(request.site), view.key_labels(request.site)
    return query[rows.start : rows.stop], key[columns.start : columns.stop]


def top_of(request: Request, maps: Sequence[tuple[str, np.ndarray]]) -> float:
    """The weight of the last colour."""
    most = max(float(np.nan_to_num(weights).max()) for _, weights in maps)
    return most if request.selection.scale == "own" and most > 0 else 1.0


def one_of(name: str, value: str, known: Sequence[T]) -> T:
    """The value, if it is known.

    Raises:
        ValueError: otherwise.
    """
    for each in known:
        if each == value:
            return each
    raise ValueError(f"{name}: expected one of {', '.join(known)}, received {value!r}")


# ---- words


def title_of(request: Request, *, layers: bool = False) -> str:
    """Model, layer and head; or that it is about all layers together."""
    view, site = request.view, request.site
    parts = [request.label, view.model] if request.label else [view.model]
    if request.every:
        parts.append("every head")
    elif layers:
        parts.append("all layers together")
    else:
        parts += [site_name(site, view.sites), _names(request.heads, site.heads)]
    return " · ".join(parts)


def caption(request: Request, answer: "Answer", *, grouped: bool) -> Caption:
    """Title and caption of a figure, whose numbers are grouped as weights are, or not."""
    note = note_of(request.view) if grouped else caveat_of(request.view)
    said = (answer.description, left_out(request.selection), answer.doubt)
    lines = [
        *([note[0].upper() + note[1:] + "."] if note else []),
        " ".join(filter(None, said)),
        f"Input: {input_of(request.view)}",
        f"{SOFTWARE}.",
    ]
    title = title_of(request, layers=answer.layers)
    return Caption(title, tuple(lines), request.words)


def _names(heads: Sequence[One], count: int) -> str:
    if len(heads) == 1:
        return name_of(heads[0])
    if len(heads) == count:
        return f"all {count} heads"
    return f"heads {', '.join(map(str, heads))}"


def name_of(head: One) -> str:
    """ "head 3", "mean of heads"."""
    return f"head {head}" if isinstance(head, int) else f"{head} of heads"


def site_name(site: "Site", sites: "Sequence[Site]") -> str:
    """ "layer 3", with module or part, kind and tower where some of the sites differ in them."""
    place, name = site.layer, f"layer {site.layer}"
    alike = [each for each in sites if (each.kind, each.tower) == (site.kind, site.tower)]
    twins = {(each.module, each.part) for each in alike if each.layer == place}
    if len(twins) > 1:
        name += f" ({site.module if len(dict(twins)) > 1 else f'part {site.part}'})"
    kind = f"{site.tower}: {site.kind}" if site.tower else site.kind
    return name if len(alike) == len(sites) else f"{name} · {kind}"


def input_of(view: "Trace | View", most: int = 400) -> str:
    """The input as it was written, from the places of its tokens; of a picture, its patches; of a
    recording, its length.

    Args:
        view: the trace, or a view of it.
        most: characters of each text; the rest is "…".
    """
    trace: Any = getattr(view, "trace", view)
    if trace.grid is not None:
        (rows, cols), box = trace.grid, trace.box
        patches = f"a picture of {rows} × {cols} patches"
        if min(box.right, box.bottom) >= 1:
            return patches
        wide, high = percent(box.right), percent(box.bottom)
        return f"{patches}, which cover {wide} of its width and {high} of its height"
    sides = [trace.tokens[0], *([trace.target_tokens[0]] if trace.target_tokens else [])]
    pictures = _pictures_at(trace)
    written = [_sentence(tokens, most, pictures) for tokens in sides[:1]]
    written += [_sentence(tokens, most, {}) for tokens in sides[1:]]
    if trace.sound is not None and not any(trace.tokens[0].spans):
        written[0] = f"a recording of {trace.sound.heard[0]:.1f} s"
    return " → ".join(written)


def _pictures_at(trace: "Trace") -> dict[int, int]:
    """The number of the picture that each token of a text lies on, of those that lie on one; 1
    where image tokens have no places."""
    if trace.image_tokens:
        return dict.fromkeys(trace.image_tokens[0], 1)
    for site in trace.sites:
        if trace.keys(site)[0].labels == trace.tokens[0].labels:
            return {
                place: grid.picture + 1
                for grid in trace.key_pictures(site)
                for place in grid.places.flatten().tolist()
            }
    return {}


def _sentence(tokens: Any, most: int, pictures: Mapping[int, int]) -> str:
    """The text of the tokens; where they have no places in one, with their pictures by number."""
    from analysis.words import text_numbers

    placed, parts, last = any(tokens.spans), dict[int, list[str]](), None
    for place, number in enumerate(text_numbers(tokens)):
        picture = None if placed or tokens.special[place] else pictures.get(place)
        text = tokens.texts[place] if picture is None else f" [picture {picture}]"
        if picture is None or picture != last:
            parts.setdefault(number, []).append(text)
        last = picture
    written = " | ".join(filter(None, map("".join, parts.values()))) or " ".join(tokens.labels)
    written = written if placed else written.strip()
    short = written if len(written) <= most else written[:most] + "…"
    return f"“{short}”"
