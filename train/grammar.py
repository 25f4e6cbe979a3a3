"""Two tasks on synthetic English: masked-word and next-word prediction.

Two kinds of sentences:

    the keys near the cabinet are old .
    the dog did not cross the street because it was too wide . who or what ? the street .

In the first kind the verb agrees in number with the subject, whatever stands in between. In the
second the pronoun has exactly one possible antecedent: by gender or number, or, where both nouns
are "it" or "they", by meaning (a street is not hungry).
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

from train.task import Batch
from train.vocabulary import IGNORED, MASK, Vocabulary, filled, padding_of, shifted

Noun = tuple[str, str]  # singular, plural


def _nouns(text: str) -> tuple[Noun, ...]:
    """Nouns from "key box:boxes": the plural where it is not regular."""
    pairs = [word.partition(":") for word in text.split()]
    return tuple((one, many or f"{one}s") for one, _, many in pairs)


def _by_group(rows: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """A row for each group, from one for all that live and one for each of the others."""
    return {
        **dict.fromkeys(LIVING, rows["living"]),
        "object": rows["object"],
        "place": rows["place"],
    }


TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LIVING = ("he", "she", "animal")
GROUPS = {group: _nouns(text) for group, text in TABLES["nouns"].items()}
STATES, DEEDS = _by_group(TABLES["states"]), _by_group(TABLES["deeds"])
ANY_STATE, LINKS, LITTLE = TABLES["any_state"], TABLES["links"], TABLES["little"]
VERBS, RELATIVES = TABLES["verbs"], TABLES["relatives"]


def _words() -> tuple[str, ...]:
    """Every word."""
    phrases = [phrase for table in (STATES, DEEDS) for row in table.values() for phrase in row]
    pairs = [*VERBS, *RELATIVES, *(noun for nouns in GROUPS.values() for noun in nouns)]
    words = [*" ".join(phrases).split(), *(word for pair in pairs for word in pair)]
    return tuple(dict.fromkeys([*words, *ANY_STATE, *LINKS, *LITTLE.split()]))


WHOLE = Vocabulary(_words(), "words", begin=True, end=True)
BEGUN = Vocabulary(_words(), "words", begin=True)  # for texts to be continued


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the positions of its key words.

    Attributes:
        words: all words.
        nouns: the first two nouns, in the singular.
        asked: position of the word to infer: the verb, or the answer at the end.
        meant: position of the noun that determines it: the subject, or the antecedent.
        rival: the verb in the other number (first kind).
        pronoun: position of the pronoun (second kind).
    """

    words: tuple[str, ...]
    nouns: tuple[str, str]
    asked: int
    meant: int
    rival: str | None = None
    pronoun: int | None = None

    @property
    def text(self) -> str:
        return " ".join(self.words)


def agreement(dice: Random) -> Sentence:
    """A sentence of the first kind."""
    group, other = dice.choice(tuple(GROUPS)), dice.choice(tuple(GROUPS))
    first, second = dice.choice(GROUPS[group]), dice.choice(GROUPS[other])
    number, second_number = dice.randrange(2), dice.randrange(2)
    words = ["the", first[number]]
    if other in LIVING and dice.random() < 0.4:
        words += ["that", "the", second[second_number], dice.choice(RELATIVES)[second_number]]
    else:
        words += [dice.choice(LINKS), "the", second[second_number]]
        if dice.random() < 0.3:
            third = dice.choice(GROUPS[dice.choice(tuple(GROUPS))])
            words += [dice.choice(LINKS), "the", dice.choice(third)]
    verb, forms = len(words), dice.choice(VERBS)
    words += [forms[number], "been"] if forms[0] == "has" else [forms[number]]
    if dice.random() < 0.3:
        words.append(dice.choice(("too", "very")))
    words += [dice.choice((*STATES[group], *ANY_STATE[:4])), "."]
    return Sentence(tuple(words), (first[0], second[0]), verb, 1, rival=forms[1 - number])


def pronoun(dice: Random) -> Sentence:
    """A sentence of the second kind."""
    while True:
        groups = dice.choice(LIVING), dice.choice(tuple(GROUPS))
        nouns = dice.choice(GROUPS[groups[0]]), dice.choice(GROUPS[groups[1]])
        numbers = dice.randrange(2), dice.randrange(2)
        meant = dice.randrange(2)
        state = dice.choice(STATES[groups[meant]])
        pronouns = [_pronoun(group, number) for group, number in zip(groups, numbers, strict=True)]
        if pronouns[0] != pronouns[1] or state not in STATES[groups[1 - meant]]:
            break
    words = ["the", nouns[0][numbers[0]], *dice.choice(DEEDS[groups[1]]).split()]
    words += ["the", nouns[1][numbers[1]], "because"]
    antecedent, at = (1, len(words) - 2)[meant], len(words)
    words += [pronouns[meant], "were" if numbers[meant] else "was"]
    words += [dice.choice(("too", "very"))] if dice.random() < 0.5 else []
    words += [state, ".", "who", "or", "what", "?", "the", words[antecedent], "."]
    both = (nouns[0][0], nouns[1][0])
    return Sentence(tuple(words), both, len(words) - 2, antecedent, pronoun=at)


def _pronoun(group: str, number: int) -> str:
    """The pronoun for a noun of this group."""
    return "they" if number else group if group in ("he", "she") else "it"


KINDS: dict[str, tuple[Callable[[Random], Sentence], ...]] = {
    "all": (agreement, pronoun),  # for training
    "agreement": (agreement,),  # tests only the number of the verb
    "antecedent": (pronoun,),  # tests the antecedent of the pronoun
}


class Asked(NamedTuple):
    """A sentence, positions to predict, the first of which can be inferred, and the masked ones."""

    sentence: Sentence
    places: tuple[int, ...]
    hidden: tuple[int, ...]


@dataclass(frozen=True)
class Masked:
    """Masked-word prediction on one of `KINDS`.

    In training 15 % of the other words are asked for too, and 15 % of all that are asked for are
    not masked (Devlin et al. 2019).
    """

    kind: str = "all"
    vocabulary = WHOLE

    def draw(self, dice: Random) -> Asked:
        sentence = dice.choice(KINDS[self.kind])(dice)
        if self.kind != "all":
            return Asked(sentence, (sentence.asked,), (sentence.asked,))
        key = dice.choice([p for p in (sentence.pronoun, sentence.asked) if p is not None])
        words = range(len(sentence.words))
        places = (key, *(place for place in words if place != key and dice.random() < 0.15))
        return Asked(sentence, places, tuple(p for p in places if dice.random() >= 0.15))

    def key(self, item: Asked) -> str:
        return " ".join(item.sentence.nouns)

    def batch(self, items: Sequence[Asked]) -> Batch:
        ids = filled([WHOLE.ids(item.sentence.text) for item in items])
        target = torch.full_like(ids, IGNORED)
        for row, item in enumerate(items):
            asked, hidden = ([1 + p for p in places] for places in (item.places, item.hidden))
            target[row, asked] = ids[row, asked]  # after the [BEGIN] token
            ids[row, hidden] = MASK
        arguments = {"ids": ids, "padding": padding_of(ids)}
        places = [1 + item.places[0] for item in items]
        return _batch(arguments, target, places, [item.sentence.rival for item in items])


@dataclass(frozen=True)
class NextWord:
    """Next-word prediction on one of `KINDS`."""

    kind: str = "all"
    vocabulary = BEGUN

    def draw(self, dice: Random) -> Sentence:
        return dice.choice(KINDS[self.kind])(dice)

    def key(self, item: Sentence) -> str:
        return " ".join(item.nouns)

    def batch(self, items: Sequence[Sentence]) -> Batch:
        arguments, target = shifted([BEGUN.ids(item.text) for item in items])
        places = [item.asked for item in items]  # of the word before it, after the [BEGIN] token
        return _batch(arguments, target, places, [item.rival for item in items])


def _batch(
    arguments: dict[str, Tensor | None],
    target: Tensor,
    places: Sequence[int],
    rivals: Sequence[str | None],
) -> Batch:
    """A batch of which one position an item is graded, where it may have a rival."""
    rows = range(len(places))
    graded, others = torch.zeros_like(target).bool(), torch.full_like(target, IGNORED)
    graded[rows, places] = True
    known = [IGNORED if rival is None else BEGUN.names.index(rival) for rival in rivals]
    others[rows, places] = torch.tensor(known)
    return Batch(arguments, target, graded, rivals=others)
