"""The numbers of a layer of many heads: a part of the lesson on heads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.lessons import frame, tables

if TYPE_CHECKING:
    from models.attention import Pattern

SHOWN = 6  # tokens, heads and features of which every number is written


def projected(pattern: "Pattern", *, divided: bool, split: bool) -> None:
    """The query, the key and the value of the first token: in one row, or cut into heads.

    Args:
        pattern: of the layer.
        divided: whether q and k have been divided by ∜d each.
        split: whether the heads are apart.
    """
    by = " / ∜d" if divided else ""
    parts = {f"q{by}": pattern.q, f"k{by}": pattern.k, "v": pattern.v}
    rows = {name: part[0, :, 0].tolist() for name, part in parts.items()}
    if not split:
        flat = [[value for head in heads for value in head] for heads in rows.values()]
        title = _first(f"Token 1: q, k and v, {len(flat[0])} numbers each", len(flat[0]), 2 * SHOWN)
        cut = [row[: 2 * SHOWN] for row in flat]
        frame.show(
            tables.matrix(
                cut, title=title, rows=list(rows), axes=("vector", "number"), kind="signed"
            )
        )
        return
    shown = [
        tables.matrix(
            [head[:SHOWN] for head in heads[:SHOWN]],
            title=f"Token 1: {_of_heads(name, heads)}",
            rows=[f"head {number}" for number in range(len(heads[:SHOWN]))],
            axes=("head", "feature"),
            kind="signed",
            digits=2,
        )
        for name, heads in rows.items()
    ]
    frame.show(tables.row(*shown))


def _of_heads(name: str, heads: Sequence[Sequence[float]]) -> str:
    """Whose numbers a table holds; which of them, if not all."""
    count = len(heads)
    whose = f"the first {SHOWN} of {count} heads" if count > SHOWN else "every head"
    return _first(f"{name} of {whose}", len(heads[0]), SHOWN)


def _first(title: str, there: int, shown: int) -> str:
    return f"{title}, the first {shown} numbers" if shown < there else title


def weights(pattern: "Pattern", *, softmaxed: bool) -> None:
    found = pattern.weights(item=0) if softmaxed else pattern.scores(item=0)
    heads, tokens = min(SHOWN, found.shape[0]), min(SHOWN, found.shape[1])
    names = [f"token {n}" for n in range(1, tokens + 1)]
    shown = [
        tables.matrix(
            found[head, :tokens, :tokens].tolist(),
            title=f"Head {head}: {'[[weights]]' if softmaxed else '[[score|scores]]'}",
            rows=names,
            cols=[str(n) for n in range(1, tokens + 1)],
            axes=("query", "key"),
            kind="weights" if softmaxed else "signed",
            digits=2,
        )
        for head in range(heads)
    ]
    left = [f"{found.shape[0] - heads} more heads"] * (found.shape[0] > heads)
    left += [f"{found.shape[1] - tokens} more tokens"] * (found.shape[1] > tokens)
    frame.show(tables.row(*shown))
    if left:
        st.caption(f"Not drawn: {', '.join(left)}.")


def values(pattern: "Pattern", *, joined: bool) -> None:
    """What every head gives for the first token, and all of it side by side."""
    from models.lessons.followed import follow

    found = [follow(pattern, head=head).values[0].tolist() for head in range(pattern.heads)]
    wide = min(SHOWN, len(found[0]))
    shown = [
        tables.matrix(
            [row[:wide] for row in found[:SHOWN]],
            title=f"Token 1: {_of_heads('weights · v', found)}",
            rows=[f"head {head}" for head in range(len(found[:SHOWN]))],
            axes=("head", "feature"),
            kind="signed",
        )
    ]
    if joined:
        together = [value for row in found for value in row]
        first = [together[: 2 * SHOWN]]
        title = f"Joined: {len(found)} × {len(found[0])} = {len(together)} numbers"
        title = _first(title, len(together), 2 * SHOWN)
        shown.append(tables.matrix(first, title=title, axes=("token", "number"), kind="signed"))
    frame.show(tables.row(*shown))
