"""Inputs of any transformers model, by what its forward takes.

A batch of two, in several guesses; the first that the library's own model runs is used. Texts of
models with images or sound hold as many placeholder tokens as the model has features for them.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.coverage.tiny import PATCH, WIDTH
from benchmarks.coverage.type_inputs import (
    BATCH,
    INPUTS,
    TARGET,
    TOKENS,
    Inputs,
    dice,
    draw_ids,
    normal,
)

SHORT = 4  # how many tokens fewer the second text has


def takes_of(model: nn.Module) -> tuple[set[str], set[str]]:
    """Names that forward takes, and those without a default."""
    named = inspect.signature(model.forward).parameters
    plain = {n: p for n, p in named.items() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    return set(plain), {n for n, p in plain.items() if p.default is p.empty}


def setting(config: Any, *names: str, default: Any = None, parts: tuple[str, ...] = ()) -> Any:
    """The first of these settings that is there, in the config's parts or in itself."""
    nested = [getattr(config, part, None) for part in parts]
    nested += [config, *(getattr(config, part, None) for part in config.sub_configs)]
    for name in names:
        for one in nested:
            value = getattr(one, name, None) if one is not None else None
            if value is not None and not isinstance(value, bool):
                return value
    return default


def candidates(model: nn.Module) -> Iterator[Inputs]:
    """Guesses at inputs, the fullest first."""
    takes, required = takes_of(model)
    config: Any = model.config
    if config.model_type in INPUTS:
        yield from INPUTS[config.model_type](config)
        return
    groups: list[Inputs] = []
    text = _texts(config, takes)
    images = list(_images(config, takes))
    sounds = list(_sounds(config, takes))
    videos = list(_videos(config, takes))
    rest = _rest(config, takes, required)
    whole = [g for g in ([text] if text else [], images, sounds) if g]
    if whole:
        groups += [_merged(parts) for parts in product(*whole)]
    if text:
        groups += [_merged((text, part)) for part in (*images, *sounds, *videos)]
    groups += [*images, *videos, *sounds]
    groups += [text] if text else []
    groups += [{}]
    for group in groups:
        yield {**rest, **group}


def _merged(parts: Any) -> Inputs:
    merged: Inputs = {}
    for part in parts:
        merged |= part
    return merged


# --- text -----------------------------------------------------------------------------------------


def _texts(config: Any, takes: set[str]) -> Inputs:
    inputs: Inputs = {}
    if "input_ids" in takes:
        ids = draw_ids(TOKENS)
        inputs = {"input_ids": ids}
        if "attention_mask" in takes:
            inputs["attention_mask"] = torch.ones_like(ids)
    if "decoder_input_ids" in takes:
        inputs["decoder_input_ids"] = draw_ids(TARGET, 4)
        if config.model_type == "dia":
            channels = setting(config, "num_channels")
            inputs["decoder_input_ids"] = draw_ids(TARGET * channels, 4).view(
                BATCH, TARGET, channels
            )
    if "image_embeds_position_mask" in takes and inputs:
        mask = torch.zeros_like(inputs["input_ids"])
        mask[:, 1 : 1 + setting(config, "latent_query_num", default=4)] = 1
        inputs["image_embeds_position_mask"] = mask
    if "bbox" in takes:
        corner = torch.randint(0, 40, (BATCH, TOKENS, 2), generator=dice(5))
        inputs["bbox"] = torch.cat([corner, corner + 9], -1)
        if config.model_type == "bros":
            inputs["bbox"] = inputs["bbox"].float() / 50
    return inputs


# --- images ---------------------------------------------------------------------------------------

SEEING = (
    "vision_config",
    "visual_config",
    "image_config",
    "vision_encoder_config",
    "backbone_config",
)


def _side(value: Any, default: int) -> int:
    value = max(value) if isinstance(value, list | tuple) and value else value
    return value if isinstance(value, int) and value > 0 else default


def _sides(value: Any) -> tuple[int, int]:
    if isinstance(value, list | tuple) and len(value) > 1:
        return _side(value[-2], 64), _side(value[-1], 64)
    return _side(value, 64), _side(value, 64)


def _images(config: Any, takes: set[str]) -> Iterator[Inputs]:
    names = ("image_size", "img_size", "input_resolution", "pretrain_image_size")
    size = setting(config, *names, parts=SEEING, default=64)
    rows, cols = _sides(size)
    patch = _side(setting(config, "patch_size", parts=SEEING), PATCH)
    channels = _side(setting(config, "num_channels", "in_channels", "in_chans", parts=SEEING), 3)
    channels = channels if channels <= 4 else 3
    time = _side(setting(config, "temporal_patch_size", parts=SEEING), 1)
    cells = channels * patch * patch
    for name in ("image_grid_thw", "grid_thw", "image_grid_hws", "grid_hws"):
        key = "hidden_states" if "hidden_states" in takes else "pixel_values"
        if name in takes and (key in takes):
            grid = torch.tensor([[1, 4, 4]] * BATCH)
            grid = grid[:, 1:] if name.endswith("hws") else grid
            more = {"merge_sizes": torch.tensor([2] * BATCH)} if "merge_sizes" in takes else {}
            yield {key: normal(BATCH * 16, cells * time), name: grid, **more}
            yield {key: normal(BATCH * 16, channels, patch, patch), name: grid}
            yield {key: normal(1, BATCH * 16, channels, patch, patch), name: grid}
            yield {key: normal(BATCH * 16, cells), name: grid}
            yield {key: normal(BATCH * 16, cells * 2), name: grid}
            yield {key: normal(BATCH, 16, cells * time), name: grid}
    if "spatial_shapes" in takes:
        mask = torch.ones(BATCH, 16, dtype=torch.long)
        masks = {n: mask for n in ("pixel_attention_mask", "attention_mask") if n in takes}
        masks = {"pixel_attention_mask": mask} if "pixel_attention_mask" in takes else masks
        if "input_ids" in takes:
            masks.pop("attention_mask", None)
        shapes = {"spatial_shapes": torch.tensor([[4, 4]] * BATCH)}
        yield {"pixel_values": normal(BATCH, 16, cells), **masks, **shapes}
    for name in ("pixel_position_ids", "image_position_ids"):
        if name in takes:
            places = torch.cartesian_prod(torch.arange(4), torch.arange(4))
            yield {
                "pixel_values": normal(BATCH, 16, cells).sigmoid(),
                name: places.expand(BATCH, -1, -1),
            }
    if "flattened_patches" in takes:
        places = torch.cartesian_prod(torch.arange(1, 5), torch.arange(1, 5)).float()
        flat = torch.cat([places.expand(BATCH, -1, -1), normal(BATCH, 16, cells)], -1)
        attention_mask = (
            {"attention_mask": torch.ones(BATCH, 16)} if "input_ids" not in takes else {}
        )
        yield {"flattened_patches": flat, **attention_mask}
    if "image_sizes" in takes and "pixel_values" in takes:
        sizes = torch.tensor([[rows, cols]] * BATCH)
        yield {"pixel_values": normal(BATCH, 5, channels, rows, cols), "image_sizes": sizes}
        yield {"pixel_values": normal(BATCH, 3, channels, rows, cols), "image_sizes": sizes}
        yield {"pixel_values": normal(BATCH, 2, channels, rows, cols), "image_sizes": sizes}
        yield {"pixel_values": normal(BATCH, channels, rows, cols), "image_sizes": sizes}
    if "pixel_values" in takes:
        more: Inputs = {}
        if "image_attention_mask" in takes:
            more["image_attention_mask"] = torch.ones(BATCH, TOKENS, 1, dtype=torch.long)
            yield {"pixel_values": normal(BATCH, 1, channels, rows, cols), **more}
        if "aspect_ratio_ids" in takes:
            more["aspect_ratio_ids"] = torch.ones(BATCH, 1, dtype=torch.long)
            more["aspect_ratio_mask"] = torch.ones(BATCH, 1, 4, dtype=torch.long)
            if "input_ids" in takes:
                more["cross_attention_mask"] = torch.ones(BATCH, TOKENS, 1, 4, dtype=torch.long)
            yield {"pixel_values": normal(BATCH, 1, 4, channels, rows, cols), **more}
            more["aspect_ratio_mask"] = torch.ones(BATCH, 4, dtype=torch.long)
        yield {"pixel_values": normal(BATCH, channels, rows, cols), **more}
        frames = _side(setting(config, "num_frames", "num_image_with_embedding"), 2)
        yield {"pixel_values": normal(BATCH, frames, channels, rows, cols), **more}
        yield {"pixel_values": normal(BATCH, 1, channels, rows, cols), **more}
        yield {"pixel_values": normal(BATCH, channels, 2 * rows, 2 * cols), **more}
        yield {"pixel_values": normal(BATCH, channels, 8 * rows, 8 * cols), **more}
    if "image" in takes:
        yield {"image": normal(BATCH, channels, rows, cols)}


def _videos(config: Any, takes: set[str]) -> Iterator[Inputs]:
    for name in ("pixel_values_videos", "video_values"):
        if name in takes:
            side = _side(setting(config, "image_size", "crop_size", parts=SEEING), 32)
            frames = _side(setting(config, "num_frames", "frames_per_clip"), 2)
            yield {name: normal(BATCH, frames, 3, side, side)}
            yield {name: normal(BATCH, 4, 3, side, side)}


# --- sound ----------------------------------------------------------------------------------------

SOUND_MASKS = ("feature_attention_mask", "input_features_mask", "audio_attention_mask")
HEARING = ("audio_config", "encoder_config", "audio_encoder_config", "speech_config")


def _sounds(config: Any, takes: set[str]) -> Iterator[Inputs]:
    names = ("num_mel_bins", "feature_size", "input_feat_per_channel", "mel_bins", "n_mels")
    names += ("feature_projection_input_dim", "input_dim", "mel_dim", "num_mels")
    bins = _side(setting(config, *names, parts=HEARING), 80)
    source = 2 * _side(setting(config, "max_source_positions", parts=HEARING), 0)
    lengths = [n for n in (source, 64, 200) if n]
    several = [bins] if bins != 80 else [80, 128, 64]
    for name in ("input_features", "audio_values", "input_values", "audio_input_features"):
        if name not in takes:
            continue
        feature = "features" in name
        for length in lengths if feature else ():
            shapes = [(BATCH, n, length) for n in several]
            shapes += [(BATCH, length, n) for n in (*several, 2 * bins)]
            for shape in shapes:
                more: Inputs = {}
                for mask in SOUND_MASKS:
                    if mask in takes:
                        more[mask] = torch.ones(BATCH, length, dtype=torch.long)
                if "input_ids" not in takes and "attention_mask" in takes:
                    more["attention_mask"] = torch.ones(BATCH, length, dtype=torch.long)
                yield {name: normal(*shape), **more}
        if not feature:
            most = _side(setting(config, "max_length"), 64)
            wave: Inputs = {name: normal(BATCH, 1600)}
            if "attention_mask" in takes and "input_ids" not in takes:
                yield {**wave, "attention_mask": torch.ones(BATCH, 1600, dtype=torch.long)}
            yield wave
            yield {name: normal(BATCH, 1, 1600)}
            yield {name: normal(BATCH, most, bins)}
            yield {name: normal(BATCH, 16000)}
        else:
            yield {name: normal(BATCH, 1, 64, bins)}
            yield {name: normal(BATCH, 1, 1024, bins)}


# --- what else forward asks for -------------------------------------------------------------------


def _rest(config: Any, takes: set[str], required: set[str]) -> Inputs:
    width = _side(setting(config, "hidden_size", "d_model"), WIDTH)
    other = _side(setting(config, "encoder_hidden_size", "cross_attention_hidden_size"), width)
    states = setting(config, "input_dim", default=width)
    makers: dict[str, Callable[[], Any]] = {
        "inputs_embeds": lambda: normal(BATCH, TOKENS, width),
        "hidden_states": lambda: normal(BATCH, TOKENS, states),
        "encoder_hidden_states": lambda: normal(BATCH, 6, other),
        "query_embeds": lambda: normal(BATCH, 5, width),
        "attention_mask": lambda: torch.ones(BATCH, TOKENS, dtype=torch.long),
        "context": lambda: normal(BATCH, 6, other),
        "visual_feats": lambda: normal(BATCH, 6, config.visual_feat_dim),
        "visual_pos": lambda: normal(BATCH, 6, config.visual_pos_dim),
        "inputs": lambda: normal(BATCH, TOKENS, config.d_model),
        "qformer_input_ids": lambda: draw_ids(6, 9),
        "text_embeds": lambda: normal(BATCH, 6, width),
    }
    wanted = set(required) - {"input_ids", "pixel_values"}
    wanted |= takes & {"visual_feats", "visual_pos", "qformer_input_ids"}
    wanted |= {"encoder_hidden_states"} & takes if "query_embeds" in takes else set()
    return {name: makers[name]() for name in sorted(wanted) if name in makers}


# --- placeholders ---------------------------------------------------------------------------------

MISMATCH = re.compile(r"tokens:? *\[?(\d+).*?features:? *\(?(?:torch\.Size\(\[)?(\d+)", re.DOTALL)
PLACES = {
    "image": ("image_token_id", "image_token_index", "media_placeholder_token_id", "img_token_id"),
    "audio": ("audio_token_id", "audio_token_index", "speech_token_id"),
    "video": ("video_token_id", "video_token_index"),
}


def with_placeholders(config: Any, inputs: Inputs, counts: dict[str, int]) -> Inputs:
    """The inputs with that many placeholder tokens after the third token of each text."""
    tokens = []
    for what, names in PLACES.items():
        token = setting(config, *names)
        if token is not None and counts.get(what):
            tokens += [int(token)] * counts[what]
    if not tokens or "input_ids" not in inputs:
        return inputs
    ids = inputs["input_ids"]
    middle = torch.tensor(tokens).expand(len(ids), -1)
    ids = torch.cat([ids[:, :3], middle, ids[:, 3:]], 1)
    result = {**inputs, "input_ids": ids}
    if "attention_mask" in inputs:
        result["attention_mask"] = torch.ones_like(ids)
    for name in ("mm_token_type_ids", "token_type_ids"):
        kind = torch.zeros_like(ids)
        kind[:, 3 : 3 + len(tokens)] = 1
        result[f"optional {name}"] = kind
    return result


def runnable(model: nn.Module, run: Callable[[Inputs], Any]) -> tuple[Inputs, Any, list[str]]:
    """The first guess that runs, what it gave, and the errors on the way.

    Raises:
        ValueError: if none runs.
    """
    takes, _ = takes_of(model)
    config: Any = model.config
    errors: list[str] = []
    for guess in candidates(model):
        sees = any(n.startswith("pixel_values") for n in guess)
        hears = any("features" in n or ("values" in n and "pixel" not in n) for n in guess)
        counts: dict[str, int] = {}
        if "input_ids" in guess and (sees or hears):
            videos = any("video" in n for n in guess)
            counts = {"video" if videos else "image": int(sees), "audio": int(hears)}
        for _ in range(4):
            inputs = with_placeholders(config, guess, counts)
            optional = {n: v for n, v in inputs.items() if n.startswith("optional ")}
            inputs = {n: v for n, v in inputs.items() if n not in optional}
            named = {n.split()[1]: v for n, v in optional.items()}
            if "mm_token_type_ids" in takes and "mm_token_type_ids" in named:
                inputs["mm_token_type_ids"] = named["mm_token_type_ids"]
            elif "token_type_ids" in takes and named and config.model_type in TYPED:
                inputs["token_type_ids"] = named["token_type_ids"]
            try:
                return inputs, run(inputs), errors
            except Exception as error:
                line = f"{type(error).__name__}: {str(error).strip()[:160]}"
                errors.append(line)
                match = MISMATCH.search(str(error))
                if match is None or not counts:
                    break
                features, what = int(match[2]), "audio" if not sees else "image"
                what = "audio" if "udio" in str(error) else what
                what = "video" if "ideo" in str(error) else what
                if features > 128 * BATCH:  # some count numbers instead of vectors
                    features //= WIDTH
                counts[what] = features // BATCH
    raise ValueError(errors[0] if errors else "no input to guess at", *errors[1:])


TYPED = ("gemma3", "paligemma", "shieldgemma2", "colpali", "t5gemma2")


# --- variations -----------------------------------------------------------------------------------


def padded(inputs: Inputs, left: bool) -> Inputs | None:
    """The same batch with a shorter second item; None if there is no mask to say so."""
    mask = inputs.get("attention_mask")
    if not isinstance(mask, Tensor) or mask.ndim != 2 or not bool(mask.all()):
        return None
    short = SHORT if mask.shape[1] < 100 else mask.shape[1] // 4
    where = slice(0, short) if left else slice(mask.shape[1] - short, None)
    ids = inputs.get("input_ids")
    if left and (ids is None or not bool((ids[:, :short] < 60).all())):
        if ids is None:
            return None
        short = 3  # the tokens before the placeholders
        where = slice(0, short)
    mask = mask.clone()
    mask[1, where] = 0
    result = {**inputs, "attention_mask": mask}
    if ids is not None and ids.shape == mask.shape:
        result["input_ids"] = ids.masked_fill(mask == 0, 0)
    return result


def alone(inputs: Inputs) -> Inputs | None:
    """The second item by itself, without its padding; None where items cannot be told apart."""
    mask = inputs.get("attention_mask")
    mask = mask if isinstance(mask, Tensor) else None
    kept = slice(None) if mask is None else mask[1].nonzero().flatten()
    length = None if mask is None else mask.shape[1]
    result: Inputs = {}
    for name, value in inputs.items():
        if not isinstance(value, Tensor):
            result[name] = value
            continue
        if len(value) != BATCH:
            return None
        part = value[1:2]
        if (
            length is not None
            and value.ndim > 1
            and value.shape[1] == length
            and "pixel" not in name
        ):
            part = part[:, kept]
        result[name] = part
    return result
