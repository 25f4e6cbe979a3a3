"""What the prompts of a checkpoint are written with: chat template, processor, special tokens."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.files.errors import CheckpointError
from models.files.folder import Folder
from models.preprocessing import FILE, NESTED

TEMPLATE, OLDER_TEMPLATE = "chat_template.jinja", "chat_template.json"
TOKENIZER, TOKENS = "tokenizer_config.json", "special_tokens_map.json"
GENERATION, VIDEO = "generation_config.json", "video_preprocessor_config.json"
MOST_CHARACTERS = 2**18  # of a template
PARTS = ("image_processor", "feature_extractor", "video_processor", "tokenizer", "audio_tokenizer")
NO_OPTIONS = ("processor_class", "auto_map", "chat_template", "custom_pipelines")
Tokens = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PromptSettings:
    """What the prompts of a checkpoint are written with.

    Attributes:
        template: of a chat, in Jinja; None if the checkpoint states none.
        processor: the class of its processor in transformers; None if it states none.
        options: JSON of the processor's own settings, those of its parts left out.
        tokens: names of special tokens, such as ("image_token", "<image>").
        ends: ids that end an answer, where the checkpoint states them.
        aligning: layer and head of each head that follows time, of a checkpoint of speech.
        video: JSON of the settings of its video processor.
    """

    template: str | None = None
    processor: str | None = None
    options: str = "{}"
    tokens: Tokens = ()
    ends: tuple[int, ...] = ()
    aligning: tuple[tuple[int, int], ...] = ()
    video: str = "{}"


def read_prompting(folder: Folder) -> PromptSettings:
    """The settings of a checkpoint folder.

    Raises:
        CheckpointError: for a file that cannot be read.
    """
    given = folder.json(NESTED) or {}
    tokenizer = folder.json(TOKENIZER) or {}
    named = given.get("processor_class", tokenizer.get("processor_class"))
    options = {key: value for key, value in given.items() if key not in (*PARTS, *NO_OPTIONS)}
    return PromptSettings(
        _template(folder, tokenizer),
        named if isinstance(named, str) else None,
        json.dumps(options, sort_keys=True),
        _tokens({**(folder.json(TOKENS) or {}), **tokenizer}),
        _ends(folder.json(GENERATION) or {}),
        _aligning(folder.json(GENERATION) or {}),
        json.dumps(_of_video(folder, given), sort_keys=True),
    )


def _of_video(folder: Folder, processor: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings of the video processor; where no file states them, those of pictures hold."""
    given = processor.get("video_processor") or folder.json(VIDEO) or folder.json(FILE) or {}
    return given if isinstance(given, Mapping) else {}


def _aligning(settings: Mapping[str, Any]) -> tuple[tuple[int, int], ...]:
    """The alignment heads of a generation_config.json: pairs of whole numbers."""
    given = settings.get("alignment_heads")
    pairs = given if isinstance(given, list) else []
    return tuple(
        (each[0], each[1])
        for each in pairs
        if isinstance(each, list) and [type(part) for part in each] == [int, int]
    )


def _ends(settings: Mapping[str, Any]) -> tuple[int, ...]:
    """The ids that end a text."""
    given = settings.get("eos_token_id")
    some = given if isinstance(given, list) else [given]
    return tuple(each for each in some if type(each) is int)


def _template(folder: Folder, tokenizer: Mapping[str, Any]) -> str | None:
    """The chat template; the one named "default" of several.

    Raises:
        CheckpointError: for a template that cannot be read or is too long.
    """
    file = folder.file(TEMPLATE)
    if file is not None:
        if file.stat().st_size > 4 * MOST_CHARACTERS:
            raise CheckpointError(f"{TEMPLATE} is longer than {MOST_CHARACTERS:,} characters")
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise CheckpointError(f"{TEMPLATE} cannot be read: {error}") from error
    older = folder.json(OLDER_TEMPLATE) or {}
    template = older.get("chat_template", tokenizer.get("chat_template"))
    if isinstance(template, list):
        named = [each for each in template if isinstance(each, Mapping)]
        template = next(
            (each.get("template") for each in named if each.get("name") == "default"), None
        )
    if not isinstance(template, str):
        return None
    if len(template) > MOST_CHARACTERS:
        raise CheckpointError(f"the chat template is longer than {MOST_CHARACTERS:,} characters")
    return template


def _tokens(settings: Mapping[str, Any]) -> Tokens:
    """Special tokens by name, those that only some models have included."""
    extra = settings.get("extra_special_tokens", settings.get("model_specific_special_tokens"))
    named = {**settings, **(extra if isinstance(extra, Mapping) else {})}
    tokens = {}
    for name, value in named.items():
        text = value.get("content") if isinstance(value, Mapping) else value
        if name.endswith("_token") and isinstance(text, str):
            tokens[name] = text
    return tuple(sorted(tokens.items()))
