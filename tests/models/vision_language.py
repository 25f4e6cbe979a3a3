"""Tiny checkpoints of vision-language families, each with its own config, processor and tokenizer.

Pictures are not square, and grids are not of the size of anything else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from tests.models.architectures import GROUPED, build

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
        stem: what the library's names of its classes begin with.
        sizes: what the config is given.
        reader: what the name of its image processor begins with.
        pictures: settings of that.
        grids: rows and columns of each grid of image tokens, in order, for the picture of `photo`;
            None where its image tokens have no places on the picture.
        options: settings of its processor.
        place: what its chat template writes for a picture; None without a template.
    """

    name: str
    stem: str
    sizes: Sizes
    reader: str
    pictures: Sizes
    grids: tuple[tuple[int, int], ...] | None
    options: Sizes = field(default_factory=dict)
    place: str | None = "<image>"

    def build(self) -> Any:
        """The model with weights drawn wide, in eval mode."""
        name = f"{self.stem}ForConditionalGeneration"
        return build(name, f"{self.stem}Config", self.sizes)

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
        kind = f"{self.reader}ImageProcessor"
        files: dict[str, Any] = {
            "tokenizer_config.json": own,
            "preprocessor_config.json": {"image_processor_type": kind, **self.pictures},
            "processor_config.json": {"processor_class": f"{self.stem}Processor", **self.options},
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


SQUARED = {"size": SQUARE, **MEAN_STD}
LARGE = {"height": 24, "width": 24}
TOWER: dict[str, Any] = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
TOWER |= {"intermediate_size": 28}
ENDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "max_position_embeddings": 128}
BOTH = {"image_token_index": IMAGE, "image_token_id": IMAGE}
LLAVA = {"vision_config": CLIP, "text_config": {**TEXT, "model_type": "llama"}, **BOTH}
LLAVA_PICTURES = {"size": {"shortest_edge": 20}, "crop_size": SQUARE, **MEAN_STD}
LLAVA_OPTIONS: dict[str, Any] = {"patch_size": 4, "vision_feature_select_strategy": "default"}
LLAVA_OPTIONS |= {"num_additional_image_tokens": 1, "image_token": "<image>"}
PINPOINTS = {"image_grid_pinpoints": [[20, 40], [40, 20], [40, 40]]}
GEMMA = {"boi_token_index": START, "eoi_token_index": END, "mm_tokens_per_image": 9}
QFORMER = {**TOWER, "vocab_size": 30, "encoder_hidden_size": 24, "cross_attention_frequency": 1}
OPT = {**TOWER, "model_type": "opt", "vocab_size": VOCAB, "word_embed_proj_dim": 24, "ffn_dim": 28}
MLLAMA_RATIOS = [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]]
MLLAMA_VISION: dict[str, Any] = {
    **TOWER,
    "num_global_layers": 1,
    "attention_heads": 3,
    "vision_output_dim": 72,
}
MLLAMA_VISION |= {"image_size": 20, "patch_size": 4, "max_num_tiles": 4}
MLLAMA_VISION |= {"intermediate_layers_indices": [0, 1], "supported_aspect_ratios": MLLAMA_RATIOS}
MLLAMA_TEXT: dict[str, Any] = {
    **GROUPED,
    "vocab_size": VOCAB,
    "num_hidden_layers": 3,
    "cross_attention_layers": [1],
}
MLLAMA_TEXT |= {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}
MLLAMA_TEXT |= {"max_position_embeddings": 512}
FLORENCE: dict[str, Any] = {
    "depths": [1, 1],
    "embed_dim": [12, 18],
    "num_heads": [3, 3],
    "num_groups": [2, 2],
}
FLORENCE |= {"patch_size": [7, 3], "patch_stride": [4, 2], "patch_padding": [3, 1]}
FLORENCE |= {"patch_prenorm": [False, True], "window_size": 2, "projection_dim": 30}
BART: dict[str, Any] = {
    "model_type": "bart",
    "vocab_size": VOCAB,
    "d_model": 30,
    "encoder_layers": 2,
}
BART |= {"decoder_layers": 2, "encoder_attention_heads": 3, "decoder_attention_heads": 5}
BART |= {"encoder_ffn_dim": 37, "decoder_ffn_dim": 31, **ENDS}
BART |= {"decoder_start_token_id": 2, "forced_eos_token_id": None}


def _qwen(name: str, stem: str, **vision: Any) -> Family:
    sizes = {"text_config": QWEN_TEXT, "vision_config": {**QWEN_VISION, **vision}, **QWEN_IDS}
    place = "<start_img><image><end_img>"
    return Family(name, stem, sizes, "Qwen2VL", QWEN_PICTURES, ((4, 6),), place=place)


def _idefics(name: str) -> Family:
    text = {**TEXT, "model_type": "llama", "pad_token_id": 0}
    sizes: dict[str, Any] = {"vision_config": IDEFICS_VISION, "text_config": text}
    sizes |= {"image_token_id": IMAGE, "scale_factor": 2}
    grids = ((4, 4),) * 7
    return Family(name, name, sizes, name, IDEFICS_PICTURES, grids, {"image_seq_len": 16})


NEWER = {"hidden_size": 24, "out_hidden_size": 48, "intermediate_size": 40}
FAMILIES = (
    Family("LLaVA", "Llava", LLAVA, "CLIP", LLAVA_PICTURES, ((5, 5),), LLAVA_OPTIONS),
    Family(
        "LLaVA-NeXT",
        "LlavaNext",
        {**LLAVA, **PINPOINTS},
        "LlavaNext",
        {**LLAVA_PICTURES, **PINPOINTS},
        ((5, 5), (6, 10)),
        LLAVA_OPTIONS,
    ),
    Family(
        "PaliGemma",
        "PaliGemma",
        {
            "vision_config": {**SIGLIP, "projection_dim": 48},
            "text_config": {**TEXT, "model_type": "gemma"},
            "projection_dim": 48,
            **BOTH,
        },
        "Siglip",
        {**SQUARED, "image_seq_length": 25},
        ((5, 5),),
        place=None,
    ),
    Family(
        "Gemma 3",
        "Gemma3",
        {
            "vision_config": {**SIGLIP, "image_size": 24},
            "text_config": {**TEXT, "model_type": "gemma3_text", "sliding_window": 16},
            **BOTH,
            **GEMMA,
        },
        "Gemma3",
        {**MEAN_STD, "size": LARGE},
        ((3, 3),),
        {"image_seq_length": 9},
        place="<start_img>",
    ),
    _qwen("Qwen2-VL", "Qwen2VL", embed_dim=24, hidden_size=48, mlp_ratio=2),
    _qwen("Qwen2.5-VL", "Qwen2_5_VL", **NEWER, window_size=16, fullatt_block_indexes=[1]),
    _qwen(
        "Qwen3-VL",
        "Qwen3VL",
        **NEWER,
        deepstack_visual_indexes=[0],
        num_position_embeddings=16,
    ),
    _idefics("Idefics3"),
    _idefics("SmolVLM"),
    Family(
        "InternVL",
        "InternVL",
        {
            "vision_config": {**TOWER, "image_size": [24, 24], "patch_size": [4, 4]},
            "text_config": {**TEXT, "model_type": "qwen2"},
            "image_token_id": IMAGE,
            "image_seq_length": 9,
            "downsample_ratio": 0.5,
        },
        "GotOcr2",
        {"size": LARGE, "min_patches": 1, "max_patches": 4, **MEAN_STD},
        ((3, 3),) * 3,
        {"image_seq_length": 9},
    ),
    Family(
        "BLIP-2",
        "Blip2",
        {
            "vision_config": {**CLIP, "model_type": "blip_2_vision_model"},
            "qformer_config": QFORMER,
            "text_config": {**OPT, **ENDS},
            "num_query_tokens": 7,
            "image_token_index": IMAGE,
        },
        "Blip",
        SQUARED,
        None,
        {"num_query_tokens": 7},
        place=None,
    ),
    Family(
        "Mllama",
        "Mllama",
        {
            "vision_config": MLLAMA_VISION,
            "text_config": MLLAMA_TEXT,
            "image_token_index": IMAGE,
        },
        "Mllama",
        {**SQUARED, "max_image_tiles": 4},
        ((5, 5),) * 4,
    ),
    Family(
        "Florence-2",
        "Florence2",
        {"vision_config": FLORENCE, "text_config": BART, "image_token_id": IMAGE},
        "CLIP",
        {**MEAN_STD, "size": LARGE, "crop_size": LARGE, "image_seq_length": 10},
        ((3, 3),),
        place=None,
    ),
)
BY_NAME = {family.name: family for family in FAMILIES}
