"""Whole words in many scripts, with an uncased WordPiece and a byte-level BPE vocabulary."""

from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from analysis.words import joined_tokens, words_of
from models.catalogue import entry, folder
from models.text import FileTokenizer, Tokens

SPACED = {
    "Latin": "The naïve café’s owner didn’t know O’Brien’s co\u00adoperation",
    "Latin, decomposed": "nai\u0308ve cafe\u0301 U\u0308ber",
    "Hebrew": "עִבְרִית שָׁלוֹם",
    "Arabic": "العربية لغة",
    "Arabic, vocalised": "مُحَمَّدٌ كِتَابٌ قُرْآن",
    "Devanagari": "हिन्दी में लिखा हुआ वाक्य नमस्ते",
    "Tamil": "தமிழ் மொழி",
    "Tibetan": "བོད ཡིག",
    "Hangul": "한국어 단어들",
    "digits": "3.14 1,000 x_y",
}
UNSPACED = {
    "Han": "中文字",
    "Hiragana": "ひらがな",
    "Thai": "ภาษาไทย",
    "Khmer": "ភាសាខ្មែរ",
    "emoji": "🙂👩‍🚀🇺🇳",
}


@pytest.fixture(scope="module")
def wordpiece() -> FileTokenizer:
    return FileTokenizer(folder(entry("minilm")) / "tokenizer.json")


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> FileTokenizer:
    """With merges that end inside a character, and GPT-2's splitting."""
    made: Any = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    made.train_from_iterator([*SPACED.values(), *UNSPACED.values()] * 3, trainer)
    path: Path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return FileTokenizer(path)


@pytest.fixture(scope="module", params=["wordpiece", "byte_level"])
def tokenizer(request: pytest.FixtureRequest) -> FileTokenizer:
    return request.getfixturevalue(request.param)


def labels_of(tokens: Tokens) -> list[str]:
    """The words of a text as they are shown, special tokens aside."""
    found = joined_tokens(tokens, words_of(tokens))
    pairs = zip(found.labels, found.special, strict=True)
    return [label.strip().removesuffix(" [UNK]") for label, special in pairs if not special]


@pytest.mark.parametrize("script", SPACED)
def test_words_are_what_spaces_part(script: str, tokenizer: FileTokenizer) -> None:
    assert labels_of(tokenizer.encode(SPACED[script])) == SPACED[script].split()


@pytest.mark.parametrize("script", UNSPACED)
def test_scripts_without_spaces_show_each_character_once(
    script: str, tokenizer: FileTokenizer
) -> None:
    assert "".join(labels_of(tokenizer.encode(UNSPACED[script]))) == UNSPACED[script]


def test_punctuation_stays_alone(tokenizer: FileTokenizer) -> None:
    text = "“Well-known,” she said; ‘isn’t it?’"
    expected = ["“", "Well", "-", "known", ",", "”", "she", "said", ";", "‘", "isn’t", "it"]
    found = labels_of(tokenizer.encode(text))
    assert found[:12] == expected
    assert "".join(found[12:]) == "?’"
