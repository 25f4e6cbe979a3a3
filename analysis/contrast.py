"""Why this word and not a rival; and which part of a picture speaks for a caption.

Both are attention weights times the gradient of a number: of the difference of two words' logits,
or of the similarity of a picture and a caption.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.grounding import on_grid, rows_of, sites_on_pictures
from analysis.relevance import gradient_columns, mixed, reader
from models.inputs.prompt import Prompt
from models.picture_grid import PictureGrid
from models.run import Model, as_model, trace
from models.trace import Output, Site, Trace


@dataclass(frozen=True, eq=False)
class Contrast:
    """What speaks for a word and what for a rival.

    Attributes:
        trace: the forward pass, with gradients.
        difference: of the two logits, or the word's own without a rival.
        keys: by site, for every key: positive speaks for the word, negative for the rival.
    """

    trace: Trace
    difference: float
    keys: dict[Site, Float[Tensor, " key"]]

    def on(self, grid: PictureGrid) -> Float[Tensor, "row col"]:
        """The sum over all sites on a grid that they share."""
        return torch.stack([on_grid(keys, grid) for keys in self.keys.values()]).sum(0)


def contrast(
    model: Model | Any,
    prompt: Prompt,
    written: Any,
    place: int,
    word: int,
    rival: int | None = None,
) -> Contrast:
    """What speaks for a word of an answer, in place of a rival.

    Σ A ⊙ ∇A over heads and queries, ∇ of the difference of the two logits; without a rival, of the
    word's logit.

    Args:
        model: from `load`.
        prompt: with pictures.
        written: the answer, as `target` of `trace`.
        place: of the word's first token, counted within the answer.
        word: the id of it.
        rival: the id of the other word's first token; None for what speaks for the word alone.

    Raises:
        ValueError: for a place that is not there, or a model whose image tokens have no grid.
    """
    model = as_model(model)
    plain = trace(model, prompt, written)
    (row,) = rows_of(plain, [place])

    def difference(output: Output) -> Tensor:
        logits = output.row(row)
        return logits[word] if rival is None else logits[word] - logits[rival]

    t = trace(model, prompt, written, gradient=difference)
    keys = {site: gradient_columns(t, [site]) for site in sites_on_pictures(t)}
    return Contrast(t, float(difference(t.output)), keys)


@dataclass(frozen=True, eq=False)
class Caption:
    """A caption of a picture.

    Attributes:
        text: of the caption.
        similarity: of it and the picture, as the model scales it.
        relevance: of each patch for the similarity, "chefer" of `analysis.relevance`: never
            negative.
    """

    text: str
    similarity: float
    relevance: Float[Tensor, "row col"]


def compares(model: Model | Any) -> bool:
    """Whether a model gives similarities of pictures and texts."""
    return hasattr(as_model(model).network, "get_text_features")


def captions(model: Model | Any, picture: Any, texts: Sequence[str]) -> tuple[Caption, ...]:
    """How similar a picture is to some captions, and which patches speak for each.

    Raises:
        ValueError: without a caption, and for a model that gives no similarities.
    """
    model = as_model(model)
    if not texts:
        raise ValueError("captions: expected at least one")
    if not compares(model):
        raise ValueError(f"{model.name} gives no similarities of pictures and texts")
    inputs = {"input_ids": _padded(model, list(texts)), "pixel_values": picture}
    captions = []
    for index, text in enumerate(texts):

        def similarity(output: Output, index: int = index) -> Tensor:
            return output.values[0, index]

        t = trace(model, inputs, hidden=True, gradient=similarity)
        captions.append(Caption(text, float(similarity(t.output)), _for_picture(t)))
    return tuple(captions)


def _padded(model: Model, texts: list[str]) -> Any:
    """The captions; as ids filled up to the model's length where it was trained on such alone.

    Source: Zhai et al. 2023 (SigLIP), whose texts have 64 tokens, padding included.
    """
    config = model.network.config
    if not config.model_type.startswith("siglip") or model.tokenizer is None:
        return texts
    part = config.text_config
    ids = torch.full((len(texts), part.max_position_embeddings), part.pad_token_id)
    for row, text in enumerate(texts):
        tokens = model.tokenizer.encode(text).ids
        if len(tokens) > ids.shape[1]:
            raise ValueError(
                f"caption: expected at most {ids.shape[1]} tokens, received {len(tokens)}"
            )
        ids[row, : len(tokens)] = torch.tensor(tokens)
    return ids


def _for_picture(t: Trace) -> Float[Tensor, "row col"]:
    """Rows of R that the output reads, over the vision tower alone."""
    tower = [site for site in t.sites if t.key_pictures(site) and site.kind == "self"]
    if not tower:
        raise ValueError(f"{t.model}: its patches do not lie on a grid")
    through = mixed(t, tower)
    tokens = reader(t, tower[-1]) @ (through - torch.eye(len(through), device=through.device))
    return on_grid(tokens, t.key_pictures(tower[0])[0])
