"""`load(model, tokenizer=…)`: what people have in hand, against the tokenizer's own ids."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertModel,
    ByT5Tokenizer,
    CanineTokenizer,
    T5Config,
    T5ForConditionalGeneration,
)

from models.catalogue import entry, folder
from models.pretrained.tokenizers import tokenizer_of
from models.run import load, trace

TEXT, PAIR = "The Überraschung didn't tire", "it was late"
SIZES: dict[str, Any] = {"hidden_size": 35, "num_hidden_layers": 2, "num_attention_heads": 5}


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer alone."""
    path = tmp_path_factory.mktemp("tokenizer")
    AutoTokenizer.from_pretrained(folder(entry("minilm"))).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def bert() -> Any:
    return BertModel(BertConfig(vocab_size=30522, intermediate_size=53, **SIZES)).eval()


def test_a_fast_tokenizer(bert: Any, minilm: Path) -> None:
    fast = AutoTokenizer.from_pretrained(minilm)
    fast.backend_tokenizer.enable_truncation(5)
    before = fast.backend_tokenizer.to_str()
    found = trace(load(bert, tokenizer=fast), (TEXT, PAIR))
    assert fast.backend_tokenizer.to_str() == before
    assert list(found.tokens[0].ids) == fast(TEXT, PAIR)["input_ids"]  # which cuts nothing off
    assert "Über" in "".join(found.labels)


def test_a_folder_or_a_file(bert: Any, minilm: Path) -> None:
    fast = AutoTokenizer.from_pretrained(minilm)
    for given in (minilm, str(minilm / "tokenizer.json"), fast.backend_tokenizer):
        found = trace(load(bert, tokenizer=given), TEXT)
        assert list(found.tokens[0].ids) == fast(TEXT)["input_ids"]


def test_a_vocabulary_with_the_files_beside_it(bert: Any, minilm: Path, tmp_path: Path) -> None:
    """As in the first releases of BERT: vocab.txt, and settings in a file of their own."""
    tokenizer = AutoTokenizer.from_pretrained(minilm)
    words = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    expected = tokenizer(TEXT)["input_ids"]
    for name in ("", "vocab.txt", "tokenizer_config.json"):
        found = trace(load(bert, tokenizer=tmp_path / name), TEXT)
        assert list(found.tokens[0].ids) == expected


def test_a_file_is_read_with_its_settings(minilm: Path, tmp_path: Path) -> None:
    """As the folder that it lies in is: here, a space before the first word."""
    reader = Tokenizer(BPE({"Ġ": 0, "a": 1, "Ġa": 2}, [("Ġ", "a")]))
    reader.pre_tokenizer = ByteLevel(add_prefix_space=False, use_regex=False)
    reader.save(str(tmp_path / "tokenizer.json"))
    settings = {"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        assert tokenizer_of(path).encode("a").ids == (2,)


def test_a_slow_tokenizer_of_a_pair() -> None:
    slow = CanineTokenizer()
    network = BertModel(BertConfig(vocab_size=57400, intermediate_size=53, **SIZES)).eval()
    found = trace(load(network, tokenizer=slow), ("ab", "c"))
    assert list(found.tokens[0].ids) == slow("ab", "c")["input_ids"]
    assert found.labels == [slow.cls_token, "a", "b", slow.sep_token, "c", slow.sep_token]


def test_the_tokenizer_of_a_folder_of_bytes(tmp_path: Path) -> None:
    """A ByT5 checkpoint has no vocabulary file: its tokenizer is a class name."""
    sizes: dict[str, Any] = {"d_model": 35, "d_kv": 7, "d_ff": 53, "num_heads": 5, "num_layers": 2}
    T5ForConditionalGeneration(T5Config(vocab_size=384, **sizes)).save_pretrained(tmp_path)
    ByT5Tokenizer().save_pretrained(tmp_path)
    found, slow = trace(load(tmp_path), "aé b", "c"), ByT5Tokenizer()
    assert list(found.tokens[0].ids) == slow("aé b")["input_ids"]
    assert found.labels == ["a", "é 1/2", "é 2/2", " ", "b", "</s>"]
    assert found.tokens[0].special == (False,) * 5 + (True,)


class Strange:
    """Encodes to a list, as many tokenizers do."""

    def encode(self, text: str, pair: str | None = None) -> list[int]:
        return [1, 2]


class Processor:
    tokenizer = Strange()


@pytest.mark.parametrize(
    ("given", "part"),
    [
        (Strange(), "received Strange"),
        (Processor(), r"received Processor; it has a tokenizer of its own: pass its \.tokenizer"),
        (7, "received int"),
        ("no/such", "there is no file or folder 'no/such'"),
    ],
)
def test_anything_else_is_refused_in_one_line(bert: Any, given: Any, part: str) -> None:
    with pytest.raises(ValueError, match=rf"^tokenizer: expected .*{part}") as caught:
        load(bert, tokenizer=given)
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_tokenizer(bert: Any, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(ValueError, match=r"^tokenizer: expected .*has none that can be read"):
        load(bert, tokenizer=tmp_path)
    torch.save({}, tmp_path / "weights.bin")
    with pytest.raises(ValueError, match="is not a readable tokenizer file"):
        load(bert, tokenizer=tmp_path / "weights.bin")
