"""Ids by what they stand for, with a byte-level vocabulary made here."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from analysis.words import words_of
from models.catalogue import entry, folder
from models.files.folder import Folder
from models.pretrained.tokenizers import read_tokenizer
from models.text import FileTokenizer
from tests.models.vocabularies import gpt2, llama, t5


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = gpt2(("t", "h"), ("th", "e"), ("Ġ", "the"))
    made.add_special_tokens(["<s>"])
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return path


@pytest.fixture(scope="module")
def bytes_of(file: Path) -> FileTokenizer:
    return FileTokenizer(file)


def test_pieces_of_a_character_are_counted(bytes_of: FileTokenizer) -> None:
    read = bytes_of.encode("the🙂é")
    found = bytes_of.spelled([len(bytes_of.words) - 1, *read.ids])
    assert found.labels[:2] == ("<s>", "the")
    assert found.labels[-6:] == ("🙂 1/4", "🙂 2/4", "🙂 3/4", "🙂 4/4", "é 1/2", "é 2/2")
    assert found.special == (True, *(False,) * len(read))
    assert found.spans == (None,) * len(found)


def test_bytes_that_are_no_character_stay_themselves(bytes_of: FileTokenizer) -> None:
    piece = bytes_of.encode("🙂").ids[1]
    assert bytes_of.spelled([piece, piece]).labels == ("<0x9F>", "<0x9F>")


def both(folder: Path, file: Path, model: str, kind: str, prefix: bool | None) -> Any:
    """The library's tokenizer of a checkpoint with this vocabulary, and ours."""
    settings: dict[str, Any] = {"tokenizer_class": kind}
    settings |= {} if prefix is None else {"add_prefix_space": prefix}
    (folder / "tokenizer.json").write_bytes(file.read_bytes())
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text(json.dumps({"model_type": model}))
    return transformers.AutoTokenizer.from_pretrained(folder), read_tokenizer(Folder.at(folder))


@pytest.mark.parametrize("prefix", [None, False, True])
@pytest.mark.parametrize("kind", ["GPT2Tokenizer", "RobertaTokenizer", "PreTrainedTokenizerFast"])
def test_a_space_in_front_as_the_library_s_tokenizer_puts_it(
    kind: str, prefix: bool | None, file: Path, tmp_path: Path
) -> None:
    theirs, found = both(tmp_path, file, "gpt2", kind, prefix)
    read = found.encode("the cat")
    assert list(read.ids) == theirs("the cat", add_special_tokens=False)["input_ids"]
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
    theirs, found = both(tmp_path, marked, "llama", kind, prefix)
    read = found.encode("the cat")
    assert list(read.ids) == theirs("the cat")["input_ids"]
    own = [label for label, special in zip(read.labels, read.special, strict=True) if not special]
    assert [label.strip() for label in own] == ["the", "cat"]
    first = theirs.convert_ids_to_tokens(list(read.ids))[-2]
    none = kind == "GemmaTokenizer" or (kind == "LlamaTokenizer" and prefix is False)
    assert first == ("the" if none else "▁the")


MADE = {each.__name__: each for each in (llama, t5, gpt2)}


@pytest.mark.parametrize(
    "text", ["i hit it", "a 😀 i", "a 日本", "e\u0301  a\n\nb ", "1/2 👩‍🚀 שלום"]
)
@pytest.mark.parametrize("kind", MADE)
def test_labels_quote_the_text_and_count_pieces(kind: str, text: str) -> None:
    library, reader = MADE[kind](), FileTokenizer(MADE[kind]().to_str(), name=kind, trusted=True)
    read = reader.encode(text)
    assert "".join(read.texts) == text
    said = reader.spelled(read.ids)
    assert "".join(said.texts) == library.decode(list(read.ids))
    for tokens in (read, said):
        for id, label in zip(read.ids, tokens.labels, strict=True):
            assert label.isspace() or reader.words[id].strip("▁Ġ"), "a space is a space"
    for place, (span, after) in enumerate(pairwise(read.spans)):
        if span and after and after[0] < span[1]:
            assert all(re.search(r" \d/\d$", each) for each in read.labels[place : place + 2])


@pytest.mark.parametrize("kind", [*MADE, "minilm"])
def test_no_two_tokens_have_one_name(kind: str) -> None:
    made = kind in MADE and MADE[kind]().to_str()
    text = made or (folder(entry(kind)) / "tokenizer.json").read_text("utf-8")
    reader = FileTokenizer(text, name=kind, trusted=True)
    names = {id: reader.name(id) for id in reader.words}
    assert len({*names.values()}) == len(names)
    assert all(name != str(id) for id, name in names.items() if not reader.words[id].isdigit())


def test_a_space_put_in_front_belongs_to_its_word() -> None:
    tokens = FileTokenizer(t5().to_str(), name="t5", trusted=True).encode("the cat")
    assert tokens.labels == (" ", "t", "h", "e", " ", "c", "a", "t")
    assert tokens.spans[:2] == ((0, 0), (0, 1))
    assert words_of(tokens) == ((0, 1, 2, 3), (4, 5, 6, 7))
