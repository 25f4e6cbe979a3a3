"""Tiny models of the library that the tables of tests/models/architectures.py do not have."""

from collections.abc import Mapping
from typing import Any

import torch
import transformers
from torch import Tensor

from tests.models.architectures import ARCHITECTURES, GROUPED, TEXT, VOCAB, build, drawn

IMAGE_TOKEN = 50
BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}


def ids(items: int, tokens: int, seed: int = 3) -> Tensor:
    dice = torch.Generator().manual_seed(seed)
    return torch.randint(3, IMAGE_TOKEN - 2, (items, tokens), generator=dice)


def normal(*shape: int, seed: int = 7) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def padded(items: int, tokens: int, padding: int, *, left: bool) -> dict[str, Tensor]:
    """Ids and their mask; the last item has padding in front or behind."""
    shown = torch.ones(items, tokens, dtype=torch.long)
    shown[-1, slice(0, padding) if left else slice(tokens - padding, None)] = 0
    return {"input_ids": ids(items, tokens) * shown, "attention_mask": shown}


def eager(model: Any, inputs: Mapping[str, Any]) -> Any:
    """The library's own output with eager attention, its weights included."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            return model(**inputs, output_attentions=True)
    finally:
        model.set_attn_implementation(before)


def qwen(family: str) -> Any:
    """A vision tower over packed patches, before a decoder."""
    decoder = {**GROUPED, "head_dim": 8}
    decoder["rope_parameters"] = {
        "rope_type": "default",
        "mrope_section": [1, 1, 2],
        "rope_theta": 1e4,
    }
    vision: dict[str, Any] = {
        "depth": 2,
        "num_heads": 3,
        "patch_size": 4,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "in_channels": 3,
    }
    if family == "Qwen2VL":
        vision |= {"embed_dim": 24, "hidden_size": 48, "mlp_ratio": 2}
    else:
        vision |= {"hidden_size": 24, "out_hidden_size": 48, "intermediate_size": 40}
    if family == "Qwen2_5_VL":
        vision |= {"window_size": 16, "fullatt_block_indexes": [1]}
    if family == "Qwen3VL":
        vision |= {"deepstack_visual_indexes": [0], "num_position_embeddings": 16, "num_heads": 2}
    tokens = {"image_token_id": IMAGE_TOKEN, "video_token_id": 51}
    tokens |= {"vision_start_token_id": 49, "vision_end_token_id": 48}
    return build(
        f"{family}ForConditionalGeneration",
        f"{family}Config",
        {"text_config": decoder, "vision_config": vision, **tokens},
    )


GRIDS = ((1, 4, 6), (1, 8, 4))


def images_in_text() -> dict[str, Tensor]:
    """One text with two images of different sizes."""
    grid = torch.tensor(GRIDS)
    row = [3, 49, *[IMAGE_TOKEN] * 6, 48, 4, 49, *[IMAGE_TOKEN] * 8, 48, 5]
    text = torch.tensor([row])
    return {
        "input_ids": text,
        "pixel_values": normal(int(grid.prod(-1).sum()), 3 * 2 * 4 * 4),
        "image_grid_thw": grid,
        "mm_token_type_ids": (text == IMAGE_TOKEN).int(),
    }


def bert_decoder() -> Any:
    return build(
        "BertModel", "BertConfig", {**TEXT, "is_decoder": True, "add_cross_attention": True}
    )


def gpt2_decoder() -> Any:
    sizes = {"vocab_size": VOCAB, "n_embd": 30, "n_layer": 2, "n_head": 3, "n_positions": 29}
    return build("GPT2Model", "GPT2Config", {**sizes, "add_cross_attention": True})


def sam() -> Any:
    """Its mask decoder crosses from the prompts to the image and back in one layer."""
    vision = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
    vision |= {"image_size": 32, "patch_size": 8, "output_channels": 16, "window_size": 2}
    vision |= {"global_attn_indexes": [0], "mlp_dim": 30, "num_pos_feats": 8}
    prompts = {"hidden_size": 16, "image_size": 32, "patch_size": 8, "mask_input_channels": 4}
    sizes = {"vision_config": vision, "prompt_encoder_config": prompts}
    return build("SamModel", "SamConfig", {**sizes, "mask_decoder_config": MASKS})


MASKS = {"hidden_size": 16, "num_attention_heads": 2, "mlp_dim": 20, "iou_head_hidden_dim": 20}


def prompted(side: int) -> dict[str, Tensor]:
    """A picture and one point in it."""
    return {"pixel_values": normal(1, 3, side, side), "input_points": normal(1, 1, 1, 2).abs() * 16}


def idefics3() -> Any:
    """A vision tower over all images of a text at once, before a decoder."""
    vision = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    vision |= {"intermediate_size": 17, "image_size": 16, "patch_size": 4}
    text = {**GROUPED, "model_type": "llama", "pad_token_id": 0}
    sizes = {"vision_config": vision, "text_config": text, "image_token_id": IMAGE_TOKEN}
    return build("Idefics3Model", "Idefics3Config", {**sizes, "scale_factor": 2})


def two_pictures() -> dict[str, Tensor]:
    """One text with two images of the same size."""
    row = [3, *[IMAGE_TOKEN] * 4, 4, *[IMAGE_TOKEN] * 4, 5]
    return {"input_ids": torch.tensor([row]), "pixel_values": normal(1, 2, 3, 16, 16)}


class Twice(transformers.BertModel):
    """Reads its own output once more: every layer runs in two parts."""

    def forward(self, input_ids: Any = None, *others: Any, **named: Any) -> Any:
        first: Any = super().forward(input_ids=input_ids)
        return super().forward(inputs_embeds=first.last_hidden_state)


def twice() -> Any:
    return drawn(Twice, transformers.BertConfig(**TEXT))


ADDRESSED = {  # models whose layers attend in several ways, with an input
    "SAM": lambda: (sam(), prompted(32)),
    "Idefics3": lambda: (idefics3(), two_pictures()),
    "Swin": lambda: (BY_NAME["Swin"].build(), BY_NAME["Swin"].inputs()),
    "BART": lambda: (BY_NAME["BART"].build(), BY_NAME["BART"].inputs()),
    "twice": lambda: (twice(), {"input_ids": ids(1, 7)}),
}
