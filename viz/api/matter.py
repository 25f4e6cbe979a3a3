"""Responses about which heads an output needs: every head switched off in turn."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from viz.api.entries import TraceEntry
from viz.api.model import Answer, opened, or_why
from viz.api.pool import report
from viz.api.requests import QuestionError
from viz.api.text import site_at
from viz.api.why import chosen_in, name_in

if TYPE_CHECKING:
    from torch import Tensor

    from analysis.effects import Measure
    from analysis.target import Target
    from models.attention import Edit
    from models.trace import Site

How = Literal["zero", "mean"]
HOW: tuple[How, ...] = ("zero", "mean")
MOST = 64  # heads that are switched off in passes of their own


@or_why
def matters(
    entry: TraceEntry, id: str, site: int, output: str = "", off: How = "zero", top: int = 0
) -> Answer:
    """What switching off each head of the pass without edits does to its output.

    Args:
        entry: the trace.
        id: of the trace.
        site: a layer of the kind whose heads are switched off.
        output: whose logit, as a text (see `analysis.target`); "" is the likeliest. A network
            without logits has one number: how far its embedding moves.
        off: whether the values of a head become "zero" or their "mean".
        top: for how many heads, those with the largest attributions, a pass of its own tells.

    Returns:
        By site the change of the number by attribution and, with `top`, exactly; null elsewhere.
    """
    from analysis.sweep import checked_sweep, sweep

    if top > MOST:
        raise QuestionError(f"expected top 0 to {MOST}")
    asked = _Sweep.of(entry, site, output, off)

    def compute() -> "tuple[Tensor, Tensor | None]":
        with opened(asked.entry) as given:
            if not top:
                return sweep(*given, how="attribution", **asked.arguments), None
            result = checked_sweep(*given, top=top, **asked.arguments)
            return result.attribution, result.exact

    rough, exact = asked.entry.answers.once(("matters", *asked.key, top), compute)
    sites = asked.sites
    return {
        **asked.about,
        "sites": [asked.entry.trace.sites.index(each) for each in sites],
        "attribution": _rows(rough, sites),
        "exact": None if exact is None else _rows(exact, sites),
    }


@or_why
def matters_in_layer(
    entry: TraceEntry, id: str, site: int, output: str = "", off: How = "zero"
) -> Answer:
    """The same of all heads of one layer, exactly: what each is compared with.

    Args:
        entry: the trace.
        id: of the trace.
        site: the layer.
        output: as for `matters`.
        off: as for `matters`.
    """
    from analysis.sweep import sweep

    asked = _Sweep.of(entry, site, output, off)
    mine = site_at(asked.entry.trace, site)
    if mine.heads > MOST:
        raise ValueError(
            f"heads of a layer are switched off in turn where there are at most {MOST}"
        )

    def compute() -> "Tensor":
        with opened(asked.entry) as given:
            return sweep(*given, layer=mine.layer, **asked.arguments)

    effects = asked.entry.answers.once(("matters in layer", *asked.key, site), compute)
    return {**asked.about, "exact": _rows(effects, asked.sites)[asked.sites.index(mine)]}


@dataclass(frozen=True)
class _Sweep:
    """What is switched off, and what is read then.

    Attributes:
        entry: the result without edits.
        key: of the answer.
        arguments: of `analysis.sweep.sweep`.
        about: the number, in the answer.
        sites: the layers.
    """

    entry: TraceEntry
    key: tuple[Any, ...]
    arguments: dict[str, Any]
    about: Answer
    sites: "tuple[Site, ...]"

    @staticmethod
    def of(edited: TraceEntry, site: int, output: str, off: How) -> "_Sweep":
        from analysis.sweep import sites_of
        from models.edits import Ablate

        entry = unedited(edited)
        here = site_at(entry.trace, site)
        kind, tower = here.kind, here.tower
        measure, about = _measure(entry, output)

        def edit(layer: int, head: int) -> "Edit":
            return Ablate(layer, head, how=off, kind=kind, tower=tower)

        arguments = {"edit": edit, "measure": measure, "kind": kind, "tower": tower}
        return _Sweep(
            entry,
            (kind, tower, output, off),
            {**arguments, "progress": report},
            about,
            sites_of(entry.trace, kind, tower),
        )


def unedited(entry: TraceEntry) -> TraceEntry:
    """The result of the pass without its edits; the same for one without any.

    Raises:
        ValueError: where edits change the tokens: places of one are none of the other.
    """
    if not entry.trace.edits:
        return entry
    plain = entry.unedited
    if plain.trace.sites != entry.trace.sites:
        raise ValueError("the edits change the tokens: show “Before”")
    return plain


def _measure(entry: TraceEntry, output: str) -> "tuple[Measure, Answer]":
    """The number of the output, and what it is in the answer."""
    from analysis.effects import EmbeddingDistance, Logit
    from analysis.target import kind_of

    trace = entry.trace
    if kind_of(trace.output) == "similarity" and not output:
        token = 0 if entry.kind == "image" and trace.prefix else None
        about = {"number": "distance", "name": "class token" if token == 0 else "tokens"}
        return EmbeddingDistance(trace, token), {**about, "position": None}
    chosen: Target = chosen_in(entry, output)
    if chosen.id is None:
        raise ValueError("expected an output with a logit, received a similarity")
    query = -1 if chosen.position is None else chosen.position
    about = {"number": "logit", "name": name_in(entry, chosen.id), "position": chosen.position}
    return Logit(chosen.id, query), about


def _rows(effects: "Tensor", sites: "tuple[Site, ...]") -> list[list[Any]]:
    """Numbers by site and head; None for those that are not known."""
    return [
        [float(f"{value:.5g}") if value == value else None for value in row[: site.heads]]
        for row, site in zip(effects.tolist(), sites, strict=True)
    ]
