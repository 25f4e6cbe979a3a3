"""The most likely tokens or classes of a network's output, and their probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from models.trace import Trace


@dataclass(frozen=True)
class TopTokens:
    """The most likely ids at one position and their probabilities, in descending order.

    Attributes:
        place: position among the item's own tokens of the output.
        ids: vocabulary ids.
        probabilities: from 0 to 1; over the full vocabulary they sum to 1.
    """

    place: int
    ids: tuple[int, ...]
    probabilities: tuple[float, ...]


def top_tokens(trace: Trace, place: int, *, count: int = 8, item: int = 0) -> TopTokens:
    """The softmax of the logits at one position.

    Args:
        trace: of a network with logits for each token.
        place: position among the item's own tokens; negative values count from the last one.
        count: maximum number of ids.
        item: index in the batch.

    Raises:
        ValueError: for a network without such logits, or a position out of range.
    """
    logits = trace.output.values
    if trace.output.name != "logits" or logits.ndim != 3:
        raise ValueError(f"{trace.model} gives {trace.output.name}: expected logits of tokens")
    try:
        row = trace.output.row(place, item)
    except ValueError as error:
        raise ValueError(f"place: {error}") from error
    found = torch.softmax(row.float(), -1).topk(min(count, len(row)))
    place %= trace.output.missing(item) + len(trace.output.of_item(item))
    return TopTokens(place, tuple(found.indices.tolist()), tuple(found.values.tolist()))


def class_probabilities(
    trace: Trace, sizes: Sequence[int], *, item: int = 0
) -> tuple[tuple[float, ...], ...]:
    """The class probabilities of an image: one softmax per question.

    Args:
        trace: of a network with one row of logits for each image.
        sizes: number of logits of each question, in order.
        item: index in the batch.

    Raises:
        ValueError: for a network without such logits, or sizes that do not match them.
    """
    logits = trace.output.values
    if trace.output.name != "logits" or logits.ndim != 2:
        raise ValueError(f"{trace.model} gives {trace.output.name}: expected logits of images")
    if sum(sizes) != logits.shape[1]:
        raise ValueError(f"sizes: expected {logits.shape[1]} in all, received {sum(sizes)}")
    parts = logits[item].float().split(list(sizes))
    return tuple(tuple(torch.softmax(part, -1).tolist()) for part in parts)


def top_classes(
    trace: Trace, *, count: int = 8, independent: bool = False, item: int = 0
) -> tuple[tuple[int, float], ...]:
    """The most likely classes of an item and their probabilities, in descending order.

    Args:
        trace: of a network with one row of logits for each item.
        count: maximum number of classes.
        independent: whether each class has a sigmoid of its own, as where an item may be of
            several; else one softmax over all.
        item: index in the batch.

    Raises:
        ValueError: for a network without such logits.
    """
    logits = trace.output.values
    if trace.output.name != "logits" or logits.ndim != 2:
        raise ValueError(f"{trace.model} gives {trace.output.name}: expected logits of classes")
    row = logits[item].float()
    found = (row.sigmoid() if independent else row.softmax(-1)).topk(min(count, len(row)))
    return tuple(zip(found.indices.tolist(), found.values.tolist(), strict=True))


def top_ids(trace: Trace, *, item: int = 0) -> tuple[int, ...]:
    """The most likely id at each of an item's own tokens.

    Equal to the target, from its second token on, where the network generated it.
    """
    return tuple(trace.output.of_item(item).argmax(-1).tolist())
