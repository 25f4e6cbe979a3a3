"""Synthetic English with long-distance agreement and unambiguous pronouns.

Two kinds of sentences:

    the keys near the cabinet are old .
    the dog did not cross the street because it was too wide . who or what ? the street .

In the first kind the verb agrees in number with the subject, whatever stands in between. In the
second the pronoun has exactly one possible antecedent: by gender or number, or, where both nouns
are "it" or "they", by meaning (a street is not hungry).
"""

from dataclasses import dataclass
from random import Random

Noun = tuple[str, str]  # singular, plural

MEN: tuple[Noun, ...] = (
    *(("king", "kings"), ("boy", "boys"), ("man", "men"), ("father", "fathers")),
    *(("uncle", "uncles"), ("prince", "princes"), ("monk", "monks"), ("waiter", "waiters")),
)
WOMEN: tuple[Noun, ...] = (
    *(("queen", "queens"), ("girl", "girls"), ("woman", "women"), ("mother", "mothers")),
    *(("aunt", "aunts"), ("princess", "princesses"), ("nun", "nuns"), ("waitress", "waitresses")),
)
ANIMALS: tuple[Noun, ...] = (
    *(("animal", "animals"), ("dog", "dogs"), ("cat", "cats"), ("horse", "horses")),
    *(("bird", "birds"), ("cow", "cows"), ("wolf", "wolves"), ("mouse", "mice")),
)
OBJECTS: tuple[Noun, ...] = (
    *(("key", "keys"), ("cabinet", "cabinets"), ("cup", "cups"), ("box", "boxes")),
    *(("lamp", "lamps"), ("book", "books"), ("clock", "clocks"), ("table", "tables")),
)
PLACES: tuple[Noun, ...] = (
    *(("street", "streets"), ("river", "rivers"), ("road", "roads"), ("bridge", "bridges")),
    *(("field", "fields"), ("garden", "gardens")),
)
GROUPS = {"he": MEN, "she": WOMEN, "animal": ANIMALS, "object": OBJECTS, "place": PLACES}
LIVING = ("he", "she", "animal")
STATES = {  # adjectives of each group, which apply to no group in another row
    **dict.fromkeys(LIVING, ("tired", "hungry", "thirsty", "afraid", "sick", "late")),
    "object": ("broken", "heavy", "empty", "cheap", "dusty"),
    "place": ("wide", "long", "busy", "flooded", "closed"),
}
DEEDS = {  # what animate subjects do to a group
    **dict.fromkeys(LIVING, ("saw", "followed", "called", "helped", "feared")),
    "object": ("dropped", "carried", "bought", "sold", "hid"),
    "place": ("crossed", "left", "avoided", "did not cross", "did not leave"),
}
ANY_STATE = ("old", "new", "big", "small", "here", "there")
LINKS = ("near", "behind", "beside", "with")
VERBS = (("is", "are"), ("was", "were"), ("has", "have"), ("stays", "stay"), ("looks", "look"))
RELATIVES = (("sees", "see"), ("likes", "like"), ("hates", "hate"))
LITTLE = (
    *("the", "that", "because", "too", "very", "been", "who", "or", "what", "?", "."),
    *("he", "she", "it", "they", "did", "not", "cross", "leave"),
)


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the positions of its key words.

    Attributes:
        words: all words.
        nouns: the first two nouns, in the singular.
        verb: position of the verb (first kind).
        subject: position of the subject it agrees with.
        rival: the verb in the other number.
        pronoun: position of the pronoun (second kind).
        antecedent: position of its antecedent.
        answer: position of the answer, which repeats the antecedent.
    """

    words: tuple[str, ...]
    nouns: tuple[str, str]
    verb: int | None = None
    subject: int | None = None
    rival: str | None = None
    pronoun: int | None = None
    antecedent: int | None = None
    answer: int | None = None

    @property
    def text(self) -> str:
        return " ".join(self.words)


def vocabulary() -> tuple[str, ...]:
    """Every word."""
    phrases = [phrase for table in (STATES, DEEDS) for row in table.values() for phrase in row]
    pairs = [*VERBS, *RELATIVES, *(noun for nouns in GROUPS.values() for noun in nouns)]
    words = [word for phrase in phrases for word in phrase.split()]
    words += [word for pair in pairs for word in pair]
    return tuple(dict.fromkeys([*words, *ANY_STATE, *LINKS, *LITTLE]))


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
    words.append(forms[number])
    if forms[0] == "has":
        words.append("been")
    if dice.random() < 0.3:
        words.append(dice.choice(("too", "very")))
    words += [dice.choice((*STATES[group], *ANY_STATE[:4])), "."]
    nouns = (first[0], second[0])
    return Sentence(tuple(words), nouns, verb=verb, subject=1, rival=forms[1 - number])


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
    places, words = [1, 0], ["the", nouns[0][numbers[0]], *dice.choice(DEEDS[groups[1]]).split()]
    words += ["the", nouns[1][numbers[1]], "because"]
    places[1], at = len(words) - 2, len(words)
    words += [pronouns[meant], "were" if numbers[meant] else "was"]
    words += [dice.choice(("too", "very"))] if dice.random() < 0.5 else []
    words += [state, ".", "who", "or", "what", "?", "the", words[places[meant]], "."]
    return Sentence(
        tuple(words),
        (nouns[0][0], nouns[1][0]),
        pronoun=at,
        antecedent=places[meant],
        answer=len(words) - 2,
    )


def _pronoun(group: str, number: int) -> str:
    """The pronoun for a noun of this group."""
    return "they" if number else group if group in ("he", "she") else "it"
