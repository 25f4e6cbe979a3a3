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
    """The keys that are left out.

    Attributes:
        keys: positions among all keys.
        shares: for each head that is shown, the weight that each row gives to them; () where that
            is not asked for.
        names: what they are, such as "“[CLS]” and 1 special token".
    """

    keys: tuple[int, ...]
    shares: tuple[np.ndarray, ...]
    names: str

    @property
    def each(self) -> list[str]:
        """The mean share of each head, "53 %"."""
        return [percent(float(share.mean()), ".3g") for share in self.shares]


def source_of(request: "Request") -> "tuple[RowSource, WithoutSinks | None]":
    """What a file shows of a layer, and its weights without sinks if these are left out."""
    from viz.api import text

    filters, view, site = request.selection, request.view, request.site
    if not _is_picture(request) or filters.sinks == "shown":
        answers = request.entry.answers
        return text.source_of(view, site, filters.values, filters.sinks, answers)
    from analysis.patches import patch_sinks
    from analysis.sinks import WithoutSinks

    trace: Any = view
    keys = patch_sinks(trace, site, outliers=filters.outliers).keys
    hidden = WithoutSinks(view, {site: keys})
    return hidden, hidden


def hidden_of(request: "Request", rows: range | None) -> Hidden | None:
    """The keys that are left out, and what some rows give to them; None if all are shown."""
    source = source_of(request)[1]
    if source is None:
        return None
    site = request.site
    shares: tuple[np.ndarray, ...] = ()
    if rows is not None:
        shares = tuple(
            source.shares(site, head, rows).numpy(force=True).astype(np.float32)
            for head in request.heads
        )
    keys = source.sinks[site]
    labels = request.view.key_labels(site)
    names = _of_picture(request, keys, labels) if _is_picture(request) else _of_text(keys, labels)
    return Hidden(keys, shares, names)


def hidden_sentence(request: "Request", hidden: Hidden | None, of: str = "the weight") -> str:
    """One sentence about what is left out, with the shares; "" if nothing is.

    Args:
        request: what the file shows.
        hidden: the keys.
        of: what the shares are of.
    """
    if hidden is None:
        return ""
    if not hidden.keys:
        return "There are no sinks to hide."
    parts = hidden.each
    if len(parts) > 1:
        parts = [f"{part} (head {head})" for part, head in zip(parts, request.heads, strict=True)]
    verb = "is" if len(hidden.keys) == 1 else "are"
    first = hidden.names[0].upper() + hidden.names[1:]
    share = f": {', '.join(parts)} of {of} went there" if parts else ""
    return f"{first} {verb} hidden{share}."


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
