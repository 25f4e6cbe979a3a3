"""A sentence about each head of a trained network, from its own numbers on a text."""

import math
from collections.abc import Mapping

from analysis.heads import HeadValues, TraceOrView
from analysis.measures import NEAR
from analysis.percent import percent
from analysis.view import View
from models.trace import Site

MOST = 0.4  # a share of the weight from here on is what a sentence is about
EVEN = 0.8  # entropy, as a share of the largest possible
ALIGNS = "It was trained to align words, as no other head was."
FOLLOWS = "The checkpoint names it among the heads that follow the time of a recording."
SHARES = {  # by number, what the share of a head's weight goes to
    "previous token": "goes to the token before.",
    "next token": "goes to the token after.",
    "same token": "stays on the token itself.",
    "duplicate token": "goes to other occurrences of the same token, where there are any.",
    "induction": "goes to what followed the same token earlier, where it occurred before.",
    "first token": "goes to the first token, “{first}”.",
    "separator": "goes to “{separator}”.",
    "punctuation": "goes to punctuation.",
}


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
