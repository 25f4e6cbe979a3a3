"""The small English: verbs agree, a pronoun means one noun, and every word is known."""

from random import Random

from train.grammar import (
    BEGUN,
    GROUPS,
    STATES,
    VERBS,
    WHOLE,
    Masked,
    NextWord,
    agreement,
    pronoun,
)
from train.task import IGNORED, draw
from train.vocabulary import MASK

FIRST = [agreement(Random(f"first {n}")) for n in range(500)]
SECOND = [pronoun(Random(f"second {n}")) for n in range(500)]
GROUP = {form: (group, number) for group, nouns in GROUPS.items() for noun in nouns
         for number, form in enumerate(noun)}  # fmt: skip
SAYS = {"he": "he", "she": "she", "animal": "it", "object": "it", "place": "it"}


def test_verbs_agree_with_their_subject() -> None:
    numbers = {form: number for pair in VERBS for number, form in enumerate(pair)}
    across = 0
    for sentence in FIRST:
        assert sentence.rival is not None
        group, number = GROUP[sentence.words[sentence.meant]]
        assert numbers[sentence.words[sentence.asked]] == number
        assert numbers[sentence.rival] == 1 - number
        between = [GROUP[w] for w in sentence.words[2 : sentence.asked] if w in GROUP]
        across += any(other != number for _, other in between)
        said = next(w for w in reversed(sentence.words) if w != ".")
        assert said in STATES[group] or said in ("old", "new", "big", "small")
    assert across > 200  # a noun of the other number stands in between: the nearest one misleads


def test_a_pronoun_means_one_noun() -> None:
    same = 0
    for sentence in SECOND:
        assert sentence.pronoun is not None
        said = sentence.words[sentence.pronoun]
        state = next(w for w in sentence.words[sentence.pronoun :] if any(
            w in states for states in STATES.values()))  # fmt: skip
        possible = []
        for place, word in enumerate(sentence.words[: sentence.pronoun]):
            if word in GROUP:
                group, number = GROUP[word]
                fits = said == ("they" if number else SAYS[group])
                same += fits and place != sentence.meant
                if fits and state in STATES[group]:
                    possible.append(place)
        assert possible == [sentence.meant], sentence.text
        assert sentence.words[sentence.asked] == sentence.words[sentence.meant]
        verb = sentence.words[sentence.pronoun + 1]
        assert verb == ("were" if said == "they" else "was")
    assert same > 60  # the other noun has the same pronoun: what is said of it decides


def test_all_words_are_known_once() -> None:
    words = WHOLE.names
    assert len(set(words)) == len(words)
    assert {word for sentence in (*FIRST, *SECOND) for word in sentence.words} <= set(words)
    assert {"[UNK]"} == {WHOLE.names[i] for i in WHOLE.ids("hedgehog")[1:-1]}


def test_masked_words_are_hidden_and_asked_for() -> None:
    for item in draw(Masked(), 100, Random("masked")):
        batch = Masked().batch([item])
        ids, whole = batch.arguments["ids"], WHOLE.ids(item.sentence.text)
        assert ids is not None
        for place, (seen, asked) in enumerate(zip(ids[0].tolist(), batch.target[0], strict=True)):
            assert (asked != IGNORED) == (place - 1 in item.places)
            assert asked in (IGNORED, whole[place])
            assert seen == (MASK if place - 1 in item.hidden else whole[place])


def test_the_exams_ask_one_thing() -> None:
    for sentence in draw(NextWord("agreement"), 30, Random("exam")):
        batch = NextWord("agreement").batch([sentence])
        assert batch.graded is not None
        assert batch.rivals is not None
        (place,) = batch.graded[0].nonzero()[:, 0].tolist()
        assert BEGUN.names[batch.target[0, place]] == sentence.words[sentence.asked]
        assert BEGUN.names[batch.rivals[0, place]] == sentence.rival
    for item in draw(Masked("antecedent"), 30, Random("exam")):
        assert item.places == item.hidden == (item.sentence.asked,)
