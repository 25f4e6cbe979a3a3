"""Responses about the last hidden states of the patches: components, and which are alike."""

from typing import TYPE_CHECKING

from viz.api.entries import TraceEntry
from viz.api.model import Answer, number, numbers, or_why, with_hidden

if TYPE_CHECKING:
    from torch import Tensor


@or_why
def components(
    entry: TraceEntry, id: str, foreground: str = "all", deviations: float = 0.0
) -> Answer:
    """Each patch in the colour of its first three principal components.

    Args:
        entry: the trace of a picture.
        id: of the trace.
        foreground: the side of the threshold that is coloured, or "all".
        deviations: the threshold of the first component, in its standard deviations.

    Returns:
        Red, green and blue of every patch, 0 to 255; which patches are coloured; the shares of the
        variance, how many are coloured, and the threshold.
    """
    from analysis.vision import feature_colours

    features = [_features(entry)]
    colours, threshold = feature_colours(features, threshold=None), 0.0
    if foreground != "all":
        threshold, flip = deviations * colours.deviation, foreground == "below"
        limit = -threshold if flip else threshold
        colours = feature_colours(features, threshold=limit, flip=flip)
    kept = colours.foreground[0]
    return {
        "colours": (255 * colours.colours[0]).round().int().flatten().tolist(),
        "foreground": kept.int().tolist(),
        "explained": numbers(colours.explained),
        "kept": int(kept.sum()),
        "threshold": number(threshold),
    }


@or_why
def similar(entry: TraceEntry, id: str, token: int) -> Answer:
    """The cosine of every patch's last hidden state and a chosen one's, from −1 to 1."""
    from analysis.vision import patch_similarity

    features = _features(entry)
    return {"values": numbers(patch_similarity(features, token - entry.trace.prefix))}


def _features(entry: TraceEntry) -> "Tensor":
    """The last hidden states of the patches: `patch dim`.

    Raises:
        ValueError: where the layers have patches of several sizes.
    """
    trace = entry.trace
    if len({(site.queries, site.keys) for site in trace.sites}) > 1:
        raise ValueError("this needs layers that are alike: here they differ in their patches")
    return with_hidden(entry).final()[trace.prefix :].cpu()
