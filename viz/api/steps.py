"""Responses about one pair of tokens, and about the stages of one head."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from viz.api.entries import TraceEntry
from viz.api.requests import QuestionError
from viz.api.text import of_one_pass, site_at
from viz.pack import VERSION, Sections, pack

if TYPE_CHECKING:
    from torch import Tensor

    from models.trace import Site, Trace

ROUNDING = 1e-6  # float32 weights that differ by less are the same


def pair_of(
    entry: TraceEntry, id: str, site: int, head: int | str, query: int, key: int
) -> dict[str, Any]:
    """A query and a key element by element, and the steps to their weight."""
    from analysis.pair import pair

    trace, attention_site, head = call_of(entry, site, head)
    rows, columns = token_of(entry, site, "out", query), token_of(entry, site, "in", key)
    calculation = pair(trace, attention_site, head, rows, columns)
    steps = [
        {"name": step.name, "value": _finite(step.value), "how": step.how}
        for step in calculation.steps
    ]
    view_site = site_at(entry.view, site)
    elsewhere = float(entry.view.weights(view_site, head, rows=[query])[0, key])
    if abs(elsewhere - calculation.weight) > ROUNDING:
        how = "between whole words or without special tokens: sums over keys, means over queries"
        steps.append({"name": "as shown in the matrix", "value": elsewhere, "how": how})
    return {
        "query": trace.query_labels(attention_site)[rows],
        "key": trace.key_labels(attention_site)[columns],
        "strips": [{"name": s.name, "values": _digits(s.values)} for s in calculation.strips],
        "steps": steps,
        "applied": list(calculation.applied),
    }


def stages_of(entry: TraceEntry, id: str, site: int, head: int | str, query: int) -> bytes:
    """The stages of one head for one query, as matrices of float32."""
    from analysis.stages import stages

    trace, attention_site, head = call_of(entry, site, head)
    row = token_of(entry, site, "out", query)
    calculation = stages(trace, attention_site, head, row)
    area = Sections()

    def matrix(values: "Tensor | None") -> dict[str, Any] | None:
        if values is None:
            return None
        array = np.atleast_2d(values.numpy(force=True).astype(np.float32))
        return {"shape": list(array.shape), "at": area.add(array)}

    queries, keys = trace.query_labels(attention_site), trace.key_labels(attention_site)
    names = ("q", "k", "v", "products", "scores", "weights", "output", "written")
    header = {
        "v": VERSION,
        "trace": id,
        "stages": {
            "rows": [{"index": i, "label": queries[i]} for i in calculation.rows],
            "keys": [{"index": i, "label": keys[i]} for i in calculation.keys],
            "chosen": calculation.chosen,
            "of": len(keys),
            "reason": calculation.reason,
            "formula": calculation.formula,
            "edited": calculation.edited,
            "gated": calculation.gated,
            "matrices": {name: matrix(getattr(calculation, name)) for name in names},
        },
    }
    return pack(header, area.arrays)


def call_of(entry: TraceEntry, site: int, head: int | str) -> "tuple[Trace, Site, int]":
    """The trace of single tokens, its site, and the head."""
    from analysis.view import JOINT

    view_site = site_at(entry.view, site, head)
    if not isinstance(head, int) or view_site.kind == JOINT:
        raise QuestionError("expected one head of one attention layer")
    trace = entry.trace
    of_one_pass(trace)
    return trace, trace.site(view_site), head


def token_of(entry: TraceEntry, site: int, direction: str, index: int) -> int:
    """The token of a row or column; of a word its last one."""
    from analysis.view import View

    view = entry.view
    attention_site = site_at(view, site)
    count = attention_site.queries if direction == "out" else attention_site.keys
    if index >= count:
        raise QuestionError(f"expected a position 0 to {count - 1}")
    return view.token(attention_site, direction, index) if isinstance(view, View) else index


def _finite(value: float) -> float | None:
    """A number for JSON, which has no −∞."""
    return value if math.isfinite(value) else None


def _digits(values: "Tensor") -> list[float]:
    return [float(f"{value:.6g}") for value in values.tolist()]
