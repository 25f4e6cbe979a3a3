"""How the weights were computed, equivalent Python code, and the network's predictions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from viz.api.endpoint import BOTH, Endpoint
from viz.api.entries import TraceEntry
from viz.api.predictions import Predictions, predictions_at
from viz.api.text import site_at
from viz.api.writing import sampling_of

if TYPE_CHECKING:
    from models.attention import Mask, Pattern
    from models.trace import Site, Trace

JOINED = (
    "The encoder’s self-attention, the cross-attention and the decoder’s own in one matrix: each is"
    " a softmax of its own, and a row of the target holds two"
)
PATHS = {"fused": "PyTorch’s fused kernel", "explicit": "the explicit formula"}


@dataclass(frozen=True)
class Provenance:
    """Compute path, dtype, mask and row sums of a layer, in one line."""

    line: str


@dataclass(frozen=True)
class Code:
    """Python code."""

    code: str


def provenance(entry: TraceEntry, site: int) -> Provenance:
    """How the weights of a layer were computed."""
    from analysis.view import JOINT

    where = site_at(entry.view, site)
    if where.kind == JOINT:
        return Provenance(JOINED)
    return Provenance(line(entry.trace, entry.trace.site(where)))


def code(
    entry: TraceEntry,
    site: int,
    head: int | str,
    direction: str = "out",
    token: int | None = None,
) -> Code:
    """Python code for the weights shown, and the prediction at the selected position."""
    site_at(entry.view, site, head)
    return Code(entry.code(site, head, predictions_at(entry, site, direction, token)))


def predictions(
    entry: TraceEntry,
    site: int,
    direction: str,
    token: int | None = None,
    temperature: float | None = None,
    top_k: int = 0,
    top_p: float = 1.0,
) -> Predictions | None:
    """The most likely tokens at the selected position, or classes; None without either.

    Args:
        entry: the trace.
        site: whose row or column is selected.
        direction: whether the token attends, or is attended to.
        token: its place; None where none is selected.
        temperature: of how a token is drawn; with None, top_k and top_p it is not.
        top_k: how many tokens are kept; 0 for all.
        top_p: how much probability is kept at least.
    """
    how = (1.0 if temperature is None else temperature, top_k, top_p)
    sampling = None if temperature is None and how == (1.0, 0, 1.0) else sampling_of(*how)
    return predictions_at(entry, site, direction, token, sampling)


def line(trace: "Trace", site: "Site") -> str:
    """How one layer's weights were computed, its mask, and its row sums."""
    from analysis.rows import check_rows

    pattern = trace.pattern(site)
    checked_rows = check_rows(trace, site)
    every = (
        "every row"
        if checked_rows.rows == checked_rows.total
        else f"{checked_rows.rows:,} of {checked_rows.total:,} rows"
    )
    parts = [
        f"Layer {site.layer}: computed by {PATHS[pattern.path]}",
        str(pattern.q.dtype).removeprefix("torch."),
        f"mask: {mask(pattern.mask)}",
        f"{every} of all heads checked: {_sums(checked_rows, pattern)}",
    ]
    return " · ".join(parts)


def _sums(checked_rows: Any, pattern: "Pattern") -> str:
    if checked_rows.odd:
        return f"{checked_rows.odd:,} are not probability distributions"
    parts = [f"{checked_rows.whole:,} sum to 1"]
    below = checked_rows.rows - checked_rows.whole - checked_rows.empty
    if below:
        sink = getattr(pattern.score, "sink", None) is not None
        parts.append(f"{below:,} to less{', the sink takes the rest' if sink else ''}")
    return ", ".join([*parts, f"{checked_rows.empty:,} empty"])


def mask(rule: "Mask") -> str:
    """The rules of a mask in words."""
    rules = [
        "causal" if rule.causal else "",
        "" if rule.window is None else f"window of {rule.window:,}",
        "padding" if rule.padding is not None else "",
        "segments" if rule.segments is not None else "",
        "dense matrix" if rule.dense is not None else "",
        "cut edges" if rule.cut else "",
    ]
    return ", ".join(part for part in rules if part) or "none"


ENDPOINTS = (
    Endpoint("provenance", BOTH, provenance, explains=False),
    Endpoint("code", BOTH, code, explains=False),
    Endpoint("predictions", BOTH, predictions, explains=False),
)
