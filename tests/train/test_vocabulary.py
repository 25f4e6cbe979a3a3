"""What a task's tokenizer file reads is what the task's own ids say."""

from pathlib import Path
from random import Random

import pytest

from models.text import FileTokenizer
from train.dates import SOURCE, TARGET, Dates
from train.grammar import Sentence
from train.induction import SIGNS, Induction
from train.reading import BEGUN, WHOLE, NextWord
from train.sequences import LETTERS, Rearrange
from train.task import draw
from train.vocabulary import MASK, UNKNOWN, Vocabulary, filled, padding_of


def texts(name: str) -> list[tuple[str, list[int]]]:
    dice = Random(name)
    if name == "letters":
        return [(item, LETTERS.ids(item)) for item in draw(Rearrange(), 20, dice)]
    if name == "signs":
        return [(item.text, SIGNS.ids(item.text)) for item in draw(Induction(), 20, dice)]
    if name == "dates":
        return [(d.text, SOURCE.ids(d.text.lower())) for d in draw(Dates(), 60, dice)]
    if name == "iso":
        return [(d.day.isoformat(), TARGET.ids(d.day.isoformat())) for d in draw(Dates(), 9, dice)]
    sentences: list[Sentence] = draw(NextWord(), 60, dice)
    return [(s.text, (WHOLE if name == "whole" else BEGUN).ids(s.words)) for s in sentences]


CASES: dict[str, Vocabulary] = {
    "letters": LETTERS,
    "signs": SIGNS,
    "dates": SOURCE,
    "iso": TARGET,
    "whole": WHOLE,
    "begun": BEGUN,
}


@pytest.mark.parametrize("name", CASES)
def test_the_file_reads_as_the_task_does(name: str, tmp_path: Path) -> None:
    CASES[name].save(tmp_path / "tokenizer.json")
    reader = FileTokenizer(tmp_path / "tokenizer.json")
    for text, ids in texts(name):
        assert list(reader.encode(text).ids) == ids, text
    assert reader.words == dict(enumerate(CASES[name].names))


def test_labels_are_the_users_text(tmp_path: Path) -> None:
    WHOLE.save(tmp_path / "tokenizer.json")
    found = FileTokenizer(tmp_path / "tokenizer.json").encode("The keys, [MASK] hedgehog old.")
    labels = ["[BEGIN]", "The", "keys", ", [UNK]", "[MASK]", "hedgehog [UNK]", "old", ".", "[END]"]
    assert list(found.labels) == labels
    assert found.ids[4] == MASK
    assert found.ids[3] == found.ids[5] == UNKNOWN


def test_mistakes_are_one_line() -> None:
    with pytest.raises(ValueError, match="tokens: expected no token twice"):
        Vocabulary(("a", "b", "a"), "words")
    with pytest.raises(ValueError, match=r"split: expected one of .*, received 'syllables'"):
        Vocabulary(("a",), "syllables")


def test_rows_are_filled_up() -> None:
    ids = filled([[3, 5, 7], [2]])
    assert ids.tolist() == [[3, 5, 7], [2, 0, 0]]
    padding = padding_of(ids)
    assert padding is not None
    assert padding.tolist() == [[False] * 3, [False, True, True]]
    assert padding_of(filled([[1], [2]])) is None
