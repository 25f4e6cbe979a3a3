"""What a model predicts, with the names of its tokens or classes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from analysis.outputs import Change, Likeliest, change, likeliest
from analysis.target import default_position, kind_of, name_of
from models.output import Sampling
from models.trace import Trace

if TYPE_CHECKING:
    from models.model import Model


@dataclass(frozen=True)
class Vocabulary:
    """What the ids of an output stand for.

    Attributes:
        kind: "encoder", "decoder" or "seq2seq".
        name: of an id.
        place: of the token that is predicted or followed where none is chosen.
    """

    kind: str
    name: Callable[[int], str]
    place: int


def vocabulary_of(model: "Model", trace: Trace) -> Vocabulary | None:
    """Of any model; None if it predicts no tokens of its own tokenizer."""
    output = trace.output
    if kind_of(output) != "tokens" or not name_of(model, output, 0):
        return None
    if model.tokenizer is None and model.preprocessing is not None:
        return None  # a detector, whose rows of classes are those of boxes
    kind = "decoder" if any(site.kind == "causal" for site in trace.sites) else "encoder"
    kind = kind if trace.target_tokens is None else "seq2seq"
    return Vocabulary(kind, partial(name_of, model, output), default_position(model, trace))


def predict(
    model: "Model",
    trace: Trace,
    place: int | None = None,
    *,
    before: Trace | None = None,
    count: int = 8,
    sampling: Sampling = Sampling(),
    item: int = 0,
) -> Likeliest | Change:
    """The likeliest next tokens, masked words or classes of a trace, with their names.

    Args:
        model: that the trace is of.
        trace: of a network with logits.
        place: position among the item's own tokens; None is the masked word, else the last token.
        before: another pass of the same input, such as that without edits; the likeliest of
            either are then compared.
        count: maximum number of them, of each pass.
        sampling: temperature, top-k and top-p, for which the model does not run again; of one
            pass.
        item: index in the batch.

    Raises:
        ValueError: for a network without logits, and a position out of range.
    """
    tokens = kind_of(trace.output) == "tokens"
    if place is None:
        place = default_position(model, trace, item) if tokens else -1
    if before is not None:
        predictions = change(before, trace, place, count=count, item=item)
    else:
        alone = model.multi_label and not tokens
        how = {"sampling": sampling, "independent": alone, "item": item}
        predictions = likeliest(trace, place, count=count, **how)
    return replace(
        predictions, names=tuple(name_of(model, trace.output, id) for id in predictions.ids)
    )
