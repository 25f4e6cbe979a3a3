"""Responses about the whole model: maps over all layers, relevance for an output, faithfulness.

Everything is computed in the pool when a view asks for it, and kept with the entry. Where a rule
does not hold for a network, the answer is one sentence that says why.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

from analysis.methods import BY_NAME, Fusion, Method, function_of
from viz.api import answer_reader
from viz.api.entries import TraceEntry
from viz.api.pool import report
from viz.api.requests import QuestionError
from viz.api.text import site_at

if TYPE_CHECKING:
    from torch import Tensor

    from analysis.relevance import Relevance
    from analysis.target import Target
    from analysis.view import View
    from models.model import Model
    from models.trace import Site, Trace

    TraceOrView = Trace | View

CELLS = 160  # maximum cells per side of a map; larger ones are max-pooled
Answer = dict[str, Any]


def or_why(answer: Callable[..., Answer]) -> Callable[..., Answer]:
    """Turns an analysis's refusal into an answer, which the view shows in place of a picture."""

    @wraps(answer)
    def answered(*args: Any, **kwargs: Any) -> Answer:
        try:
            return answer(*args, **kwargs)
        except QuestionError:
            raise
        except ValueError as error:
            return {"why": " ".join(str(error).split())}

    return answered


@or_why
def map_of(
    entry: TraceEntry,
    id: str,
    site: int,
    head: int | str,
    method: str,
    fusion: Fusion = "mean",
    discard: float = 0.0,
) -> Answer:
    """A map over all layers (or of one, for norms), max-pooled to at most `CELLS` per side."""
    import torch.nn.functional as F

    whole = whole_map(entry, site, head, method, fusion, discard)
    shape = tuple(min(CELLS, size) for size in whole.shape)
    cells = whole if shape == tuple(whole.shape) else F.adaptive_max_pool2d(whole[None], shape)[0]
    return {
        "shape": list(shape),
        "max": number(whole.max()),
        "cells": numbers(cells.flatten()),
        "note": note_of(entry.view, method),
    }


@or_why
def row_of(
    entry: TraceEntry,
    id: str,
    site: int,
    head: int | str,
    method: str,
    index: int | None = None,
    columns: range | None = None,
    fusion: Fusion = "mean",
    discard: float = 0.0,
) -> Answer:
    """One query's exact numbers; of attention flow, a range of its keys.

    Args:
        entry: the trace.
        id: of the trace.
        site: index of the layer.
        head: of methods that are about one.
        method: of the maps and rows in `analysis.methods`.
        index: of the query; None, of a picture alone, for what the answer is read from.
        columns: the keys, of attention flow; None for all.
        fusion: how the heads of a layer are fused.
        discard: the share of a layer's smallest weights that is left out.
    """
    note = note_of(entry.view, method)
    if index is None:
        values, rows = read_row(entry, site, head, method, columns, fusion, discard)
        return {"values": numbers(values), "reads": rows, "note": note}
    if index >= site_at(entry.view, site).queries:
        raise QuestionError(f"expected index 0 to {site_at(entry.view, site).queries - 1}")
    row = _row(entry, site, head, method, index, columns, fusion, discard)
    answer: Answer = {"values": numbers(row), "note": note}
    return answer if BY_NAME[method].kind == "row" else {**answer, "sum": number(row.sum())}


@or_why
def relevance(entry: TraceEntry, id: str, site: int, method: str, output: str = "") -> Answer:
    """The relevance of every token of the input for one output.

    Args:
        entry: the trace.
        id: of the trace.
        site: any.
        method: of the relevances in `analysis.methods`.
        output: what is explained, as a text (see `analysis.target`); "" is the likeliest.
    """
    explanation = explanation_of(entry, method, output)
    first, second = _sides(entry, explanation.trace)
    read = None
    if explanation.target_tokens is not None and second is not None:
        read = numbers(_summed(entry, second, explanation.target_tokens))
    every = [each for each in (explanation.tokens, explanation.target_tokens) if each is not None]
    return {
        "values": numbers(_summed(entry, first, explanation.tokens)),
        "read": read,
        "sites": [first, second],
        "total": number(sum(float(each.sum()) for each in every)),
        "hidden": number(
            _left_out(entry, first, explanation.tokens)
            + _left_out(entry, second, explanation.target_tokens)
        ),
        "note": note_of(entry.view, method),
        "value": number(explanation.value),
        "unassigned": None if explanation.unassigned is None else number(explanation.unassigned),
        "position": explanation.chosen.position,
        "id": explanation.chosen.id,
        "name": output if explanation.chosen.other is not None else _name(entry, explanation),
        "similarity": explanation.chosen.other is not None,
    }


@or_why
def outputs(
    entry: TraceEntry,
    id: str,
    site: int,
    direction: str,
    token: int | None = None,
    output: str = "",
) -> Answer:
    """What can be explained: the likeliest tokens at a token, or the classes.

    Args:
        entry: the trace.
        id: of the trace.
        site: index of the site whose rows or columns `token` is one of.
        direction: "out" for rows, "in" for columns.
        token: whose predictions are listed; None, and a token of another text than the output's:
            where the model answers by default.
        output: what is chosen.

    Returns:
        The kind of what can be explained and the options with their texts, labels, positions and
        probabilities, the chosen one among them; `chosen` is the text of what `output` means here,
        or None, and then `rejected` says why it means nothing.
    """
    from analysis.target import Target, kind_of, target_in, text_of

    site_at(entry.view, site)
    trace, kind = _trace(entry), kind_of(_trace(entry).output)
    choices: Answer = {"kind": kind, "options": [], "chosen": output}
    if kind == "nothing":
        raise ValueError(f"{trace.model} gives {trace.output.name}: nothing that can be explained")
    if kind == "similarity":
        return choices
    if entry.opened is None:
        raise ValueError("this view holds its weights only: the model is not there to run again")
    model = entry.opened()[0]
    place = None if kind == "classes" else _row_of_output(entry, site, direction, token)
    likeliest = _likeliest(model, trace, target_in(model, trace, Target(position=place)))
    options = [_option(model, trace, each) for each in likeliest]
    if output:
        try:
            chosen = target_in(model, trace, output)
            choices["chosen"] = text_of(model, trace, chosen)
            if choices["chosen"] not in [option["value"] for option in options]:
                options.insert(0, _option(model, trace, chosen))
        except ValueError as error:
            why = " ".join(str(error).removeprefix("target: ").split())
            choices |= {"chosen": None, "rejected": why}
    return {**choices, "options": options}


# --- what is computed -----------------------------------------------------------------------------


def read_row(
    entry: TraceEntry,
    site: int,
    head: int | str,
    method: str,
    columns: range | None,
    fusion: Fusion,
    discard: float,
) -> "tuple[Tensor, str]":
    """The mean of the rows that a picture's answer is read from, and which these are in words.

    Raises:
        QuestionError: for a text.
        ValueError: where it is read from patches that the layer does not have, and for a method of
            single rows where there are several.
    """
    trace, attention_site = _place(entry, site)
    shares = answer_reader.shares(entry)
    if attention_site.queries != len(shares):
        raise ValueError("the answer is read in the last layer, whose patches are not those here")
    rows, said = shares.nonzero().flatten().tolist(), answer_reader.words(trace, shares)
    if len(rows) == 1:
        return _row(entry, site, head, method, rows[0], columns, fusion, discard), said
    if BY_NAME[method].kind == "row":
        raise ValueError(
            f"{BY_NAME[method].title} is of one token, and the answer is read from {len(rows)}:"
            " follow it from a chosen one"
        )
    whole = whole_map(entry, site, head, method, fusion, discard)
    return shares.to(whole) @ whole, said


def _row(
    entry: TraceEntry,
    site: int,
    head: int | str,
    method: str,
    index: int,
    columns: range | None,
    fusion: Fusion,
    discard: float,
) -> "Tensor":
    """One query's numbers."""
    if method == "flow":
        return _flow(entry, site, index, columns, fusion)
    return whole_map(entry, site, head, method, fusion, discard)[index]


def whole_map(
    entry: TraceEntry,
    site: int,
    head: int | str,
    method: str,
    fusion: Fusion = "mean",
    discard: float = 0.0,
) -> "Tensor":
    """A map over the tokens or words of the view, not pooled: `query key`.

    Weights and norms of heads are joined to words before heads are put together, so that they are
    those of the view; what multiplies layers is joined last. Of norms, vectors are added up over a
    word's keys before their length is taken.
    """
    from analysis.norms import value_norms
    from analysis.stack import combined

    trace, attention_site = _place(entry, site)
    if method == "norms":
        words = _tokens_of(entry, site, "in")
        heads = _averaged(entry, site, value_norms(trace, attention_site, words=words))
        if isinstance(head, int):
            return heads[head]
        return heads.mean(0) if head == "mean" else heads.amax(0)
    if method in ("mean", "max"):
        kind = "cross" if attention_site.kind == "cross" else None
        key = ("map", method, attention_site.tower, kind)
        view = entry.view

        def compute() -> "Tensor":
            return combined(trace, method, tower=attention_site.tower, kind=kind, rows_from=view)

        return entry.answers.once(key, compute)
    fused = {"fusion": fusion, "discard": discard}
    return _grouped(entry, attention_site, _of_tower(entry, attention_site, BY_NAME[method], fused))


def _of_tower(
    entry: TraceEntry, attention_site: "Site", method: Method, fused: Mapping[str, Any]
) -> "Tensor":
    """A map over the tokens of a tower: `query key`."""
    if attention_site.kind == "cross":
        raise ValueError(
            f"{method.title} follows one tower: choose the encoder’s or the decoder’s own"
        )
    _check_size(method, attention_site)
    asked = {name: fused[name] for name in method.fused}

    def compute() -> "Tensor":
        trace = with_hidden(entry) if method.needs == "hidden" else _trace(entry)
        return function_of(method)(trace, tower=attention_site.tower, progress=report, **asked)

    variant = tuple(asked.values()) or None
    return entry.answers.once(("map", method.name, attention_site.tower), compute, variant)


def _check_size(method: Method, site: "Site") -> None:
    if method.most is not None and site.queries > method.most:
        raise ValueError(f"{method.title} takes too long for more than {method.most:,} tokens")


def _flow(
    entry: TraceEntry, site: int, index: int, columns: range | None, fusion: Fusion
) -> "Tensor":
    """Flows from a row of the view to some of its columns; to a word, the largest of its tokens."""
    import torch

    from analysis.flow import maximum_flows
    from analysis.stack import layer_map, self_attention

    trace, attention_site = _place(entry, site)
    if attention_site.kind == "cross":
        raise ValueError("flow follows one tower: choose the encoder’s or the decoder’s own")
    layers = entry.answers.once(
        ("layers", attention_site.tower),
        lambda: [
            layer_map(trace, each, fusion) for each in self_attention(trace, attention_site.tower)
        ],
        fusion,
    )
    query = _tokens_of(entry, site, "out")[index][-1]
    words = _tokens_of(entry, site, "in")
    words = words if columns is None else words[columns.start : columns.stop]
    keys = [token for word in words for token in word]
    flows = iter(maximum_flows(layers, query, keys, report).tolist())
    return torch.tensor([max(next(flows) for _ in word) for word in words])


def explanation_of(entry: TraceEntry, method: str, output: str) -> "Relevance":
    from analysis.relevance import METHODS, explain
    from analysis.target import target_in

    def compute() -> "Relevance":
        with opened(entry) as (model, given, written):
            explanation = explain(
                model,
                given,
                target=target_in(model, _trace(entry), output or None),
                method=next(each for each in METHODS if each == method),
                written=written,
                progress=report,
            )
        _check_pass(_trace(entry), explanation.trace)
        return replace(explanation, trace=_trace(entry))  # the pass itself is not kept

    return entry.answers.once(("relevance", method, output), compute)


def _name(entry: TraceEntry, relevance: "Relevance") -> str:
    """The name of the token or class that is explained; "" where the model does not tell."""
    from analysis.target import name_of

    id = relevance.chosen.id
    if entry.opened is None or id is None:
        return ""
    return name_of(entry.opened()[0], _trace(entry).output, id)


def _row_of_output(entry: TraceEntry, site: int, direction: str, token: int | None) -> int | None:
    """The position of a token of the view in the output; None if it is of another text."""
    from analysis.view import JOINT

    if token is None or entry.view.sites[site].kind == JOINT:
        return None
    trace, attention_site = _place(entry, site)
    mine = trace.queries(attention_site) if direction == "out" else trace.keys(attention_site)
    if mine is not (trace.tokens if trace.target_tokens is None else trace.target_tokens):
        return None
    words = _tokens_of(entry, site, direction)
    if token >= len(words):
        raise QuestionError(f"expected token 0 to {len(words) - 1}")
    return words[token][-1]


MOST_CLASSES = 1000  # in a menu


def _likeliest(model: "Model", trace: "Trace", place: "Target") -> "list[Target]":
    """The likeliest tokens or classes, where one is read."""
    from analysis.outputs import likeliest
    from analysis.target import kind_of

    if kind_of(trace.output) == "classes":
        ids = likeliest(trace, count=MOST_CLASSES, independent=model.multi_label).ids
        classes = [replace(place, id=id, among=model.question_of(id)) for id in ids]
        first = [0 if each.among is None else each.among.start for each in classes]
        order = sorted(range(len(classes)), key=first.__getitem__)  # question by question
        return [classes[i] for i in order]
    ids = likeliest(trace, -1 if place.position is None else place.position).ids
    return [replace(place, id=id) for id in ids]


def _option(model: "Model", trace: "Trace", target: "Target") -> Answer:
    from analysis.target import name_of, text_of

    name = "" if target.id is None else name_of(model, trace.output, target.id)
    return {
        "value": text_of(model, trace, target),
        "label": name or f"id {target.id}",
        "position": target.position,
        "probability": number(target.probability(trace.output)),
    }


def with_hidden(entry: TraceEntry) -> "Trace":
    from models.run import trace

    if _trace(entry).hidden_states:
        return _trace(entry)

    def compute() -> "Trace":
        with opened(entry) as (model, given, written):
            edits = _trace(entry).edits
            traced = trace(model, given, written, edits=edits, hidden=True, progress=report)
        _check_pass(_trace(entry), traced)
        return replace(_trace(entry), hidden_states=traced.hidden_states)

    return entry.answers.once(("hidden",), compute)


SAME = 1e-3  # of the largest number: passes on other hardware or in another order of sums


def _check_pass(held: "Trace", again: "Trace") -> None:
    """Refuses what was computed from another pass than the one that is shown.

    Raises:
        ValueError: for edits, a cache, an input or a model that only one of the two has.
    """
    why = (
        "the model was run again, and that pass is not the one of this trace (edits, a cache,"
        " another input?): {}. Trace with hidden=True for what reads hidden states; a relevance"
        " is of a pass without edits"
    )
    if held.sites != again.sites:
        raise ValueError(why.format("it has other attention layers"))
    sides = [(held.output.values, again.output.values)]
    for mine, theirs in zip(held.patterns, again.patterns, strict=True):
        sides += [(mine.q, theirs.q), (mine.k, theirs.k)]
    for mine, theirs in sides:
        if mine.shape != theirs.shape:
            raise ValueError(why.format(f"{tuple(theirs.shape)} for {tuple(mine.shape)}"))
        apart = float((mine.detach().float() - theirs.detach().float().to(mine.device)).abs().max())
        if apart > SAME * float(mine.detach().abs().max()):
            raise ValueError(why.format(f"they differ by {apart:.3g}"))


@contextmanager
def opened(entry: TraceEntry) -> "Iterator[tuple[Model, Any, Any]]":
    """The model, its input and the text of its decoder, for a pass inside."""
    if entry.opened is None:
        raise ValueError("this view holds its weights only: the model is not there to run again")
    pair = entry.opened()
    with entry.forward_pass():
        yield pair


# --- by the tokens or words of the view -----------------------------------------------------------


def _trace(entry: TraceEntry) -> "Trace":
    """The trace over tokens."""
    return entry.trace


def _place(entry: TraceEntry, site: int) -> "tuple[Trace, Site]":
    """The trace over tokens, and a site of it."""
    site_at(entry.view, site)
    trace = _trace(entry)
    if site >= len(trace.sites):
        raise ValueError("choose one kind of attention: each has layers of its own")
    return trace, trace.sites[site]


def _tokens_of(entry: TraceEntry, site: int, direction: str) -> Sequence[Sequence[int]]:
    """The tokens of each row or column of the view."""
    from analysis.view import View

    trace, attention_site = _place(entry, site)
    if isinstance(entry.view, View):
        return entry.view.origins(entry.view.sites[site], direction)
    labels = (
        trace.query_labels(attention_site)
        if direction == "out"
        else trace.key_labels(attention_site)
    )
    return [(place,) for place in range(len(labels))]


def _grouped(entry: TraceEntry, site: "Site", numbers: "Tensor", divided: bool = True) -> "Tensor":
    """Numbers between tokens, between the words of the view."""
    from analysis.view import View

    view = entry.view
    return view.grouped(numbers, site, divided=divided) if isinstance(view, View) else numbers


def _averaged(entry: TraceEntry, site: int, numbers: "Tensor") -> "Tensor":
    """Numbers of single queries, averaged over those of each row of the view."""
    import torch

    rows = _tokens_of(entry, site, "out")
    return torch.stack([numbers[..., list(row), :].mean(-2) for row in rows], -2)


def note_of(view: "TraceOrView", method: str) -> str:
    """How the numbers of a method were grouped by a view; "" for those of single tokens."""
    from analysis.view import View

    if not isinstance(view, View):
        return ""
    rows = BY_NAME[method].divided
    rows = "lack their weight" if rows and view.special == "hidden" else rows
    return view.describe(rows, joined=BY_NAME[method].joined)


def _left_out(entry: TraceEntry, site: int | None, values: "Tensor | None") -> float:
    """The sum over tokens that the view hides."""
    if site is None or values is None:
        return 0.0
    tokens = {token for word in _tokens_of(entry, site, "out") for token in word}
    return float(values[[token for token in range(len(values)) if token not in tokens]].sum())


def _summed(entry: TraceEntry, site: int, values: "Tensor") -> "Tensor":
    import torch

    words = _tokens_of(entry, site, "out")
    return torch.stack([values[list(word)].sum() for word in words])


def _sides(entry: TraceEntry, t: "Trace") -> tuple[int, int | None]:
    """Indexes of sites whose rows are the input, and what a decoder read."""
    from analysis.relevance import towers_of

    source, target = towers_of(t)
    places = {
        site.tower: n for n, site in reversed(list(enumerate(t.sites))) if site.kind != "cross"
    }
    return places[source], None if target is None else places[target]


def numbers(values: "Tensor") -> list[float]:
    return [number(value) for value in values.tolist()]


def number(value: Any) -> float:
    """Five significant digits."""
    return float(f"{float(value):.5g}")
