"""Responses about why an output is likely: lenses, parts of its logit, and what it rests on.

Everything is computed in the pool when a view asks for it, and kept with the entry. Where an
analysis does not hold for a network, the answer is one sentence that says why.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from viz.api.entries import TraceEntry
from viz.api.model import Answer, opened, or_why, with_hidden
from viz.api.pool import report
from viz.api.requests import QuestionError
from viz.api.text import OF_ONE

if TYPE_CHECKING:
    from torch import Tensor

    from analysis.blame import Blame, Edge
    from analysis.target import Target
    from models.text import Tokens
    from models.trace import Trace

WINDOW = 24  # tokens of a lens in one answer
SAME = 1e-3  # relative: passes on other hardware or in another order of sums


def refused(entry: TraceEntry, id: str) -> Answer:
    """Why a form does not apply to this trace, by the name of the form; {} if all do."""
    from analysis.target import kind_of
    from models.averaged import is_mean

    trace, kind = entry.trace, kind_of(entry.trace.output)
    reasons: Answer = {}
    if is_mean(trace):
        reasons |= dict.fromkeys(("head", "parts"), OF_ONE)
    if kind not in ("tokens", "classes", "similarity"):  # of which heads can be switched off
        reasons["parts"] = f"Parts are of a logit; {trace.model} gives {trace.output.name}"
    try:
        if kind != "tokens":
            raise ValueError(f"{trace.model} gives no logits of tokens")
        with entry.forward_pass():
            trace.readout()
    except ValueError as error:
        reasons["lens"] = " ".join(str(error).split())
    return reasons


@or_why
def lens(entry: TraceEntry, id: str, first: int = 0, lens: str = "logit") -> Answer:
    """The likeliest token of each layer at some tokens.

    Args:
        entry: the trace.
        id: of the trace.
        first: of the tokens, of which there are at most `WINDOW`.
        lens: "logit" or "jacobian".

    Returns:
        By layer and token the ids, names and probabilities; the first layer is the embedding, the
        last the output.
    """
    tokens = _tokens(entry.trace)
    if first >= len(tokens):
        raise QuestionError(f"expected first 0 to {len(tokens) - 1}")
    places = range(first, min(first + WINDOW, len(tokens)))

    def compute() -> list[tuple[list[int], list[float]]]:
        rows = []
        for logits in _by_layer(entry, lens, places):
            top = logits.softmax(-1).max(-1)
            rows.append((top.indices.tolist(), _numbers(top.values)))
        return rows

    rows = entry.answers.once(("lens", lens, first), compute)
    return {
        "layers": _layers(len(rows)),
        "tokens": len(tokens),
        "first": first,
        "labels": [tokens.labels[place] for place in places],
        "ids": [ids for ids, _ in rows],
        "names": [[name_in(entry, each) for each in ids] for ids, _ in rows],
        "probabilities": [shares for _, shares in rows],
    }


@or_why
def ranks(entry: TraceEntry, id: str, output: str = "", lens: str = "logit") -> Answer:
    """The rank and probability of one token by layer, at the position of the output."""
    chosen = chosen_in(entry, output)
    place = _place(entry.trace, chosen)

    def compute() -> tuple[list[int], list[float]]:
        counts, shares = [], []
        for logits in _by_layer(entry, lens, [place]):
            counts.append(1 + int((logits[0] > logits[0, chosen.id]).sum()))
            shares.append(float(logits[0].softmax(-1)[chosen.id]))
        return counts, shares

    counts, shares = entry.answers.once(("ranks", lens, output), compute)
    return {
        **_targetname_in(entry, chosen),
        "position": place,
        "layers": _layers(len(counts)),
        "ranks": counts,
        "probabilities": [_number(share) for share in shares],
    }


@or_why
def parts(entry: TraceEntry, id: str, output: str = "", versus: str = "") -> Answer:
    """What each part of the network adds to a logit, or to the difference of two.

    Args:
        entry: the trace.
        id: of the trace.
        output: whose logit is divided, as a text (see `analysis.target`); "" is the likeliest.
        versus: another output, whose logit is subtracted; "" for none.

    Returns:
        For each site of the output's tower its index and the numbers of its heads; for each layer
        that of its MLP, or null; the other parts by name; and the logit, which all sum to.
    """
    from analysis.attribution import logit_attribution

    trace, chosen = entry.trace, chosen_in(entry, output)
    other = None if not versus else chosen_in(entry, versus)
    place = _place(trace, chosen)

    def compute() -> dict[str, float]:
        with entry.forward_pass():
            id = _id(chosen)
            return logit_attribution(
                trace, id, query=place, versus=None if other is None else _id(other)
            )

    shares = entry.answers.once(("parts", output, versus), compute)
    rest, tower = dict(shares), trace.sites[-1].tower
    rows = []
    for index, site in enumerate(trace.sites):
        if site.tower != tower:
            continue
        word = "cross head" if site.kind == "cross" else "head"
        names = [f"layer {site.layer}, {word} {head}" for head in range(site.heads)]
        rows.append({"site": index, "heads": [_number(rest.pop(name, 0.0)) for name in names]})
    layers = {trace.sites[row["site"]].layer: row for row in rows}  # of several, the last
    for layer, row in layers.items():
        mlp = rest.pop(f"layer {layer}, MLP", None)
        row["mlp"] = None if mlp is None else _number(mlp)
    logits = chosen.logits(trace.output)
    logit = float(logits[_id(chosen)]) - (0.0 if other is None else float(logits[_id(other)]))
    return {
        **_targetname_in(entry, chosen),
        "position": place,
        "versus": None if other is None else name_in(entry, _id(other)),
        "rows": rows,
        "rest": [{"name": name, "value": _number(value)} for name, value in rest.items()],
        "sum": _number(sum(shares.values())),
        "logit": _number(logit),
    }


@or_why
def blame(entry: TraceEntry, id: str, output: str = "") -> Answer:
    """The edges that an output rests on, and what cutting them does, beside random edges."""
    result = blamed(entry, output)
    sites = sites_of(entry)

    def edge_rows(edges: "Sequence[Edge]") -> list[dict[str, Any]]:
        return [
            {
                "site": sites[edge.layer],
                "head": edge.head,
                "query": edge.query,
                "key": edge.key,
                "effect": _number(edge.effect),
            }
            for edge in edges
        ]

    return {
        **_targetname_in(entry, result.target),
        "position": result.target.position,
        "labels": list(entry.trace.tokens[0].labels),
        "tokens": _numbers(result.tokens),
        "spans": [[span.start, span.stop, _number(span.share)] for span in result.spans],
        "quoted": [
            "".join(entry.trace.tokens[0].texts[span.start : span.stop]).strip()
            for span in result.spans
        ],
        "edges": edge_rows(result.edges),
        "path": edge_rows(result.path),
        "before": _number(result.before),
        "after": _number(result.after),
        "controls": [_number(each) for each in result.controls],
    }


# --- what is computed -----------------------------------------------------------------------------


def chosen_in(entry: TraceEntry, output: str) -> "Target":
    """The token or class that is explained."""
    from analysis.target import target_in

    if entry.opened is None:
        raise ValueError("this view holds its weights only: the model is not there to be asked")
    return target_in(entry.opened()[0], entry.trace, output or None)


def blamed(entry: TraceEntry, output: str) -> "Blame":
    """The analysis, once for an output."""
    from analysis.blame import blame

    chosen = chosen_in(entry, output)

    def compute() -> "Blame":
        with opened(entry) as (model, given, written):
            if written is not None:
                raise ValueError("blame follows one text: expected no encoder–decoder")
            edits = entry.trace.edits
            result = blame(model, given, target=chosen, edits=edits, progress=report)
        here = float(chosen.probability(entry.trace.output))
        if abs(result.before - here) > SAME * here:
            raise ValueError(
                "the model was run again, and that pass is not the one of this trace (edits, a"
                f" cache, another input?): probability {result.before:.4f}, here {here:.4f}"
            )
        return result

    return entry.answers.once(("blame", output), compute)


def sites_of(entry: TraceEntry) -> dict[int, int]:
    """The index of the site that blame follows in each layer."""
    from analysis.stack import self_attention

    sites = entry.trace.sites
    return {site.layer: sites.index(site) for site in self_attention(entry.trace)}


def _by_layer(entry: TraceEntry, lens: str, places: Sequence[int]) -> "list[Tensor]":
    """The logits of some tokens by layer; the first is the embedding."""
    from analysis.lens import jacobian_lens, logit_lens

    trace = with_hidden(entry)
    carried = _jacobians(entry, trace) if lens == "jacobian" else None
    held = trace.hidden_states.get(trace.sites[-1].tower)
    if held is None:
        raise ValueError(f"{trace.model} keeps no states of the layers that give its output")
    count = len(held.states)
    readings = []
    for layer in range(count):
        report(layer, count)
        if carried is None:
            readings.append(logit_lens(trace, layer, tokens=places))
        else:
            matrix = carried[layer]
            readings.append(jacobian_lens(trace, layer, jacobian=matrix, tokens=places))
    return readings


def _jacobians(entry: TraceEntry, trace: "Trace") -> "Tensor":
    from analysis.lens import mean_jacobians

    def compute() -> "Tensor":
        with entry.forward_pass():
            return mean_jacobians([trace], progress=report)

    return entry.answers.once(("jacobians",), compute)


def _tokens(trace: "Trace") -> "Tokens":
    """The text of the output."""
    return (trace.tokens if trace.target_tokens is None else trace.target_tokens)[0]


def _place(trace: "Trace", chosen: "Target") -> int:
    if chosen.position is None:
        raise ValueError("only a token’s logit is divided; All layers shows what a class rests on")
    return chosen.position


def _id(chosen: "Target") -> int:
    if chosen.id is None:
        raise ValueError("expected an output with a logit, received a similarity")
    return chosen.id


def _layers(count: int) -> list[str]:
    """What the rows of a lens are called."""
    inner = [f"layer {layer}" for layer in range(count - 2)]
    return ["embedding", *inner, "output"]


def _targetname_in(entry: TraceEntry, chosen: "Target") -> Answer:
    return {"id": chosen.id, "name": name_in(entry, _id(chosen))}


def name_in(entry: TraceEntry, id: int) -> str:
    """The name of a token or class; its number where the model does not tell."""
    from analysis.target import name_of

    name = "" if entry.opened is None else name_of(entry.opened()[0], entry.trace.output, id)
    return name or f"id {id}"


def _numbers(values: "Tensor") -> list[float]:
    return [_number(value) for value in values.tolist()]


def _number(value: float) -> float:
    """Six significant digits."""
    return float(f"{value:.6g}")
