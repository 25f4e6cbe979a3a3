"""Hostile checkpoints, generated: tiny whole ones of which one file is changed.

Numbers and types of config.json, depth of every JSON file, tokenizers and chat templates that loop,
panic or grow, names without end.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers

from models.inputs.prompt import Prompt
from models.loading import summary
from models.run import load, trace
from tests.models.architectures import Architecture

Change = Callable[[Path], Any]
FAMILIES = ("BERT", "ALBERT", "GPT-2", "Llama", "DeepSeek-V3", "ViT", "Swin", "T5", "Whisper")
NUMBERS = (10**7, 2**31 - 1, 10**30)
TYPES = ("wide", [5], {"a": 5}, -3, 0.5, [[]])
JSON_FILES = (
    *("config.json", "tokenizer_config.json", "generation_config.json", "chat_template.json"),
    *("preprocessor_config.json", "processor_config.json", "special_tokens_map.json"),
    "video_preprocessor_config.json",
)
LOOP = "{% for i in range(99999) %}{% for j in range(99999) %}X{% endfor %}{% endfor %}"
TEMPLATES = (
    *(LOOP, LOOP.replace("X", "{{ i }}"), "{{ 'a' * 10**10 }}", "{{ 'a' * 10**9 }}"),
    *("{{ [0] * 10**9 }}", "{{ (10**9) ** (10**8) }}", "{{ '%1000000000d' % 1 }}", "{{ 1 / 0 }}"),
    *("{{ range(10**9) | list }}", "{{ messages | batch(10**9) | list }}", "{% for %}"),
    *("{{ 'a'.ljust(10**10) }}", "{{ 'a' | center(10**9) }}", "{{ [[]] | sum(start=3) }}"),
    "{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}",
    "{% set n = namespace(a='aa') %}{% for i in range(60) %}{% set n.a = n.a + n.a %}{% endfor %}",
    "{{ raise_exception('two\nlines') }}",
    "{{ messages[9].content }}{{ nothing.at.all }}",
    "{{ ''.__class__.__mro__ }}",
    "{{ cycler.__init__.__globals__.os.system('true') }}",
)
A, B = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}
GROWING = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 1000}
TOKENIZERS: tuple[dict[str, Any], ...] = (
    *({"normalizer": {"type": "Precompiled", "precompiled_charsmap": c}} for c in ("AAAA", "=")),
    {"normalizer": {"type": "Sequence", "normalizers": [GROWING] * 4}},
    *(
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": r}, "behavior": "Isolated"}}
        | {"invert": False}
        for r in ("(a+)+$", "(?:a|aa)*+b|(a|a)*c", "(", "(?<=a{0,9999})b", "(((a*)*)*)*c")
    ),
    {"pre_tokenizer": {"type": "FixedLength", "length": 0}},
    {"post_processor": {"type": "TemplateProcessing", "single": [B], "pair": [A]}},
    {"decoder": {"type": "Strip", "content": "a", "start": 10**9, "stop": 10**9}},
    {"model": {"type": "Unigram", "unk_id": None, "vocab": []}},
    {"model": {"type": "Unigram", "unk_id": 7, "vocab": [["a", -1.0]]}},
    {"model": {"type": "BPE", "dropout": 2.0, "vocab": {"a": 0}, "merges": []}},
    {"model": {"type": "WordLevel", "vocab": {"a": 2**31}, "unk_token": "a"}},
    {"model": 5},
    {"added_tokens": [{"id": 2**32 - 1, "content": ""}]},
    {"added_tokens": "many"},
)


def save(architecture: Architecture, folder: Path) -> Path:
    """A tiny checkpoint with a tokenizer."""
    architecture.build().save_pretrained(folder)
    words = Tokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.save(str(folder / "tokenizer.json"))
    return folder


def cases(name: str, folder: Path) -> list[tuple[str, Change]]:
    """All changes of the checkpoint of a family; files beside config.json are those of Llama."""
    return [*configs(folder), *(others() if name == "Llama" else ())]


def configs(folder: Path) -> Iterator[tuple[str, Change]]:
    """Every setting of a config.json with numbers and types that are not its own."""
    settings = json.loads((folder / "config.json").read_text())
    for place, (key, value) in enumerate(settings.items()):
        if key not in ("model_type", "dtype", "transformers_version"):
            numbers = NUMBERS if type(value) is int else ()
            for other in (*numbers, TYPES[place % len(TYPES)]):
                yield f"{key} = {other!r:.20}", partial(change_config, **{key: other})


def others() -> Iterator[tuple[str, Change]]:
    """Changes of files that every checkpoint has, or may have."""
    for name in JSON_FILES:
        for depth in (70, 900, 99_999):
            text = '{"a":' * depth + "5" + "}" * depth
            yield f"{name}, {depth} deep", partial(_write, name, text)
        yield f"{name} of lists", partial(_write, name, "[" + "[]," * 10**6 + "1]")
        yield f"{name} of 2 lines", partial(_write, name, '{"a\n": 1\n}')
    for template in TEMPLATES:
        yield f"template {template:.50}", partial(_write, "chat_template.jinja", template)
    for change in TOKENIZERS:
        yield f"tokenizer {str(change)[:70]}", partial(_tokenizer, change)
    vocab = {f"{number:x}": number for number in range(10**6)}
    large = {"type": "WordLevel", "vocab": vocab, "unk_token": "0"}
    yield "tokenizer of a million words", partial(_tokenizer, {"model": large})
    for name in ("x{}", "layers.{}.weight", "h.{}.attn.bias", "embed.{}" + ".a" * 50):
        yield f"50,000 tensors {name}", partial(_names, name)


def change_config(folder: Path, **changes: Any) -> None:
    """Changes settings of a config.json."""
    _change(folder / "config.json", changes)


def _write(name: str, text: str, folder: Path) -> None:
    (folder / name).write_text(text)


def _tokenizer(changes: dict[str, Any], folder: Path) -> None:
    _change(folder / "tokenizer.json", changes)


def _change(file: Path, changes: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def _names(name: str, folder: Path) -> None:
    file = folder / "model.safetensors"
    more = {name.format(number): torch.zeros(1) for number in range(50_000)}
    save_file({**load_file(file), **more}, file, {"format": "pt"})


def outcome(folder: Path) -> str:
    """What opening and reading say: one line, or "opened"."""
    try:
        model = load(folder)
        reads = summary.reads(model)
        if model.tokenizer is not None:
            model.tokenizer.encode("b " + "a" * 40 + " b")
        if reads.text and not reads.target:
            trace(model, Prompt("a b"))
    except ValueError as error:
        return str(error)
    return "opened"
