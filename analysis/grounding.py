"""Where the words of an answer come from on a picture, by the weights of every head.

A word is written by the rows of the tokens before it: the row of a token tells the next one. What a
row attends to is what its head reads there, after layers that have mixed the patches already: it is
no proof that the answer needs it, which `analysis.masking` tests.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.sinks import sinks_of
from models.picture_grid import PictureGrid, tokens_of
from models.trace import Site, Tokens, Trace

SINK = 0.3  # mean weight above which a key is a sink: Gu et al. 2024, section 3.1


class Split(NamedTuple):
    """The shares of a row's weight, one number a head; they sum to 1.

    Attributes:
        image: on tokens that stand for pictures and are no sinks.
        sinks: on sinks, those among image tokens and that of the softmax included.
        text: on all other tokens.
    """

    image: Float[Tensor, " head"]
    sinks: Float[Tensor, " head"]
    text: Float[Tensor, " head"]


class HeadOnPicture(NamedTuple):
    """A head by its weight on the pictures when a word is written: 0 to 1."""

    site: Site
    head: int
    mass: float


def answer(t: Trace) -> tuple[Tokens, int]:
    """The tokens that were written, and the place of the first one on their axis.

    Raises:
        ValueError: for a trace without an answer.
    """
    if t.target_tokens is not None:
        return t.target_tokens[0][1:], 1
    if t.answer is None:
        raise ValueError("expected the trace of a prompt, which has an answer")
    return t.tokens[0][t.answer :], t.answer


def rows_of(t: Trace, places: Sequence[int]) -> list[int]:
    """The rows that write some tokens of the answer, whose places count within it."""
    tokens, first = answer(t)
    wrong = [place for place in places if not 0 <= place < len(tokens)]
    if wrong or not places:
        raise ValueError(f"places: expected some of 0 to {len(tokens) - 1}, received {places}")
    return [first + place - 1 for place in places]


def sites_of_words(t: Trace) -> tuple[Site, ...]:
    """The sites whose queries write the answer."""
    written = t.tokens if t.target_tokens is None else t.target_tokens
    labels = written[0].labels
    return tuple(site for site in t.sites if t.queries(site)[0].labels == labels)


def sites_on_pictures(t: Trace) -> tuple[Site, ...]:
    """The sites whose queries write the answer and whose keys lie on pictures.

    Raises:
        ValueError: where there are none; notes of the trace say why.
    """
    sites = tuple(site for site in sites_of_words(t) if t.key_pictures(site))
    if not sites:
        why = [note for note in t.notes if "without a picture" in note]
        raise ValueError(why[0] if why else f"{t.model}: no image tokens that lie on a picture")
    return sites


def image_keys(t: Trace, site: Site) -> list[int]:
    """The keys of a site that stand for pictures, whether or not they have places on them."""
    if placed := tokens_of(t.key_pictures(site)):
        return placed
    of_text = bool(t.image_tokens) and t.keys(site)[0].labels == t.tokens[0].labels
    return [*t.image_tokens[0]] if of_text else []


def weights_of(t: Trace, site: Site, rows: Sequence[int]) -> Float[Tensor, "head key"]:
    """The mean weights of some rows, in each head."""
    return t.weights(site, rows=list(rows)).mean(-2)


def on_grid(
    weights: Float[Tensor, "*head key"], grid: PictureGrid
) -> Float[Tensor, "*head row col"]:
    """The part of some weights that lies on a grid."""
    return weights[..., grid.places.to(weights.device)]


def sinks(t: Trace, site: Site) -> tuple[int, ...]:
    """Keys that take weight at rest: the first and the special ones, and image tokens that the
    later queries that see them give more than `SINK` on the mean of all heads.

    Source: Gu et al. 2024, "When Attention Sink Emerges", section 3.1; Kang et al. 2025, "See What
    You Are Told", section 3, for image tokens.
    """
    places = image_keys(t, site)
    if site.kind == "cross":
        return tuple(place for place in sinks_of(t, site) if t.keys(site)[0].special[place])
    total, counts = torch.zeros(site.keys), torch.zeros(site.keys)
    for rows in torch.arange(len(t.queries(site)[0])).split(256):
        mean = t.weights(site, rows=rows).mean(0).cpu()
        later = rows[:, None] >= torch.arange(mean.shape[-1])
        seen = later & t.visible(site, rows).any(0).cpu()
        total[: mean.shape[-1]] += (mean * seen).sum(0)
        counts[: mean.shape[-1]] += seen.sum(0)
    strong = (total / counts.clamp_min(1))[places] > SINK
    strong_sinks = {
        place for place, is_sink in zip(places, strong.tolist(), strict=True) if is_sink
    }
    return tuple(sorted(strong_sinks | set(sinks_of(t, site))))


def split(t: Trace, site: Site, rows: Sequence[int]) -> Split:
    """The shares of some rows' weight on pictures, sinks and other text, in each head."""
    weights, at_rest = weights_of(t, site, rows), sinks(t, site)
    image = [place for place in image_keys(t, site) if place not in at_rest]
    on_image, on_sinks = weights[:, image].sum(-1), weights[:, list(at_rest)].sum(-1)
    on_text, beside = weights.sum(-1) - on_image - on_sinks, t.sink_weights(site)
    more = 0.0 if beside is None else beside[:, list(rows)].mean(-1)
    return Split(on_image, on_sinks + more, on_text)


def readers(
    t: Trace, site: Site, patches: Sequence[int], rows: Sequence[int] | None = None
) -> Float[Tensor, "head query"]:
    """The summed weight that queries, or some rows, give to some patches, in each head."""
    columns = torch.tensor(list(patches), dtype=torch.long)
    queries = torch.arange(len(t.queries(site)[0])) if rows is None else torch.tensor(list(rows))
    shares = [t.weights(site, rows=some)[..., columns].sum(-1) for some in queries.split(256)]
    return torch.cat(shares, dim=-1)


def ranked(t: Trace, rows: Sequence[int]) -> tuple[HeadOnPicture, ...]:
    """Every head by the weight that some rows give to image tokens, the largest first."""
    heads = [
        HeadOnPicture(site, head, float(weights[keys].sum()))
        for site in sites_of_words(t)
        if (keys := image_keys(t, site))
        for head, weights in enumerate(weights_of(t, site, rows))
    ]
    return tuple(sorted(heads, key=lambda each: -each.mass))
