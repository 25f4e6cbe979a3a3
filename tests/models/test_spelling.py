"""Ids by what they stand for, with a byte-level vocabulary made here."""

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from models.text import FileTokenizer


@pytest.fixture(scope="module")
def bytes_of(tmp_path_factory: pytest.TempPathFactory) -> FileTokenizer:
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
    return FileTokenizer(path)


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


def test_bytes_of_a_text_show_its_characters(bytes_of: FileTokenizer) -> None:
    assert bytes_of.encode("é").labels == ("é 1/2", "é 2/2")
