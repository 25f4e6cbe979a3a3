"""Targets of translators, as the library's tokenizers and networks read them."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers import AutoTokenizer, MBart50Tokenizer, MBartTokenizer
from transformers.models.m2m_100.modeling_m2m_100 import shift_tokens_right

from models.model import Model
from models.run import load, trace
from tests.models.architectures import BARTISH, build
from tests.models.vocabularies import PIECES, nllb

SOURCE, TARGET = "hi boy", "i by"
HERE = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}


def scored(kind: Any, **options: Any) -> Any:
    return kind(vocab=[(piece, -1.0) for piece in PIECES], **options)


class Bytes(transformers.ByT5Tokenizer):
    """A tokenizer in Python, with the code of a language before a text, as M2M100 has it."""

    lang_code_to_id = {"en": 259, "fr": 260, "de": 261}  # noqa: RUF012

    def __init__(self, tgt_lang: str | None = None, **options: Any) -> None:
        self.tgt_lang, self.code = tgt_lang, 259
        super().__init__(**options)

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        return [self.code, *super().build_inputs_with_special_tokens(token_ids_0, token_ids_1)]

    def _switch_to_input_mode(self) -> None:
        self.code = 259

    def _switch_to_target_mode(self) -> None:
        self.code = self.lang_code_to_id[self.tgt_lang or "en"]


TOKENIZERS: dict[str, Any] = {
    "NLLB": (nllb, "M2M100", "eng_Latn", "fra_Latn", "deu_Latn"),
    "mBART-50": (lambda **o: scored(MBart50Tokenizer, **o), "MBart", "en_XX", "fr_XX", "de_DE"),
    "mBART": (lambda **o: scored(MBartTokenizer, **o), "MBart", "en_XX", "fr_XX", "de_DE"),
    "in Python": (lambda src_lang, tgt_lang: Bytes(tgt_lang), "M2M100", "en", "fr", "de"),
}


def opened(name: str, folder: Path, target: str | None) -> tuple[Model, Any]:
    """A model, and the library's tokenizer of it, for targets in a language."""
    make, kind, source, *_ = TOKENIZERS[name]
    tokenizer = make(src_lang=source, tgt_lang=target)
    sizes = {**BARTISH, **HERE, "vocab_size": len(tokenizer) + 1}
    network = build(f"{kind}ForConditionalGeneration", f"{kind}Config", sizes)
    if name == "in Python":
        return load(network, tokenizer=tokenizer), make(source, target)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load(folder), AutoTokenizer.from_pretrained(folder)


def read(model: Model, *texts: str) -> list[int]:
    tokens = trace(model, *texts).target_tokens
    assert tokens is not None
    return list(tokens[0].ids)


def expected(model: Model, tokenizer: Any) -> list[int]:
    labels = torch.tensor([tokenizer(text_target=TARGET).input_ids])
    shift = getattr(model.network, "prepare_decoder_input_ids_from_labels", None)
    return (shift(labels) if shift else shift_tokens_right(labels, 1, 2))[0].tolist()


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_target_is_read_in_its_language(name: str, tmp_path: Path) -> None:
    *_, stated, other = TOKENIZERS[name]
    model, tokenizer = opened(name, tmp_path, stated)
    assert read(model, SOURCE, TARGET) == expected(model, tokenizer)
    tokenizer.tgt_lang = other
    assert read(model.into(other), SOURCE, TARGET) == expected(model, tokenizer)
    assert model.into(other).languages == model.languages
    assert not model.language
    source = trace(model.into(other), SOURCE).tokens[0].ids
    assert list(source) == tokenizer(SOURCE).input_ids


@pytest.mark.parametrize("name", TOKENIZERS)
def test_what_is_written_begins_with_the_language(name: str, tmp_path: Path) -> None:
    *_, other = TOKENIZERS[name]
    model, tokenizer = opened(name, tmp_path, None)
    code = 261 if name == "in Python" else tokenizer.convert_tokens_to_ids(other)
    forced = "decoder_start_token_id" if name == "mBART" else "forced_bos_token_id"
    for settings in ({}, {forced: code}):
        given = torch.tensor([tokenizer(SOURCE).input_ids])
        ids = read(model.into(other) if settings else model, SOURCE)
        options: Any = {"do_sample": False, "num_beams": 1, "max_new_tokens": len(ids), **settings}
        assert model.network.generate(given, **options)[0, : len(ids)].tolist() == ids
    assert ids[0 if name == "mBART" else 1] == code


def test_a_target_without_a_language_is_refused_unless_the_config_tells(tmp_path: Path) -> None:
    model, tokenizer = opened("mBART-50", tmp_path, None)
    with pytest.raises(
        ValueError, match=r"choose its language, .* writes 52; .* model.into\('ar_AR'\)"
    ):
        trace(model, SOURCE, TARGET)
    model.network.generation_config.forced_bos_token_id = tokenizer.convert_tokens_to_ids("fr_XX")
    tokenizer.tgt_lang = "fr_XX"
    assert read(model, SOURCE, TARGET) == expected(model, tokenizer)
    with pytest.raises(ValueError, match=r"language: expected one of 52, such as fr_XX.*received"):
        model.into("fr")
    with pytest.raises(ValueError, match="has no languages to choose from"):
        load("dates").into("fr")
