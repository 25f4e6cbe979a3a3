"""What a network predicts: the next token, the masked one, or a class."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.predictions import Vocabulary
    from models.model import Model
    from models.trace import Trace

MEANS = {  # what the probabilities at a token predict
    "encoder": "what the model answers at",
    "decoder": "what comes after",
    "seq2seq": "what is written after",
}


def at(
    known: "Vocabulary | None", trace: "Trace", site: int, direction: str, token: int | None
) -> dict[str, Any]:
    """The predictions at a token as an API response; {} for outputs without names."""
    from analysis.outputs import likeliest

    if known is None:
        return {}
    place = _place(trace, site, direction, token)
    found = likeliest(trace, known.place if place is None else place)
    label = _targets(trace)[0].labels[found.place]
    return {
        "title": f"{trace.model} · {MEANS[known.kind]} “{label}” (position {found.place})",
        "labels": [known.name(number) for number in found.ids],
        "ids": list(found.ids),
        "position": found.place,
        "probabilities": list(found.probabilities),
        "note": "The softmax of the logits at this position; it sums to 1 over the vocabulary.",
    }


def classes(model: "Model", trace: "Trace", names: Sequence[str]) -> dict[str, Any]:
    """The likeliest classes of a classifier as an API response; {} for other networks.

    Args:
        model: that answers.
        trace: of its answer.
        names: of its classes; others are numbered.
    """
    from analysis.outputs import likeliest

    logits = trace.output.values
    if trace.output.name != "logits" or logits.ndim != 2 or logits.shape[1] < 2:
        return {}
    count = logits.shape[1]
    several = model.multi_label
    named = len(names) == count
    found = likeliest(trace, independent=several)
    how = (
        "The sigmoid of each logit: the input may belong to several classes."
        if several
        else f"The softmax of the logits; it sums to 1 over the {count:,} classes."
    )
    return {
        "title": f"{trace.model} · the likeliest of {count:,} classes",
        "labels": [names[id] if named else f"class {id}" for id in found.ids],
        "ids": list(found.ids),
        "probabilities": list(found.probabilities),
        "note": how if named else f"{how} The model's config states no names.",
    }


def _targets(trace: "Trace") -> Any:
    return trace.tokens if trace.target_tokens is None else trace.target_tokens


def _place(trace: "Trace", site: int, direction: str, token: int | None) -> int | None:
    """The selected token if it belongs to the predicted text, else None."""
    found = trace.sites[site]
    texts = trace.queries(found) if direction == "out" else trace.keys(found)
    return token if texts is _targets(trace) else None
