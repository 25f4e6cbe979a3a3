"""Responses about why a score is what it is, as a tree: head by head down to the tokens."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from viz.api.entries import TraceEntry
from viz.api.model import Answer, opened, or_why
from viz.api.pool import report
from viz.api.requests import QuestionError
from viz.api.text import site_at

if TYPE_CHECKING:
    from analysis.unfold import Branch
    from models.attention import Edit
    from models.trace import Trace

Side = Literal["query", "key"]
SIDES: tuple[Side, ...] = ("query", "key")
DEEPEST = 2  # heads below each other
WIDTH = 3  # heads of a node, and tokens of a head, that are unfolded
BRANCHES = 6  # of a node beside unfolded heads; the others are summed
OTHERS = ""  # the name of their sum


@or_why
def unfolded(
    entry: TraceEntry,
    id: str,
    site: int,
    head: int | str,
    query: int,
    key: int,
    side: Side = "key",
    depth: int = 1,
) -> Answer:
    """The score of a query and a key as a tree over what wrote one of them.

    Args:
        entry: the trace.
        id: of the trace.
        site: whose score.
        head: of the site.
        query: which row of the view attends.
        key: which column it attends to.
        side: "query" or "key", whose components are unfolded.
        depth: how often heads are unfolded to tokens and these to components.

    Returns:
        The score, and the nodes: their largest branches, with the number and sum of the others;
        where a head reads a token, the score with this edge cut in a pass of its own.
    """
    from analysis.unfold import check_edges, unfold
    from analysis.view import JOINT, View
    from models.edits import Cut
    from models.run import trace as trace_of

    view, place = entry.view, site_at(entry.view, site, head)
    if not isinstance(head, int) or place.kind == JOINT:
        raise QuestionError("expected one head of one attention layer")
    if query >= place.queries or key >= place.keys or not 1 <= depth <= DEEPEST:
        raise QuestionError(
            f"expected query 0 to {place.queries - 1}, key 0 to {place.keys - 1} and depth 1 to"
            f" {DEEPEST}"
        )
    if isinstance(view, View):
        query, key = view.token(place, "out", query), view.token(place, "in", key)
    t = entry.trace
    here = t.site(place)

    def score(changed: "Trace") -> float:
        return float(changed.scores(here.where, head, rows=[query])[0, key])

    def compute() -> "tuple[float, Branch]":
        with opened(entry) as (model, given, target):
            whole = unfold(t, here, head, query, key, side=side, depth=depth, width=WIDTH)
            few = _largest(whole)
            count = sum(node.edge is not None for node in few.walk())
            done = iter(range(count))

            def run(edits: "Sequence[Edit]") -> "Trace":
                report(next(done), count)
                return trace_of(model, given, target, edits=[*t.edits, *edits])

            return score(t), check_edges(few, score, run, Cut)

    key_of = ("unfolded", site, head, query, key, side, depth)
    value, tree = entry.answers.once(key_of, compute)
    return {"score": value, "tree": _node(tree, t.tokens[0].labels)}


def _largest(node: "Branch") -> "Branch":
    """A node with its largest branches, those that are unfolded, and the sum of the others.

    Tokens that a head cannot attend to are parts of 0, and left out.
    """
    from analysis.unfold import Branch

    parts = [each for each in node.branches if each.value != 0]
    most = WIDTH if any(each.edge for each in parts) else BRANCHES
    branches = [_largest(each) for n, each in enumerate(parts) if n < most or each.branches]
    others = [each.value for each in parts[most:] if not each.branches]
    if others:
        branches.append(Branch(OTHERS, sum(others), len(others)))
    return replace(node, branches=tuple(branches))


def _node(node: "Branch", labels: Sequence[str]) -> dict[str, Any]:
    """A node for the browser."""
    read = node.edge is not None
    others = next((each for each in node.branches if each.name == OTHERS), None)
    return {
        "name": labels[node.token] if read else node.name,
        "token": node.token if read else None,
        "value": _number(node.value),
        "after": None if node.after is None else _number(node.after),
        "branches": [_node(each, labels) for each in node.branches if each is not others],
        "others": None if others is None else [others.token, _number(others.value)],
    }


def _number(value: float) -> float:
    return float(f"{value:.5g}")
