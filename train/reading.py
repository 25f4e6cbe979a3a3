"""Two tasks on the sentences of `train/grammar.py`: masked-word and next-word prediction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import torch

from train.grammar import Sentence, agreement, pronoun, vocabulary
from train.task import IGNORED, Batch
from train.vocabulary import MASK, Vocabulary, filled, padding_of

WHOLE = Vocabulary(vocabulary(), "words", begin=True, end=True)
BEGUN = Vocabulary(vocabulary(), "words", begin=True)  # for texts to be continued
KINDS: dict[str, tuple[Callable[[Random], Sentence], ...]] = {
    "all": (agreement, pronoun),
    "agreement": (agreement,),
    "antecedent": (pronoun,),
}
HIDDEN = 0.15  # share of ordinary words to predict
UNMASKED = 0.15  # share of the words to predict that are not masked (Devlin et al. 2019)


@dataclass(frozen=True)
class Asked:
    """A sentence, and the words to predict in it.

    Attributes:
        sentence: the sentence.
        places: positions to predict; the word at the first one can be inferred.
        hidden: those of them that are masked.
    """

    sentence: Sentence
    places: tuple[int, ...]
    hidden: tuple[int, ...]


@dataclass(frozen=True)
class Masked:
    """Masked-word prediction.

    Attributes:
        kind: "all" for training; "agreement" tests only the number of the verb, "antecedent" the
            antecedent of the pronoun.
    """

    kind: str = "all"

    def __post_init__(self) -> None:
        _check(self.kind)

    @property
    def vocabulary(self) -> Vocabulary:
        return WHOLE

    def draw(self, dice: Random) -> Asked:
        sentence = dice.choice(KINDS[self.kind])(dice)
        if self.kind != "all":
            places = (_place(sentence),)
            return Asked(sentence, places, places)
        keys = [p for p in (sentence.verb, sentence.pronoun, sentence.answer) if p is not None]
        key, words = dice.choice(keys), range(len(sentence.words))
        others = {place for place in words if place != key and dice.random() < HIDDEN}
        places = (key, *sorted(others))
        return Asked(sentence, places, tuple(p for p in places if dice.random() >= UNMASKED))

    def key(self, item: Asked) -> str:
        return " ".join(item.sentence.nouns)

    def batch(self, items: Sequence[Asked]) -> Batch:
        rows = [WHOLE.ids(item.sentence.words) for item in items]
        target = torch.full((len(rows), max(map(len, rows))), IGNORED)
        rivals, graded = target.clone(), torch.zeros_like(target, dtype=torch.bool)
        for row, (ids, item) in enumerate(zip(rows, items, strict=True)):
            graded[row, item.places[0] + 1] = True  # after the [BEGIN] token
            for place in item.places:
                target[row, place + 1] = ids[place + 1]
            for place in item.hidden:
                ids[place + 1] = MASK
            if item.sentence.verb is not None and item.sentence.rival is not None:
                rivals[row, item.sentence.verb + 1] = WHOLE.numbers[item.sentence.rival]
        ids = filled(rows)
        return Batch({"ids": ids, "padding": padding_of(ids)}, target, graded, rivals=rivals)


@dataclass(frozen=True)
class NextWord:
    """Next-word prediction.

    Attributes:
        kind: "all" for training; "agreement" tests only the number of the verb, "antecedent" the
            antecedent of the pronoun.
    """

    kind: str = "all"

    def __post_init__(self) -> None:
        _check(self.kind)

    @property
    def vocabulary(self) -> Vocabulary:
        return BEGUN

    def draw(self, dice: Random) -> Sentence:
        return dice.choice(KINDS[self.kind])(dice)

    def key(self, item: Sentence) -> str:
        return " ".join(item.nouns)

    def batch(self, items: Sequence[Sentence]) -> Batch:
        rows = [BEGUN.ids(item.words) for item in items]
        ids, target = filled([row[:-1] for row in rows]), filled([row[1:] for row in rows], IGNORED)
        rivals, graded = (
            torch.full_like(target, IGNORED),
            torch.zeros_like(target, dtype=torch.bool),
        )
        for row, item in enumerate(items):
            place = _place(item)  # position of the word, and of the row that predicts it
            graded[row, place] = True
            if item.rival is not None:
                rivals[row, place] = BEGUN.numbers[item.rival]
        arguments = {"ids": ids, "padding": padding_of(ids)}
        return Batch(arguments, target, graded, rivals=rivals)


def _place(sentence: Sentence) -> int:
    """Position of the word that is tested."""
    place = sentence.verb if sentence.answer is None else sentence.answer
    return place or 0


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind: expected one of {list(KINDS)}, received {kind!r}")
