"""Text to tokens: labels are the user's own text, and nothing is cut off."""

from pathlib import Path

import pytest

from models.catalogue import entry, folder
from models.text import Decoding, FileTokenizer, Tokens, WordTokenizer, check_text, clean, fit
from tests.models.vocabularies import gpt2


@pytest.fixture(scope="module")
def bert() -> FileTokenizer:
    return FileTokenizer(folder(entry("minilm")) / "tokenizer.json")


@pytest.fixture(scope="module")
def bytewise() -> FileTokenizer:
    """Byte-level BPE that knows every byte and "he"."""
    return FileTokenizer(gpt2(("h", "e")).to_str(), name="bytewise", trusted=True)


def inner(tokens: Tokens) -> list[str]:
    """Labels without [CLS] and [SEP]."""
    return list(tokens.labels[1:-1])


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Über", ["Über"]),
        ("U\u0308ber", ["U\u0308ber"]),
        ("cafe\u0301 noir", ["cafe\u0301", "noir"]),
        ("the cat the cat", ["the", "cat", "the", "cat"]),
        ("🙂", ["🙂 [UNK]"]),
        ("안", ["안 1/3", "안 2/3", "안 3/3"]),
        ("<script>", ["<", "script", ">"]),
        ("Headscope", ["Heads", "cope"]),
        ("", []),
    ],
)
def test_labels_are_the_text(bert: FileTokenizer, text: str, labels: list[str]) -> None:
    assert inner(bert.encode(text)) == labels


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("🙂", ["🙂 1/4", "🙂 2/4", "🙂 3/4", "🙂 4/4"]),
        ("he é", ["he", " ", "é 1/2", "é 2/2"]),
        ("e\u0301", ["e", "\u0301 1/2", "\u0301 2/2"]),
        ("ää", ["ä 1/2", "ä 2/2", "ä 1/2", "ä 2/2"]),
    ],
)
def test_pieces_of_a_character_count(bytewise: FileTokenizer, text: str, labels: list[str]) -> None:
    assert list(bytewise.encode(text).labels) == labels


@pytest.mark.parametrize("text", ["Über den Wolken", "the the", "🙂 <b> naïve", "عربي mixed 漢字"])
def test_spans_are_slices_of_the_text(bert: FileTokenizer, text: str) -> None:
    tokens = bert.encode(text)
    assert tokens.spans[0] is tokens.spans[-1] is None
    covered = ""
    for span, label in zip(tokens.spans[1:-1], inner(tokens), strict=True):
        assert span is not None
        assert text[slice(*span)] in label
        covered += text[slice(*span)]
    assert covered == text.replace(" ", "")


def test_special_tokens_keep_their_names(bert: FileTokenizer) -> None:
    tokens = bert.encode("hello")
    assert tokens.labels == ("[CLS]", "hello", "[SEP]")
    assert tokens.ids == (101, 7592, 102)
    assert tokens.special == (True, False, True)


def test_unknown_is_not_special(bert: FileTokenizer) -> None:
    tokens = bert.encode("🙂 ok")
    assert tokens.ids[1] == 100
    assert tokens.special == (True, False, False, True)


def test_special_names_in_the_text(bert: FileTokenizer) -> None:
    """A [SEP] that the user typed is one, and stands where it was typed."""
    tokens = bert.encode("a [SEP] b")
    assert tokens.labels == ("[CLS]", "a", "[SEP]", "b", "[SEP]")
    assert tokens.spans == (None, (0, 1), (2, 7), (8, 9), None)


def test_a_pair_has_two_segments(bert: FileTokenizer) -> None:
    tokens = bert.encode("a cat", "Über")
    assert tokens.labels == ("[CLS]", "a", "cat", "[SEP]", "Über", "[SEP]")
    assert tokens.segments == (0, 0, 0, 0, 1, 1)
    assert tokens.spans[4] == (0, 4)  # counted in its own text


def test_nothing_is_cut_off_or_padded(bert: FileTokenizer) -> None:
    """The file itself says: at most 128, filled up to 128."""
    assert len(bert.encode("word " * 298)) == 300
    assert len(bert.encode("word")) == 3


def test_a_file_that_is_no_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer\.json is not a readable tokenizer file"):
        FileTokenizer(path)


def test_words_have_ids_of_their_own() -> None:
    tokens = WordTokenizer(9973).encode("The cat, the Cat.")
    assert tokens.labels == ("The", "cat", ",", "the", "Cat", ".")
    assert tokens.spans == ((0, 3), (4, 7), (7, 8), (9, 12), (13, 16), (16, 17))
    assert tokens.ids[:2] == tokens.ids[3:5]
    assert len(set(tokens.ids)) == 4
    assert not any(tokens.special)


def test_word_ids_repeat_and_stay_in_the_vocabulary() -> None:
    """CRC-32 of "cat" is 0x9E5E43A8, whatever the process."""
    text = " ".join(f"w{n}" for n in range(199))
    assert all(0 <= token < 7 for token in WordTokenizer(7).encode(text).ids)
    assert WordTokenizer(2**32).encode("Cat").ids == (0x9E5E43A8,)


@pytest.mark.parametrize(
    ("text", "kept", "gone"),
    [
        ("plain", "plain", 0),
        ("a\x00b\x07c\x9bd", "abcd", 3),
        ("tab\tline\r\n", "tab\tline\r\n", 0),
        ("half \ud83d here", "half  here", 1),
        ("👩\u200d🚀 می\u200cخواهم", "👩\u200d🚀 می\u200cخواهم", 0),
    ],
)
def test_clean(text: str, kept: str, gone: int) -> None:
    assert clean(text) == (kept, gone)


@pytest.mark.parametrize("where", ["text", "pair"])
def test_a_lone_surrogate_is_refused(bert: FileTokenizer, where: str) -> None:
    texts = ("half \ud83d", "b") if where == "text" else ("a", "half \ud83d")
    for tokenizer in (bert, WordTokenizer(101)):
        with pytest.raises(ValueError, match="lone surrogate"):
            tokenizer.encode(*texts)
    check_text("🙂")


@pytest.mark.parametrize("limit", [2, 3, 5, 7, 10, 11, 12, 500])
def test_fit_is_the_longest_beginning_in_whole_words(bert: FileTokenizer, limit: int) -> None:
    text = "  unbelievable  Headscope 안녕, then\nthe end "
    found = fit(text, bert, limit)
    words = text.split()
    fitting = [n for n in range(len(words) + 1) if len(bert.encode(" ".join(words[:n]))) <= limit]
    assert found.split() == words[: max(fitting)]
    assert text.startswith(found)
    assert len(bert.encode(found)) <= limit
    assert found == "" or found[-1] == words[max(fitting) - 1][-1]


@pytest.mark.parametrize("text", ["", "   ", "antidisestablishmentarianism"])
def test_fit_of_nothing(bert: FileTokenizer, text: str) -> None:
    assert fit(text, bert, 3) == ""


def test_tokens_in_a_row() -> None:
    words = WordTokenizer(101).encode("ab cd ef")
    begin = Tokens.of_ids([1], {1: "<begin>"})
    both = begin + words[1:]
    assert both.labels == ("<begin>", "cd", "ef")
    assert both.special == (True, False, False)
    assert both.ids == (1, *words.ids[1:])
    assert both.spans == (None, (3, 5), (6, 8))
    assert words[:-1] + words[-1:] == words


def test_reserved_ids_are_no_words() -> None:
    ids = WordTokenizer(11, reserved=3).encode(" ".join("abcdefghijklmnopqrst")).ids
    assert set(ids) == set(range(3, 11))
    for reserved in (-1, 11):
        with pytest.raises(ValueError, match=f"more than the {reserved} reserved, received 11"):
            WordTokenizer(11, reserved=reserved)


def test_the_names_of_all_ids_are_read_once(bert: FileTokenizer) -> None:
    assert isinstance(bert, Decoding)  # which looks at each attribute
    assert bert.words is bert.words
    assert bert.words[bert.encode("dog").ids[1]] == "dog"
