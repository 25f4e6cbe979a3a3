"""Tiny checkpoints of vision-language families, each with its own config, processor and tokenizer.

Pictures are not square, and grids are not of the size of anything else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from tests.models.architectures import GROUPED, redraw

MEAN_STD = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
SENTENCE = "what is on the picture ? a dog cat sits here User : Assistant describe it and there"
WORDS = SENTENCE.split()
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>", "<image>", "<start_img>", "<end_img>", "<video>")
TILES = tuple(f"<row_{row}_col_{col}>" for row in range(1, 7) for col in range(1, 7))
FRAME = ("<fake_token_around_image>", "<global-img>", "<end_of_utterance>", *TILES)
LOCATIONS = tuple(f"<loc_{number}>" for number in range(8))
NAMES = {name: number for number, name in enumerate((*SPECIAL, *FRAME, *LOCATIONS, "\n", *WORDS))}
VOCAB = len(NAMES) + 1200  # PaliGemma's processor adds tokens of places and segments
IMAGE, START, END, VIDEO = (NAMES[n] for n in ("<image>", "<start_img>", "<end_img>", "<video>"))
TEMPLATE = (
    "{% for message in messages %}{{ message['role'].capitalize() + ' : ' }}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}PLACE{% elif part['type'] == 'video' %}FILM"
    "{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}\n{% endfor %}{% if add_generation_prompt %}{{ 'Assistant :' }}{% endif %}"
)

TEXT = {**GROUPED, "vocab_size": VOCAB, "head_dim": 8, "max_position_embeddings": 512}
CLIP = {
    "model_type": "clip_vision_model",
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "intermediate_size": 28,
    "image_size": 20,
    "patch_size": 4,
}
SIGLIP = {**CLIP, "model_type": "siglip_vision_model", "vision_use_head": False}
THREE_AXES = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4}
QWEN_TEXT = {**TEXT, "rope_parameters": THREE_AXES}
QWEN_VISION: dict[str, Any] = {
    "depth": 2,
    "num_heads": 2,
    "patch_size": 4,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "in_channels": 3,
}
QWEN_IDS = {
    "image_token_id": IMAGE,
    "video_token_id": VIDEO,
    "vision_start_token_id": START,
    "vision_end_token_id": END,
}
QWEN_SIZE = {"shortest_edge": 64, "longest_edge": 1600}
QWEN_PICTURES = {"size": QWEN_SIZE, "patch_size": 4, "merge_size": 2, "temporal_patch_size": 2}
IDEFICS_VISION = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 17,
    "image_size": 16,
    "patch_size": 2,
}
IDEFICS_PICTURES = {
    "size": {"longest_edge": 48},
    "max_image_size": {"longest_edge": 16},
    "do_image_splitting": True,
    "do_pad": True,
}
SQUARE = {"height": 20, "width": 20}
Sizes = Mapping[str, Any]


@dataclass(frozen=True)
class Family:
    """A vision-language family, tiny.

    Attributes:
        name: as people call it.
        model: the library's class.
        config: the library's class of its config.
        sizes: what the config is given.
        pictures: settings of its image processor.
        processor: settings of its processor.
        place: what its chat template writes for a picture; None without a template.
        grids: rows and columns of each grid of image tokens, in order, for the picture of `photo`;
            None where its image tokens have no places on the picture.
    """

    name: str
    model: str
    config: str
    sizes: Sizes
    pictures: Sizes
    processor: Sizes
    grids: tuple[tuple[int, int], ...] | None
    place: str | None = "<image>"

    def build(self) -> Any:
        """The model with weights drawn wide, in eval mode."""
        config = getattr(transformers, self.config)(**self.sizes)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(5)
            network = getattr(transformers, self.model)(config)
            redraw(network)
        return network.eval()

    def save(self, folder: Path) -> Path:
        """Writes a checkpoint folder."""
        self.build().save_pretrained(folder)
        tokenizer().save(str(folder / "tokenizer.json"))
        named = {"image_token": "<image>", "video_token": "<video>", "boi_token": "<start_img>"}
        named |= {"eoi_token": "<end_img>", "start_image_token": "<start_img>"}
        named |= {"end_image_token": "<end_img>", "context_image_token": "<image>"}
        own = {"tokenizer_class": "PreTrainedTokenizerFast", "extra_special_tokens": named}
        own |= {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
        if self.name == "BLIP-2":
            del named["image_token"]  # its processor adds the token itself
        files: dict[str, Any] = {
            "tokenizer_config.json": own,
            "preprocessor_config.json": dict(self.pictures),
            "processor_config.json": dict(self.processor),
        }
        for name, content in files.items():
            (folder / name).write_text(json.dumps(content))
        if self.place is not None:
            film = self.place.replace("<image>", "<video>")
            template = TEMPLATE.replace("PLACE", self.place).replace("FILM", film)
            (folder / "chat_template.jinja").write_text(template)
        return folder


def tokenizer() -> Tokenizer:
    """Words between spaces; every name of a special token is one token."""
    made = Tokenizer(models.WordLevel(NAMES, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split(" ", "removed")
    made.add_special_tokens([AddedToken(name, normalized=False) for name in (*SPECIAL, *FRAME)])
    made.add_tokens([AddedToken("\n", normalized=False)])
    return made


def photo(width: int = 50, height: int = 30, seed: int = 0) -> Image.Image:
    """A picture that is not square."""
    dice = np.random.default_rng(seed)
    return Image.fromarray(dice.integers(0, 256, (height, width, 3), dtype=np.uint8))


def _square(kind: str, **more: Any) -> dict[str, Any]:
    return {"image_processor_type": kind, "size": SQUARE, **MEAN_STD, **more}


_LLAVA = {
    "patch_size": 4,
    "vision_feature_select_strategy": "default",
    "num_additional_image_tokens": 1,
    "image_token": "<image>",
}
_LLAMA = {**TEXT, "model_type": "llama"}
_LLAVA_SIZES = {
    "vision_config": CLIP,
    "text_config": _LLAMA,
    "image_token_index": IMAGE,
    "image_token_id": IMAGE,
}
_IDEFICS_TEXT = {**TEXT, "model_type": "llama", "pad_token_id": 0}

FAMILIES = (
    Family(
        "LLaVA",
        "LlavaForConditionalGeneration",
        "LlavaConfig",
        _LLAVA_SIZES,
        {
            "image_processor_type": "CLIPImageProcessor",
            "size": {"shortest_edge": 20},
            "crop_size": SQUARE,
            **MEAN_STD,
        },
        {"processor_class": "LlavaProcessor", **_LLAVA},
        ((5, 5),),
    ),
    Family(
        "LLaVA-NeXT",
        "LlavaNextForConditionalGeneration",
        "LlavaNextConfig",
        {**_LLAVA_SIZES, "image_grid_pinpoints": [[20, 40], [40, 20], [40, 40]]},
        {
            "image_processor_type": "LlavaNextImageProcessor",
            "size": {"shortest_edge": 20},
            "crop_size": SQUARE,
            "image_grid_pinpoints": [[20, 40], [40, 20], [40, 40]],
            **MEAN_STD,
        },
        {"processor_class": "LlavaNextProcessor", **_LLAVA},
        ((5, 5), (6, 10)),
    ),
    Family(
        "PaliGemma",
        "PaliGemmaForConditionalGeneration",
        "PaliGemmaConfig",
        {
            "vision_config": {**SIGLIP, "projection_dim": 48},
            "text_config": {**TEXT, "model_type": "gemma"},
            "image_token_index": IMAGE,
            "image_token_id": IMAGE,
            "projection_dim": 48,
        },
        _square("SiglipImageProcessor", image_seq_length=25),
        {"processor_class": "PaliGemmaProcessor"},
        ((5, 5),),
        place=None,
    ),
    Family(
        "Gemma 3",
        "Gemma3ForConditionalGeneration",
        "Gemma3Config",
        {
            "vision_config": {**SIGLIP, "image_size": 24},
            "text_config": {**TEXT, "model_type": "gemma3_text", "sliding_window": 16},
            "image_token_id": IMAGE,
            "image_token_index": IMAGE,
            "boi_token_index": START,
            "eoi_token_index": END,
            "mm_tokens_per_image": 9,
        },
        _square("Gemma3ImageProcessor", size={"height": 24, "width": 24}),
        {"processor_class": "Gemma3Processor", "image_seq_length": 9},
        ((3, 3),),
        place="<start_img>",
    ),
    Family(
        "Qwen2-VL",
        "Qwen2VLForConditionalGeneration",
        "Qwen2VLConfig",
        {
            "text_config": QWEN_TEXT,
            "vision_config": {**QWEN_VISION, "embed_dim": 24, "hidden_size": 48, "mlp_ratio": 2},
            **QWEN_IDS,
        },
        {"image_processor_type": "Qwen2VLImageProcessor", **QWEN_PICTURES},
        {"processor_class": "Qwen2VLProcessor"},
        ((4, 6),),
        place="<start_img><image><end_img>",
    ),
    Family(
        "Qwen2.5-VL",
        "Qwen2_5_VLForConditionalGeneration",
        "Qwen2_5_VLConfig",
        {
            "text_config": QWEN_TEXT,
            "vision_config": {
                **QWEN_VISION,
                "hidden_size": 24,
                "out_hidden_size": 48,
                "intermediate_size": 40,
                "window_size": 16,
                "fullatt_block_indexes": [1],
            },
            **QWEN_IDS,
        },
        {"image_processor_type": "Qwen2VLImageProcessor", **QWEN_PICTURES},
        {"processor_class": "Qwen2_5_VLProcessor"},
        ((4, 6),),
        place="<start_img><image><end_img>",
    ),
    Family(
        "Qwen3-VL",
        "Qwen3VLForConditionalGeneration",
        "Qwen3VLConfig",
        {
            "text_config": QWEN_TEXT,
            "vision_config": {
                **QWEN_VISION,
                "hidden_size": 24,
                "out_hidden_size": 48,
                "intermediate_size": 40,
                "deepstack_visual_indexes": [0],
                "num_position_embeddings": 16,
            },
            **QWEN_IDS,
        },
        {"image_processor_type": "Qwen2VLImageProcessor", **QWEN_PICTURES},
        {"processor_class": "Qwen3VLProcessor"},
        ((4, 6),),
        place="<start_img><image><end_img>",
    ),
    Family(
        "Idefics3",
        "Idefics3ForConditionalGeneration",
        "Idefics3Config",
        {
            "vision_config": IDEFICS_VISION,
            "text_config": _IDEFICS_TEXT,
            "image_token_id": IMAGE,
            "scale_factor": 2,
        },
        {"image_processor_type": "Idefics3ImageProcessor", **IDEFICS_PICTURES},
        {"processor_class": "Idefics3Processor", "image_seq_len": 16},
        ((4, 4),) * 7,
    ),
    Family(
        "SmolVLM",
        "SmolVLMForConditionalGeneration",
        "SmolVLMConfig",
        {
            "vision_config": IDEFICS_VISION,
            "text_config": _IDEFICS_TEXT,
            "image_token_id": IMAGE,
            "scale_factor": 2,
        },
        {"image_processor_type": "SmolVLMImageProcessor", **IDEFICS_PICTURES},
        {"processor_class": "SmolVLMProcessor", "image_seq_len": 16},
        ((4, 4),) * 7,
    ),
    Family(
        "InternVL",
        "InternVLForConditionalGeneration",
        "InternVLConfig",
        {
            "vision_config": {
                "hidden_size": 24,
                "num_hidden_layers": 2,
                "num_attention_heads": 3,
                "intermediate_size": 28,
                "image_size": [24, 24],
                "patch_size": [4, 4],
            },
            "text_config": {**TEXT, "model_type": "qwen2"},
            "image_token_id": IMAGE,
            "image_seq_length": 9,
            "downsample_ratio": 0.5,
        },
        {
            "image_processor_type": "GotOcr2ImageProcessor",
            "size": {"height": 24, "width": 24},
            "min_patches": 1,
            "max_patches": 4,
            **MEAN_STD,
        },
        {"processor_class": "InternVLProcessor", "image_seq_length": 9},
        ((3, 3),) * 3,
    ),
    Family(
        "BLIP-2",
        "Blip2ForConditionalGeneration",
        "Blip2Config",
        {
            "vision_config": {**CLIP, "model_type": "blip_2_vision_model"},
            "qformer_config": {
                "vocab_size": 30,
                "hidden_size": 24,
                "num_hidden_layers": 2,
                "num_attention_heads": 3,
                "intermediate_size": 28,
                "encoder_hidden_size": 24,
                "cross_attention_frequency": 1,
            },
            "text_config": {
                "model_type": "opt",
                "vocab_size": VOCAB,
                "hidden_size": 24,
                "word_embed_proj_dim": 24,
                "num_hidden_layers": 2,
                "num_attention_heads": 3,
                "ffn_dim": 28,
                "max_position_embeddings": 128,
                "pad_token_id": 0,
                "bos_token_id": 1,
                "eos_token_id": 2,
            },
            "num_query_tokens": 7,
            "image_token_index": IMAGE,
        },
        _square("BlipImageProcessor"),
        {"processor_class": "Blip2Processor", "num_query_tokens": 7},
        None,
        place=None,
    ),
    Family(
        "Mllama",
        "MllamaForConditionalGeneration",
        "MllamaConfig",
        {
            "vision_config": {
                "hidden_size": 24,
                "num_hidden_layers": 2,
                "num_global_layers": 1,
                "attention_heads": 3,
                "intermediate_size": 28,
                "vision_output_dim": 72,
                "image_size": 20,
                "patch_size": 4,
                "max_num_tiles": 4,
                "intermediate_layers_indices": [0, 1],
                "supported_aspect_ratios": [
                    [1, 1],
                    [1, 2],
                    [1, 3],
                    [1, 4],
                    [2, 1],
                    [2, 2],
                    [3, 1],
                    [4, 1],
                ],
            },
            "text_config": {
                **GROUPED,
                "vocab_size": VOCAB,
                "num_hidden_layers": 3,
                "cross_attention_layers": [1],
                "max_position_embeddings": 512,
                "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
            },
            "image_token_index": IMAGE,
        },
        _square("MllamaImageProcessor", max_image_tiles=4),
        {"processor_class": "MllamaProcessor"},
        ((5, 5),) * 4,
    ),
    Family(
        "Florence-2",
        "Florence2ForConditionalGeneration",
        "Florence2Config",
        {
            "vision_config": {
                "depths": [1, 1],
                "embed_dim": [12, 18],
                "num_heads": [3, 3],
                "num_groups": [2, 2],
                "patch_size": [7, 3],
                "patch_stride": [4, 2],
                "patch_padding": [3, 1],
                "patch_prenorm": [False, True],
                "window_size": 2,
                "projection_dim": 30,
            },
            "text_config": {
                "model_type": "bart",
                "vocab_size": VOCAB,
                "d_model": 30,
                "encoder_layers": 2,
                "decoder_layers": 2,
                "encoder_attention_heads": 3,
                "decoder_attention_heads": 5,
                "encoder_ffn_dim": 37,
                "decoder_ffn_dim": 31,
                "max_position_embeddings": 128,
                "pad_token_id": 0,
                "bos_token_id": 1,
                "eos_token_id": 2,
                "decoder_start_token_id": 2,
                "forced_eos_token_id": None,
            },
            "image_token_id": IMAGE,
        },
        _square(
            "CLIPImageProcessor",
            size={"height": 24, "width": 24},
            crop_size={"height": 24, "width": 24},
            image_seq_length=10,
        ),
        {"processor_class": "Florence2Processor"},
        ((3, 3),),
        place=None,
    ),
)
BY_NAME = {family.name: family for family in FAMILIES}
