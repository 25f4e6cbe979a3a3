"""What a file shows: layer, heads and options, looked up in the trace; and the words beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from viz import __version__
from viz.drawing.parts import Caption

if TYPE_CHECKING:
    from analysis.view import View
    from models.trace import Site, Trace
    from viz.api.entries import ImageEntry, TextEntry

One = int | Literal["mean", "max"]
Heads = One | Sequence[int] | None
COMBINED: tuple[Literal["mean", "max"], ...] = ("mean", "max")
T = TypeVar("T", bound=str)
SOFTWARE = f"Headscope {__version__}"
DOUBT = "A large weight says where information may come from, not that it decided the output."


@dataclass(frozen=True, eq=False)
class Request:
    """What a file shows.

    Attributes:
        shown: the trace, or a `View` of it.
        site: the layer.
        heads: of the layer, in order.
        every: whether all heads of all layers are shown, rather than those of the layer.
        scale: "fixed" for colours from 0 to 1, "own" up to the largest weight shown, "layer" up to
            the largest weight between patches in any head of the layer.
        token: whose weights are drawn over a picture, or alone as lines.
        inward: whether that token is the one attended to.
        picture: what the network read, uint8 "row col 3".
        entry: the API's entry of the trace, where there is one.
    """

    shown: "Trace | View"
    site: "Site"
    heads: tuple[One, ...]
    every: bool = False
    scale: str = "fixed"
    token: int | None = None
    inward: bool = False
    picture: np.ndarray | None = None
    entry: "TextEntry | ImageEntry | None" = None

    @property
    def index(self) -> int:
        """Position of the layer among the sites."""
        return self.shown.sites.index(self.site)

    @property
    def sites(self) -> "list[Site]":
        """The layers that are shown."""
        return list(self.shown.sites) if self.every else [self.site]

    def at(self, site: "Site") -> "Request":
        """The same of another layer; of every layer, all its heads."""
        heads = tuple(range(site.heads)) if self.every else self.heads
        return replace(self, site=site, heads=heads)


def request_of(
    t: "Trace | View",
    view: str,
    layer: int | None,
    head: Heads,
    *,
    kind: str | None = None,
    tower: str | None = None,
) -> Request:
    """The layer and heads of a request, looked up in the trace.

    Raises:
        ValueError: for a view, layer or head that is not there.
    """
    if not t.sites:
        raise ValueError("expected a trace with attention, received one without")
    if layer is None and view != "atlas":
        layers = sorted({site.layer for site in t.sites})
        raise ValueError(f"layer: expected one of {layers} for {view!r}, received None")
    if layer is None:
        return Request(t, t.sites[0], (0,), every=True)
    place = _place(t.site(layer, kind, tower))
    site = next(site for site in t.sites if _place(site) == place)
    return Request(t, site, heads_of(head, site.heads))


def _place(site: "Site") -> tuple[object, ...]:
    """What tells a site from others, whatever its rows and columns are grouped to."""
    return site.layer, site.kind, site.tower, site.module, site.part


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
    """ "query key" of one head."""
    from analysis.overview import rows_of

    site = request.site
    return rows_of(request.shown, site, head, range(len(request.shown.query_labels(site)))).numpy(
        force=True
    )


def labels_of(request: Request) -> tuple[list[str], list[str]]:
    """Labels of the rows and of the columns."""
    return request.shown.query_labels(request.site), request.shown.key_labels(request.site)


def top_of(request: Request, maps: Sequence[tuple[str, np.ndarray]]) -> float:
    """The weight of the last colour."""
    most = max(float(weights.max()) for _, weights in maps)
    return most if request.scale == "own" and most > 0 else 1.0


def pixels_of(t: Any, picture: Any) -> np.ndarray | None:
    """The picture at the size that a whole number of patches covers."""
    if picture is None:
        return None
    from models.image import fit_image, open_image

    if getattr(t, "grid", None) is None:
        raise ValueError("picture: expected the trace of a picture, received one of a text")
    rows, cols = t.grid
    opened = open_image(picture)
    side = max(1, round(max(224, 8 * max(rows, cols)) / max(rows, cols)))
    image, _ = fit_image(opened, rows * side, cols * side)
    return np.asarray(image.convert("RGB"))


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


def caption(request: Request, says: str) -> Caption:
    """Title and caption of a figure."""
    shown, site = request.shown, request.site
    several = len({(each.kind, each.tower) for each in shown.sites}) > 1
    parts = [shown.model]
    if request.every:
        parts.append("every head")
    else:
        parts += [site_name(site, several), _names(request.heads, site.heads)]
    note = note_of(shown)
    lines = [
        *([note[0].upper() + note[1:] + "."] if note else []),
        f"{says} {DOUBT}".strip(),
        f"Input: {input_of(shown)}",
        f"{SOFTWARE}.",
    ]
    return Caption(" · ".join(parts), tuple(lines), SOFTWARE)


def _names(heads: Sequence[One], count: int) -> str:
    if len(heads) == 1:
        return name_of(heads[0])
    if len(heads) == count:
        return f"all {count} heads"
    return f"heads {', '.join(map(str, heads))}"


def name_of(head: One) -> str:
    """ "head 3", "mean of heads"."""
    return f"head {head}" if isinstance(head, int) else f"{head} of heads"


def site_name(site: "Site", several: bool) -> str:
    """ "layer 3", with the kind of attention where a model has several."""
    kind = f"{site.tower}: {site.kind}" if site.tower else site.kind
    return f"layer {site.layer} · {kind}" if several else f"layer {site.layer}"


def note_of(shown: "Trace | View") -> str:
    """What must be said beside every figure of this trace."""
    from viz.api.text import note_of as note

    return note(shown)


def input_of(shown: "Trace | View") -> str:
    """The input as it was written, from the places of its tokens; of a picture, its patches."""
    trace: Any = getattr(shown, "trace", shown)
    if trace.grid is not None:
        rows, cols = trace.grid
        return f"a picture of {rows} × {cols} patches"
    sides = [trace.tokens[0], *([trace.target_tokens[0]] if trace.target_tokens else [])]
    return " → ".join(_sentence(tokens) for tokens in sides)


def _sentence(tokens: Any) -> str:
    """Tokens joined, with a blank where their text has a gap."""
    parts: list[str] = []
    last, segment = 0, 0
    for label, span, part in zip(tokens.labels, tokens.spans, tokens.segments, strict=True):
        if span is None:
            continue
        if part != segment:
            parts.append(" | ")
            last, segment = span[0], part
        elif parts and span[0] > last:
            parts.append(" ")
        parts.append(label[: span[1] - span[0]])  # unknown pieces are marked behind their text
        last = max(last, span[1])
    written = "".join(parts) or " ".join(tokens.labels)
    short = written if len(written) <= 400 else written[:400] + "…"
    return f"“{short}”"
