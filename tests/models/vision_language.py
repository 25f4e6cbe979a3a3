"""Tiny checkpoints of vision-language families, each with its own config, processor and tokenizer.

Pictures are not square, and grids are not of the size of anything else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from tests.models.architectures import TABLES, build, sizes_of

SENTENCE = "what is on the picture ? a dog cat sits here User : Assistant describe it and there"
WORDS = SENTENCE.split()
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>", "<image>", "<start_img>", "<end_img>", "<video>")
TILES = tuple(f"<row_{row}_col_{col}>" for row in range(1, 7) for col in range(1, 7))
FRAME = ("<fake_token_around_image>", "<global-img>", "<end_of_utterance>", *TILES)
LOCATIONS = tuple(f"<loc_{number}>" for number in range(8))
NAMES = {name: number for number, name in enumerate((*SPECIAL, *FRAME, *LOCATIONS, "\n", *WORDS))}
VOCAB = len(NAMES) + 1200  # PaliGemma's processor adds tokens of places and segments
IMAGE, VIDEO = NAMES["<image>"], NAMES["<video>"]
ID = ("_token_id", "_token_index")
TEMPLATE = (
    "{% for message in messages %}{{ message['role'].capitalize() + ' : ' }}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}PLACE{% elif part['type'] == 'video' %}FILM"
    "{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}\n{% endfor %}{% if add_generation_prompt %}{{ 'Assistant :' }}{% endif %}"
)


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
        processor: settings of its processor.
        place: what its chat template writes for a picture; None without a template.
    """

    name: str
    stem: str
    sizes: Mapping[str, Any]
    reader: str
    pictures: Mapping[str, Any]
    grids: list[list[int]] | None
    processor: Mapping[str, Any]
    place: str | None

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
            "processor_config.json": {"processor_class": f"{self.stem}Processor", **self.processor},
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


def with_ids(sizes: Any) -> Any:
    """Sizes with ids in the place of tokens."""
    if not isinstance(sizes, dict):
        return sizes
    ids = {name: NAMES[each] for name, each in sizes.items() if name.endswith(ID) and each in NAMES}
    return {name: with_ids(each) for name, each in sizes.items()} | ids


def family(name: str, table: Mapping[str, Any]) -> Family:
    """That of a table of tiny.toml."""
    given: dict[str, Any] = {"place": "<image>", "grids": None, "processor": {}} | sizes_of(table)
    return Family(name=name, **{**given, "sizes": with_ids(given["sizes"])})


FAMILIES = tuple(family(*each) for each in TABLES["family"].items())
BY_NAME = {family.name: family for family in FAMILIES}
