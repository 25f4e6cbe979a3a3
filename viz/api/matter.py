"""Responses about which heads an output needs: every head switched off in turn."""

from typing import TYPE_CHECKING, Any, Literal

from viz.api.entries import TraceEntry
from viz.api.model import Answer, opened, or_why
from viz.api.pool import report
from viz.api.requests import QuestionError
from viz.api.text import site_at
from viz.api.why import chosen_in, name_in

if TYPE_CHECKING:
    from torch import Tensor

    from models.attention import Edit
    from models.trace import Site

How = Literal["zero", "mean"]
HOW: tuple[How, ...] = ("zero", "mean")
MOST = 64  # heads that are switched off in passes of their own


@or_why
def matters(
    entry: TraceEntry, id: str, site: int, output: str = "", off: How = "zero", top: int = 0
) -> Answer:
    """What switching off each head does to the logit of an output.

    Args:
        entry: the trace, without edits.
        id: of the trace.
        site: a layer of the kind whose heads are switched off.
        output: whose logit, as a text (see `analysis.target`); "" is the likeliest.
        off: whether the values of a head become "zero" or their "mean".
        top: for how many heads, those with the largest attributions, a pass of its own tells.

    Returns:
        By site the change of the logit by attribution and, with `top`, exactly; null elsewhere.
    """
    from analysis.effects import Logit
    from analysis.sweep import checked_sweep, sites_of, sweep
    from models.edits import Ablate

    if top > MOST:
        raise QuestionError(f"expected top 0 to {MOST}")
    if entry.trace.edits:
        raise ValueError("a sweep switches off heads of the pass without edits: show “Before”")
    kind, tower = site_at(entry.view, site).kind, site_at(entry.view, site).tower
    chosen = chosen_in(entry, output)
    if chosen.id is None:
        raise ValueError("expected an output with a logit, received a similarity")
    query = -1 if chosen.position is None else chosen.position
    sites = sites_of(entry.trace, kind, tower)

    def edit(layer: int, head: int) -> "Edit":
        return Ablate(layer, head, how=off, kind=kind, tower=tower)

    def compute() -> "tuple[Tensor, Tensor | None]":
        asked = {
            "edit": edit,
            "measure": Logit(chosen.id or 0, query),
            "kind": kind,
            "tower": tower,
            "progress": report,
        }
        with opened(entry) as given:
            if not top:
                return sweep(*given, how="attribution", **asked), None
            result = checked_sweep(*given, top=top, **asked)
            return result.attribution, result.exact

    rough, exact = entry.answers.once(("matters", kind, tower, output, off, top), compute)
    return {
        "name": name_in(entry, chosen.id),
        "position": chosen.position,
        "sites": [entry.trace.sites.index(each) for each in sites],
        "attribution": _rows(rough, sites),
        "exact": None if exact is None else _rows(exact, sites),
    }


def _rows(effects: "Tensor", sites: "tuple[Site, ...]") -> list[list[Any]]:
    """Numbers by site and head; None for those that are not known."""
    return [
        [float(f"{value:.5g}") if value == value else None for value in row[: site.heads]]
        for row, site in zip(effects.tolist(), sites, strict=True)
    ]
