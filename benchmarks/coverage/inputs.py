"""Inputs of any transformers model, by what its forward takes.

A batch of two, in several guesses; the first that the library's own model runs is used. Texts of
models with images or sound hold as many placeholder tokens as the model has features for them.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from models.pretrained.passes import forward_options

BATCH, TOKENS, TARGET = 2, 11, 7
BEFORE = 3  # tokens before the placeholders, and how many fewer a shorter text has
MISMATCH = re.compile(r"tokens:? *\[?(\d+).*?features:? *\(?(?:torch\.Size\(\[)?(\d+)", re.DOTALL)
TYPED = ("gemma3", "paligemma")  # whose image tokens have a type
Inputs = dict[str, Any]


def normal(*shape: int) -> Tensor:
    """Two items of numbers of a normal distribution."""
    return torch.randn(BATCH, *shape, generator=torch.Generator().manual_seed(7))


def ones(*shape: int) -> Tensor:
    """Two masks that hide nothing."""
    return torch.ones(BATCH, *shape, dtype=torch.long)


def draw_ids(count: int, seed: int = 3) -> Tensor:
    """Token ids of two texts."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(5, 60, (BATCH, count), generator=generator)


def setting(config: Any, *names: str, default: Any = None) -> Any:
    """The first of these settings that is there, in the config's parts or in itself."""
    nested = [getattr(config, part, None) for part in config.sub_configs]
    values = [getattr(one, name, None) for name in names for one in (*nested, config)]
    return next((v for v in values if v is not None and not isinstance(v, bool)), default)


def candidates(model: nn.Module) -> Iterator[Inputs]:
    """Guesses at inputs, the fullest first."""
    takes, config = set(inspect.signature(model.forward).parameters), model.config
    text = texts(config, takes)
    images, sound = [*pictures(config, takes)], [*sounds(config, takes)]
    for part, other in product(images or [{}], sound or [{}]):
        yield {**text, **part, **other}
    if text:
        yield text
    if {"input_ids", "decoder_input_ids"} <= text.keys():
        ids = text["input_ids"].clone()  # a classifier reads the decoder's state at their one end
        ids[:, TOKENS // 2] = setting(config, "eos_token_id", default=2)
        yield {**text, "input_ids": ids, "decoder_input_ids": ids}


def texts(config: Any, takes: set[str]) -> Inputs:
    """Two texts, of the source and of the target."""
    inputs: Inputs = {}
    if "input_ids" in takes:
        corner = draw_ids(2 * TOKENS).view(BATCH, TOKENS, 2) % 40
        inputs = {"attention_mask": ones(TOKENS), "bbox": torch.cat([corner, corner + 9], -1)}
        if "image_embeds_position_mask" in takes:
            places = torch.arange(TOKENS).expand(BATCH, -1)
            inside = (places >= 1) & (places <= config.latent_query_num)
            inputs["image_embeds_position_mask"] = inside.long()
        kept = {name: value for name, value in inputs.items() if name in takes}
        inputs = {"input_ids": draw_ids(TOKENS), **kept}
    if "decoder_input_ids" in takes:
        inputs["decoder_input_ids"] = draw_ids(TARGET, 4)
    return inputs


def pictures(config: Any, takes: set[str]) -> Iterator[Inputs]:
    """Two images: as grids of packed patches, as patches, as tiles, as frames or whole."""
    if "pixel_values" not in takes:
        return
    size = setting(config, "image_size", default=64)
    patch = setting(config, "patch_size", default=8)
    rows, cols = size if isinstance(size, list | tuple) else (size, size)
    cells = 3 * (max(patch) if isinstance(patch, list | tuple) else patch) ** 2
    whole = {"pixel_values": normal(3, rows, cols)}
    if "image_grid_thw" in takes:
        packed = normal(16, cells * setting(config, "temporal_patch_size", default=1))
        grid = torch.tensor([[1, 4, 4]] * BATCH)
        yield {"pixel_values": packed.flatten(0, 1), "image_grid_thw": grid}
    if "spatial_shapes" in takes:
        patches = {"pixel_values": normal(16, cells), "pixel_attention_mask": ones(16)}
        yield {**patches, "spatial_shapes": torch.tensor([[4, 4]] * BATCH)}
    if "aspect_ratio_ids" in takes:
        masks = {"aspect_ratio_mask": ones(1, 4), "cross_attention_mask": ones(TOKENS, 1, 4)}
        tiles = {"pixel_values": normal(1, 4, 3, rows, cols), "aspect_ratio_ids": ones(1)}
        yield {**tiles, **masks}
    if "image_sizes" in takes:
        sizes = torch.tensor([[rows, cols]] * BATCH)
        for tiles in (5, 3, 2):
            yield {"pixel_values": normal(tiles, 3, rows, cols), "image_sizes": sizes}
    if "input_points" in takes:
        points = torch.tensor([[[[9.0, 5.0]]]] * BATCH)
        yield {**whole, "input_points": points, "input_labels": ones(1, 1)}
    yield whole
    for frames in (setting(config, "num_frames", default=2), 1):
        yield {"pixel_values": normal(frames, 3, rows, cols)}
    yield {"pixel_values": normal(3, 2 * rows, 2 * cols)}


def sounds(config: Any, takes: set[str]) -> Iterator[Inputs]:
    """Two recordings: spectrograms or samples."""
    bins = setting(config, "num_mel_bins", "feature_size", "input_feat_per_channel", default=80)
    if "input_features" in takes:
        for shape in ((bins, 2 * setting(config, "max_source_positions", default=32)), (64, bins)):
            yield {"input_features": normal(*shape)}
    if "input_values" in takes:
        masked = "attention_mask" in takes and "input_ids" not in takes
        yield {"input_values": normal(1600)} | ({"attention_mask": ones(1600)} if masked else {})
        yield {"input_values": normal(setting(config, "max_length", default=64), bins)}


def with_placeholders(config: Any, inputs: Inputs, count: int, takes: set[str]) -> Inputs:
    """The inputs with that many image tokens among the tokens of each text."""
    token = setting(config, "image_token_id", "image_token_index")
    if token is None or "input_ids" not in inputs or "pixel_values" not in inputs:
        return inputs
    ids = inputs["input_ids"]
    ids = torch.cat([ids[:, :BEFORE], torch.full((BATCH, count), token), ids[:, BEFORE:]], 1)
    result = {**inputs, "input_ids": ids, "attention_mask": torch.ones_like(ids)}
    for name in ("mm_token_type_ids", "token_type_ids"):
        if name in takes and (name.startswith("mm") or config.model_type in TYPED):
            result[name] = (ids == token).long()
    return result


def run(model: nn.Module, inputs: Mapping[str, Any]) -> Any:
    """The output of one pass, without a key-value cache."""
    with torch.no_grad():
        return model(**{**forward_options(model), **inputs})


def runnable(model: nn.Module) -> Inputs:
    """The first guess that runs.

    Raises:
        ValueError: if none runs, with the first error.
    """
    takes = set(inspect.signature(model.forward).parameters)
    errors: list[str] = []
    for guess in candidates(model):
        count = 1
        for _ in range(3):
            inputs = with_placeholders(model.config, guess, count, takes)
            try:
                run(model, inputs)
                return inputs
            except Exception as error:
                errors.append(f"{type(error).__name__}: {str(error).strip():.160}")
                match = MISMATCH.search(str(error))
                if match is None:
                    break
                features = int(match[2])  # some count numbers instead of vectors
                count = (features // 64 if features > 128 * BATCH else features) // BATCH
    raise ValueError(errors[0])


def padded(inputs: Inputs, *, left: bool) -> Inputs | None:
    """The same batch with a shorter second item; None if there is no mask to say so."""
    mask, ids = inputs.get("attention_mask"), inputs.get("input_ids")
    if mask is None or (left and ids is None):
        return None
    short = BEFORE if ids is not None else mask.shape[1] // 4
    mask = mask.clone()
    mask[1, slice(0, short) if left else slice(-short, None)] = 0
    ids = {} if ids is None else {"input_ids": ids.masked_fill(mask == 0, 0)}
    return {**inputs, "attention_mask": mask, **ids}
