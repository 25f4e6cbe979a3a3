"""A sentence about a head, made from its numbers over a corpus."""

from collections.abc import Mapping
from typing import Any

from analysis.descriptions import EVEN, MOST, SHARES
from analysis.percent import percent

OBJECTS = {  # by number, what the share of a head's weight goes to in no particular text
    **{key: said.rstrip(".") for key, said in SHARES.items()},
    "first token": "goes to the first token",
    "separator": "goes to the tokenizer’s own tokens, the first aside",
}


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
