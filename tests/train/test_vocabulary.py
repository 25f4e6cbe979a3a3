"""What a tokenizer file of a task reads, and rows of ids."""

from pathlib import Path

from models.text import FileTokenizer
from train.grammar import WHOLE
from train.vocabulary import MASK, UNKNOWN, filled, padding_of, shifted


def test_labels_are_the_users_text(tmp_path: Path) -> None:
    WHOLE.save(tmp_path / "tokenizer.json")
    reader = FileTokenizer(tmp_path / "tokenizer.json")
    found = reader.encode("The keys, [MASK] hedgehog old.")
    labels = ["[BEGIN]", "The", "keys", ", [UNK]", "[MASK]", "hedgehog [UNK]", "old", ".", "[END]"]
    assert list(found.labels) == labels
    assert found.ids[4] == MASK
    assert found.ids[3] == found.ids[5] == UNKNOWN
    assert reader.words == dict(enumerate(WHOLE.names))


def test_rows_are_filled_up() -> None:
    ids = filled([[3, 5, 7], [2]])
    assert ids.tolist() == [[3, 5, 7], [2, 0, 0]]
    padding = padding_of(ids)
    assert padding is not None
    assert padding.tolist() == [[False] * 3, [False, True, True]]
    assert padding_of(filled([[1], [2]])) is None
    arguments, target = shifted([[1, 3, 5, 7], [1, 2]])
    assert arguments["ids"] is not None
    assert arguments["ids"].tolist() == [[1, 3, 5], [1, 0, 0]]
    assert target.tolist() == [[3, 5, 7], [2, -100, -100]]
