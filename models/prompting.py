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
# Settings by which a model writes the likeliest token each time; others fetch, compile, measure or
# search.
WRITING = frozenset(
    {"bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"}
    | {"forced_bos_token_id", "forced_eos_token_id", "forced_decoder_ids"}
    | {"suppress_tokens", "begin_suppress_tokens", "bad_words_ids", "sequence_bias"}
    | {"repetition_penalty", "no_repeat_ngram_size", "min_length", "min_new_tokens"}
    | {"encoder_repetition_penalty", "encoder_no_repeat_ngram_size", "guidance_scale"}
    | {"exponential_decay_length_penalty", "remove_invalid_values", "renormalize_logits"}
    | {"do_sample", "num_beams"}  # which are told
    | {"language", "task", "is_multilingual", "lang_to_id", "task_to_id", "return_timestamps"}
    | {"no_timestamps_token_id", "max_initial_timestamp_index", "prev_sot_token_id"}
    | {"alignment_heads"}
)
DECODERS = ("decoder", "text_config")  # of a config.json, which may state them for the decoder
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
        generation: JSON of the settings by which the checkpoint writes.
        video: JSON of the settings of its video processor.
        trusted: whether the template may run in this process, see `models.confined`.
    """

    template: str | None = None
    processor: str | None = None
    options: str = "{}"
    tokens: Tokens = ()
    generation: str = "{}"
    video: str = "{}"
    trusted: bool = False


def read_prompting(folder: Folder) -> PromptSettings:
    """The settings of a checkpoint folder.

    Raises:
        CheckpointError: for a file that cannot be read.
    """
    given = folder.json(NESTED) or {}
    tokenizer = folder.json(TOKENIZER) or {}
    # where no file states how videos are processed, the settings of pictures hold
    video = given.get("video_processor") or folder.json(VIDEO) or folder.json(FILE)
    named = given.get("processor_class", tokenizer.get("processor_class"))
    options = {key: value for key, value in given.items() if key not in (*PARTS, *NO_OPTIONS)}
    return PromptSettings(
        _template(folder, tokenizer),
        named if isinstance(named, str) else None,
        json.dumps(options, sort_keys=True),
        _tokens({**(folder.json(TOKENS) or {}), **tokenizer}),
        json.dumps(_generation(folder), sort_keys=True),
        json.dumps(video if isinstance(video, Mapping) else {}, sort_keys=True),
        folder.trusted,
    )


def _generation(folder: Folder) -> dict[str, Any]:
    """The settings by which a checkpoint writes; older ones state them in config.json."""
    stated = folder.json(GENERATION)
    if stated is not None:
        return of_writing(stated)
    config = folder.json("config.json") or {}
    nested = (config.get(name) for name in DECODERS)
    parts = [config, *(part for part in nested if isinstance(part, Mapping))]
    return {name: value for part in reversed(parts) for name, value in of_writing(part).items()}


def of_writing(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a generation config that are used."""
    return {n: value for n, value in settings.items() if n in WRITING and value is not None}


def _template(folder: Folder, tokenizer: Mapping[str, Any]) -> str | None:
    """The chat template; the one named "default" of several."""
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
