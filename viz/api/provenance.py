"""How the weights were computed, equivalent Python code, and the network's predictions."""

from typing import TYPE_CHECKING, Any

from viz.api.entries import TraceEntry
from viz.api.requests import QuestionError
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


def provenance(entry: TraceEntry, id: str, site: int) -> dict[str, Any]:
    """Compute path, dtype, mask and row sums of a layer, in one line."""
    from analysis.view import JOINT

    attention_site = site_at(entry.view, site)
    if attention_site.kind == JOINT:
        return {"line": JOINED}
    trace = entry.trace
    return {"line": line(trace, trace.site(attention_site))}


def code(
    entry: TraceEntry,
    id: str,
    site: int,
    head: int | str,
    direction: str = "out",
    token: int | None = None,
) -> dict[str, Any]:
    """Python code for the weights shown, and the prediction at the selected position."""
    site_at(entry.view, site, head)
    return {"code": entry.code(site, head, predictions(entry, id, site, direction, token))}


def predictions(
    entry: TraceEntry,
    id: str,
    site: int,
    direction: str,
    token: int | None = None,
    **drawn: Any,
) -> dict[str, Any]:
    """The most likely tokens at the selected position, or classes; {} without either.

    Args:
        entry: the trace.
        id: of it.
        site: whose row or column is selected.
        direction: whether the token attends, or is attended to.
        token: its place; None where none is selected.
        drawn: temperature, top_k and top_p, if the token is drawn by them.
    """
    from analysis.view import JOINT, View

    attention_site = site_at(entry.view, site)
    count = attention_site.queries if direction == "out" else attention_site.keys
    if token is not None and token >= count:
        raise QuestionError(f"expected token 0 to {count - 1}")
    sampling = sampling_of(**drawn) if drawn else None
    if isinstance(entry.view, View) and attention_site.kind == JOINT:
        parts = entry.view.joint_parts(attention_site)
        source = len(entry.view.queries(parts.encoder)[0])
        token = None if token is None or token < source else token - source
        return entry.predict(entry.view.trace.sites.index(parts.decoder), "out", token, sampling)
    return entry.predict(site, direction, token, sampling)


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
