"""Where the answer to a picture is read: its class token, its patches, or both."""

import math
from typing import TYPE_CHECKING

from viz.api.endpoint import QuestionError
from viz.api.entries import TraceEntry

if TYPE_CHECKING:
    from torch import Tensor

    from models.trace import Trace

NAMES = {"class": "class", "[CLS]": "class", "[DIST]": "distillation"}  # of tokens, by label


def shares(entry: TraceEntry) -> "Tensor":
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
    alone = NAMES.get(held.labels[0]) == "class"
    rows = slice(0, 1) if alone else slice(held.prefix, None)
    read[rows] = 1 / len(read[rows])
    return read


def words(trace: "Trace", shares: "Tensor") -> str:
    """What an answer is read from, in words."""
    read = shares.nonzero().flatten().tolist()
    names = [NAMES[trace.labels[token]] for token in read if trace.labels[token] in NAMES]
    tokens = "" if not names else f"the {' and '.join(names)} token{'s' * (len(names) > 1)}"
    patches = [token for token in read if trace.labels[token] not in NAMES]
    if not patches:
        return tokens if len(names) == 1 else f"{tokens} (their mean)"
    if len(names) == 1 and math.isclose(float(shares[patches].sum()), 0.5, rel_tol=1e-4):
        return f"{tokens} and the mean of the patches (half and half)"
    if patches == [*range(trace.prefix, len(trace.labels))] and not names:
        return "the mean of the patches"
    return "the tokens that the answer is read from (their mean)"
