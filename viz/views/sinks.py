"""Attention sinks that a file leaves out: which keys these are, and what went to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.percent import percent

if TYPE_CHECKING:
    from analysis.overview import RowSource
    from analysis.sinks import WithoutSinks
    from viz.views.request import Request


CLASS = ("class", "[CLS]")  # of these networks, and of transformers


@dataclass(frozen=True, eq=False)
class Hidden:
    """The keys that are left out, among all keys, and what each row gives to them by head."""

    keys: tuple[int, ...]
    shares: tuple[np.ndarray, ...]


def source_of(request: "Request") -> "tuple[RowSource, WithoutSinks | None]":
    """What a file shows of a layer, and its weights without sinks if these are left out."""
    from viz.api import text

    filters, view, site = request.selection, request.view, request.site
    if not _is_picture(request) or filters.values == text.DIFFERENCE or filters.sinks == "shown":
        return text.source_of(request.entry, site, filters.values, filters.sinks)
    from analysis.patches import patch_sinks
    from analysis.sinks import WithoutSinks

    trace: Any = view
    keys = patch_sinks(trace, site, outliers=filters.outliers).keys
    hidden = WithoutSinks(view, {site: keys})
    return hidden, hidden


def hidden_of(request: "Request", rows: range) -> Hidden | None:
    """The keys that are left out, and what some rows give to them; None if all are shown."""
    source, site = source_of(request)[1], request.site
    if source is None:
        return None
    shares = (source.shares(site, head, rows).numpy(force=True) for head in request.heads)
    return Hidden(source.sinks[site], tuple(each.astype(np.float32) for each in shares))


def hidden_sentence(request: "Request", hidden: Hidden, of: str = "the weight") -> str:
    """One sentence about what is left out, with the shares of that."""
    if not hidden.keys:
        return "There are no sinks to hide."
    parts = [percent(float(share.mean()), ".3g") for share in hidden.shares]
    if len(parts) > 1:
        parts = [f"{part} (head {head})" for part, head in zip(parts, request.heads, strict=True)]
    labels = request.view.key_labels(request.site)
    keys, verb = hidden.keys, "is" if len(hidden.keys) == 1 else "are"
    names = _of_picture(request, keys, labels) if _is_picture(request) else _of_text(keys, labels)
    return f"{names[0].upper()}{names[1:]} {verb} hidden: {', '.join(parts)} of {of} went there."


def _is_picture(request: "Request") -> bool:
    return getattr(request.view, "grid", None) is not None


def _of_text(keys: Sequence[int], labels: Sequence[str]) -> str:
    """ "“[CLS]”, “.” and 2 more tokens"."""
    more = len(keys) - 2
    names = [f"“{labels[key]}”" for key in keys[:2]]
    return _listed(names + [f"{more} more token{'s' if more > 1 else ''}"] * (more > 0))


def _of_picture(request: "Request", keys: Sequence[int], labels: Sequence[str]) -> str:
    """ "the class token, 4 registers and 2 outlier patches"."""
    from analysis.patches import grid_of

    trace: Any = request.view
    _, prefix = grid_of(trace, request.site)
    before = [labels[key] for key in keys if key < prefix]
    others = [label for label in before if label not in CLASS]
    noun = "register" if all(label.startswith("register") for label in others) else "other token"
    patches = len(keys) - len(before)
    parts = ["the class token"] if len(others) < len(before) else []
    parts += [f"{len(others)} {noun}{'s' if len(others) > 1 else ''}"] if others else []
    parts += [f"{patches} outlier patch{'es' if patches > 1 else ''}"] if patches else []
    return _listed(parts)


def _listed(parts: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
