"""The model of a result, asked again: for what the trace alone does not hold."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from viz.api.endpoint import QuestionError
from viz.api.entries import TraceEntry
from viz.api.pool import report

if TYPE_CHECKING:
    from torch import Tensor

    from analysis.target import Target
    from models.model import Model
    from models.trace import Trace

READERS = {"class": "class", "[CLS]": "class", "[DIST]": "distillation"}  # of tokens, by label
SAME = 1e-3  # of the largest number: passes on other hardware or in another order of sums


@contextmanager
def opened(entry: TraceEntry) -> "Iterator[tuple[Model, Any, Any]]":
    """The model, its input and the text of its decoder, for a pass inside."""
    given = entry.model_and_input()
    with entry.forward_pass():
        yield given


def reread(entry: TraceEntry, text: str) -> Any:
    """Another text as the model takes it, in a chat template where the input is."""
    from models.request import Chat
    from models.tracing import arguments

    model, request = entry.model, entry.request
    if request is None or not isinstance(request.input, str | Chat) or model is None:
        raise ValueError("a second text is read where the first was typed")
    if model.tokenizer is None:
        raise ValueError(f"{model.name} has no tokenizer: it cannot read a second text")
    given = Chat(text) if isinstance(request.input, Chat) else text
    return arguments(replace(request, input=given), model)[1]


def target_of(entry: TraceEntry, output: str = "") -> "Target":
    """The token, class or similarity that is explained; of "" the likeliest."""
    from analysis.target import target_in

    return target_in(entry.model_and_input()[0], entry.trace, output or None)


def logit_of(entry: TraceEntry, output: str) -> "tuple[Target, int]":
    """The token or class that is explained, and its id."""
    target = target_of(entry, output)
    if target.id is None:
        raise ValueError("expected an output with a logit, received a similarity")
    return target, target.id


def name_in(entry: TraceEntry, id: int) -> str:
    """The name of a token or class; its number where the model does not tell."""
    from analysis.target import name_of

    name = "" if entry.opened is None else name_of(entry.opened()[0], entry.trace.output, id)
    return name or f"id {id}"


def with_hidden(entry: TraceEntry) -> "Trace":
    """The trace with its hidden states."""
    from models.run import trace

    held = entry.trace
    if held.hidden_states:
        return held

    def compute() -> "Trace":
        with opened(entry) as (model, given, written):
            how: dict[str, Any] = {"edits": held.edits, "hidden": True, "progress": report}
            again = trace(model, given, written, **how)
        check_pass(held, again)
        return replace(held, hidden_states=again.hidden_states)

    return entry.answers.once(("hidden",), compute)


def check_pass(held: "Trace", again: "Trace") -> None:
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


def unedited(entry: TraceEntry) -> TraceEntry:
    """The result of the pass without its edits; the same for one without any.

    Raises:
        ValueError: where edits change the tokens: places of one are none of the other.
    """
    if not entry.trace.edits:
        return entry
    plain = entry.unedited
    if plain.trace.sites != entry.trace.sites:
        raise ValueError("the edits change the tokens: show “Before”")
    return plain


# ---- where the answer to a picture is read: its class token, its patches, or both


def reading_shares(entry: TraceEntry) -> "Tensor":
    """The share of each token of the last layer in what the answer is read from: `token`.

    Of a network without classes: the class token, or all patches where there is none.

    Raises:
        QuestionError: for a text.
    """
    if not entry.patches:
        raise QuestionError("expected an index: 0 to the number of queries")
    return entry.answers.once(("reader",), lambda: _read(entry))


def _read(entry: TraceEntry) -> "Tensor":
    import torch

    from analysis.relevance import reader
    from analysis.target import Target, kind_of
    from models.run import trace

    held = entry.trace
    if kind_of(held.output) == "classes" and entry.opened is not None:
        with entry.forward_pass():
            model, given, _ = entry.opened()
            score = Target().score
            traced = trace(model, given, edits=held.edits, hidden=True, gradient=score)
        return reader(traced, traced.sites[-1]).cpu()
    read = torch.zeros(len(held.labels))
    alone = READERS.get(held.labels[0]) == "class"
    rows = slice(0, 1) if alone else slice(held.prefix, None)
    read[rows] = 1 / len(read[rows])
    return read


def reading_words(trace: "Trace", shares: "Tensor") -> str:
    """What an answer is read from, in words."""
    read = shares.nonzero().flatten().tolist()
    names = [READERS[trace.labels[token]] for token in read if trace.labels[token] in READERS]
    tokens = "" if not names else f"the {' and '.join(names)} token{'s' * (len(names) > 1)}"
    patches = [token for token in read if trace.labels[token] not in READERS]
    if not patches:
        return tokens if len(names) == 1 else f"{tokens} (their mean)"
    if len(names) == 1 and math.isclose(float(shares[patches].sum()), 0.5, rel_tol=1e-4):
        return f"{tokens} and the mean of the patches (half and half)"
    if patches == [*range(trace.prefix, len(trace.labels))] and not names:
        return "the mean of the patches"
    return "the tokens that the answer is read from (their mean)"
