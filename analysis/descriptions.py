"""What a head does, from its own numbers: in a sentence, on a text or over a corpus; and by the
habit of Clark et al. 2019, section 3, that it comes closest to."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.heads import HeadValues, TraceOrView, heads
from analysis.measures import NEAR, TABLES
from analysis.percent import percent
from analysis.view import View
from models.trace import Site, Trace

MOST = 0.4  # a share of the weight from here on is what a sentence is about
EVEN = 0.8  # entropy, as a share of the largest possible
ALIGNS = "It was trained to align words, as no other head was."
FOLLOWS = "The checkpoint names it among the heads that follow the time of a recording."
SHARES: dict[str, str] = TABLES["shares"]  # by number, what the share of a weight goes to
OBJECTS = {key: said.rstrip(".") for key, said in SHARES.items()} | TABLES["shares_of_corpus"]


def descriptions(trace: TraceOrView, numbers: HeadValues) -> list[list[str | None]]:
    """A sentence for each head of each site; None for every head of an untrained network.

    Of a head that was trained to align words, or that the checkpoint names as one that follows the
    time of a recording, a sentence before it says so.
    """
    return [
        [
            _with_purpose(
                trace,
                (site, head),
                _sentence({key: float(v[row, head]) for key, v in numbers.items()}, names),
            )
            if trace.trained
            else None
            for head in range(site.heads)
        ]
        for row, site in enumerate(trace.sites)
        for names in [_names(trace, site)]
    ]


def _with_purpose(view: TraceOrView, place: tuple[Site, int], sentence: str | None) -> str | None:
    """The sentence of a head, after what it was trained for, where that is known."""
    trace = view.trace if isinstance(view, View) else view
    site, head = place
    if site.kind != "cross" or (site.layer, head) not in trace.aligning:
        return sentence
    purpose = ALIGNS if trace.sound is None else FOLLOWS
    return purpose if sentence is None else f"{purpose} {sentence}"


def _names(trace: TraceOrView, site: Site) -> dict[str, str]:
    """The tokens that sentences name, and whether the text is long enough to call keys near."""
    labels, special = trace.key_labels(site), trace.keys(site)[0].special
    separators = [
        label for label, is_special in list(zip(labels, special, strict=True))[1:] if is_special
    ]
    return {
        "first": labels[0] if labels else "",
        "separator": (separators or [""])[0],
        "long": "yes" if len(labels) > 4 * NEAR else "",
    }


def _sentence(numbers: Mapping[str, float], names: Mapping[str, str]) -> str | None:
    """About the largest share; else about how spread out the weights are."""
    if math.isnan(numbers["confidence"]):
        return None
    shares = {key: numbers[key] for key in SHARES if not math.isnan(numbers[key])}
    best = max(shares, key=lambda key: shares[key], default=None)
    if best is not None and shares[best] >= MOST:
        return f"{percent(shares[best])} of its weight {SHARES[best].format(**names)}"
    keys = numbers["effective keys"]
    if numbers["broad"] >= EVEN:
        return f"It spreads its weight almost evenly, over about {keys:.0f} tokens."
    if numbers["local"] >= 2 * MOST and names["long"]:
        return f"{percent(numbers['local'])} of its weight stays within {NEAR} tokens."
    largest = f"The largest weight of a token is {percent(numbers['confidence'])} on average"
    if math.isnan(numbers["distance"]):
        return f"{largest}, the weights are as spread out as {keys:.0f} equal ones."
    return f"{largest}, and the mean distance {numbers['distance']:.0f} tokens."


def claim(numbers: Mapping[str, Mapping[str, Any]], corpus: str) -> str | None:
    """What a head does on average over a corpus.

    Returns:
        None for a head of which nothing is known.
    """
    if "confidence" not in numbers:
        return None
    shares = {key: each for key, each in numbers.items() if key in SHARES}
    best = max(shares, key=lambda key: shares[key]["mean"], default=None)
    over = f"Over {corpus}"
    if best is not None and shares[best]["mean"] >= MOST:
        if shares[best]["count"] != numbers["confidence"]["count"]:
            over += f" (in the {shares[best]['count']:,} where it is defined)"
        return f"{over}, {percent(shares[best]['mean'])} of its weight {OBJECTS[best]}."
    broad, keys = numbers.get("broad"), numbers.get("effective keys")
    if broad is not None and keys is not None and broad["mean"] >= EVEN:
        return f"{over}, it spreads its weight almost evenly, over {keys['mean']:.0f} tokens."
    most = percent(numbers["confidence"]["mean"])
    return f"{over}, the largest weight of a token is {most} on average."


def corpus_of(manifest: Mapping[str, Any]) -> str:
    """What a run has read: "1,500 sentences of Python’s docstrings", or "60 texts"."""
    named = [each.get("about") for each in manifest["corpora"]]
    if named and all(named):
        return " and ".join(named)
    return f"{manifest['texts']:,} {'pictures' if manifest['settings']['pictures'] else 'texts'}"


NUMBERS = {  # by habit, the number of a head that is its score
    "previous": "previous token",
    "itself": "same token",
    "next": "next token",
    "same word": "duplicate token",
    "first": "first token",
    "last": "separator",
}
HABITS = tuple(NUMBERS)


class Habits(NamedTuple):
    """Habit scores of every head, and by layer and head the habit with the largest one, or "broad"
    or "mixed" where it is below `MOST`.

    The score of a habit is the mean weight on the keys it names: 1 if all weight goes there. It
    describes a head on this text, not the head's function.
    """

    scores: Float[Tensor, "habit layer head"]
    names: tuple[tuple[str, ...], ...]


def habits(trace: Trace) -> Habits:
    """The habits of every head of an encoder or decoder."""
    values = heads(trace, [*NUMBERS.values(), "broad"])
    scores = torch.stack([values[key] for key in NUMBERS.values()]).nan_to_num(0.0)
    best, which = scores.max(0)

    def name(layer: int, head: int) -> str:
        if best[layer, head] >= MOST:
            return HABITS[int(which[layer, head])]
        return "broad" if values["broad"][layer, head] >= EVEN else "mixed"

    layers, count = best.shape
    return Habits(scores, tuple(tuple(name(n, h) for h in range(count)) for n in range(layers)))
