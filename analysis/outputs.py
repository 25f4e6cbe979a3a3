"""The most likely tokens or classes of a network's output, and their probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from models.trace import Trace


@dataclass(frozen=True)
class TopTokens:
    """The likeliest ids at one place, and their probabilities, largest first.

    Attributes:
        place: of the token in the text that the network writes or answers in.
        ids: of the vocabulary.
        probabilities: from 0 to 1; of all ids they sum to 1, of these to at most 1.
    """

    place: int
    ids: tuple[int, ...]
    probabilities: tuple[float, ...]


def top_tokens(trace: Trace, place: int, *, count: int = 8, item: int = 0) -> TopTokens:
    """The softmax of the logits at one place.

    Args:
        trace: of a network that gives logits for each token.
        place: of the token; negative counts from the item's end.
        count: at most so many ids.
        item: of the batch.

    Raises:
        ValueError: for a network without such logits, or a place beyond its text.
    """
    logits = trace.output.values
    if trace.output.name != "logits" or logits.ndim != 3:
        raise ValueError(f"{trace.model} gives {trace.output.name}: expected logits of tokens")
    texts = trace.tokens if trace.target_tokens is None else trace.target_tokens
    length = len(texts[item])
    if not -length <= place < length:
        raise ValueError(f"place: expected {-length} to {length - 1}, received {place}")
    place %= length
    found = torch.softmax(logits[item, place].float(), -1).topk(min(count, logits.shape[-1]))
    return TopTokens(place, tuple(found.indices.tolist()), tuple(found.values.tolist()))


def class_probabilities(
    trace: Trace, sizes: Sequence[int], *, item: int = 0
) -> tuple[tuple[float, ...], ...]:
    """The softmax of the logits of an image, question by question.

    Args:
        trace: of a network that gives one row of logits for each image.
        sizes: how many of the logits belong to each question, in order.
        item: of the batch.

    Raises:
        ValueError: for a network without such logits, or other sizes.
    """
    logits = trace.output.values
    if trace.output.name != "logits" or logits.ndim != 2:
        raise ValueError(f"{trace.model} gives {trace.output.name}: expected logits of images")
    if sum(sizes) != logits.shape[1]:
        raise ValueError(f"sizes: expected {logits.shape[1]} in all, received {sum(sizes)}")
    parts = logits[item].float().split(list(sizes))
    return tuple(tuple(torch.softmax(part, -1).tolist()) for part in parts)


def top_ids(trace: Trace, *, item: int = 0) -> tuple[int, ...]:
    """The likeliest id at each place: with the target it wrote itself, that very target."""
    length = len((trace.tokens if trace.target_tokens is None else trace.target_tokens)[item])
    return tuple(trace.output.values[item, :length].argmax(-1).tolist())
