"""Ids by what they stand for, with a byte-level vocabulary made here."""

import json
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from models.files.folder import Folder
from models.pretrained.loader import read_tokenizer
from models.text import FileTokenizer


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
    made.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<s>"],
        show_progress=False,
    )
    made.train_from_iterator(["the cat on the mat"] * 5, trainer)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return path


@pytest.fixture(scope="module")
def bytes_of(file: Path) -> FileTokenizer:
    return FileTokenizer(file)


def test_pieces_of_a_character_are_counted(bytes_of: FileTokenizer) -> None:
    read = bytes_of.encode("the 🙂é")
    found = bytes_of.spelled([0, *read.ids])
    assert found.labels[:2] == ("<s>", "the")
    assert found.labels[-6:] == ("🙂 1/4", "🙂 2/4", "🙂 3/4", "🙂 4/4", "é 1/2", "é 2/2")
    assert found.special == (True, *(False,) * len(read))
    assert found.spans == (None,) * len(found)


def test_bytes_that_are_no_character_stay_themselves(bytes_of: FileTokenizer) -> None:
    piece = bytes_of.encode("🙂").ids[1]
    assert bytes_of.spelled([piece, piece]).labels == ("\ufffd", "\ufffd")


@pytest.mark.parametrize("prefix", [None, False, True])
@pytest.mark.parametrize("kind", ["GPT2Tokenizer", "RobertaTokenizer", "PreTrainedTokenizerFast"])
def test_a_space_in_front_as_the_library_s_tokenizer_puts_it(
    kind: str, prefix: bool | None, file: Path, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"tokenizer_class": kind}
    settings |= {} if prefix is None else {"add_prefix_space": prefix}
    (tmp_path / "tokenizer.json").write_bytes(file.read_bytes())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    expected = theirs("the cat", add_special_tokens=False)["input_ids"]
    found = read_tokenizer(Folder.at(tmp_path))
    assert found is not None
    read = found.encode("the cat")
    assert list(read.ids) == expected
    assert read.labels[0] == "the"
    apart = list(found.encode("the").ids) != [found.encode("x the").ids[-1]]
    assert apart == (prefix is not True or kind == "PreTrainedTokenizerFast")


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vocabulary whose words begin with a mark, as those of SentencePiece do."""
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Metaspace()  # type: ignore[assignment]
    made.decoder = decoders.Metaspace()  # type: ignore[assignment]
    special = ["<unk>", "<s>", "</s>"]
    trainer = trainers.BpeTrainer(vocab_size=60, special_tokens=special, show_progress=False)
    made.train_from_iterator(["the cat on the mat", "thecat"] * 5, trainer)
    path = tmp_path_factory.mktemp("marked") / "tokenizer.json"
    made.save(str(path))
    return path


@pytest.mark.parametrize("prefix", [None, False, True])
@pytest.mark.parametrize("kind", ["LlamaTokenizer", "GemmaTokenizer", "PreTrainedTokenizerFast"])
def test_a_mark_in_front_as_the_library_s_tokenizer_puts_it(
    kind: str, prefix: bool | None, marked: Path, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"tokenizer_class": kind}
    settings |= {} if prefix is None else {"add_prefix_space": prefix}
    (tmp_path / "tokenizer.json").write_bytes(marked.read_bytes())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    found = read_tokenizer(Folder.at(tmp_path))
    assert found is not None
    read = found.encode("the cat")
    assert list(read.ids) == theirs("the cat")["input_ids"]
    own = [label for label, special in zip(read.labels, read.special, strict=True) if not special]
    assert [label.strip() for label in own] == ["the", "cat"]
    first = theirs.convert_ids_to_tokens(list(read.ids))[-2]
    none = kind == "GemmaTokenizer" or (kind == "LlamaTokenizer" and prefix is False)
    assert first == ("the" if none else "▁the")
