"""Questions about ideas: multiple choice, with a reply to every wrong option."""

from collections.abc import Sequence
from random import Random

import streamlit as st

from viz.pages.lessons.quiz import compute, maps, tables
from viz.pages.lessons.quiz.question import Maker, Question, choices

SENTENCES = (("dog", "bites", "man"), ("cats", "chase", "mice"), ("owls", "watch", "bats"))


def _order(dice: Random) -> Question:
    words = dice.choice(SENTENCES)
    one, other = " ".join(words), " ".join(reversed(words))
    answer, slips, options = choices(
        dice,
        "It is the same.",
        {
            "It changes, because its neighbours have changed sides.": "Attention compares with"
            " every word alike: nothing in the vectors says which side a word is on.",
            f"It becomes what the vector of “{words[2]}” was.": "The vector follows its word, not"
            " its position: queries, keys and values are computed from the word alone.",
            "It changes, because the weights are computed in another order.": "A softmax and a"
            " sum do not depend on the order of their terms.",
        },
    )
    return Question(
        "Another order",
        "A layer of [[self-attention]] without positions and without a mask reads both sentences."
        f" How does its vector of “{words[0]}” differ between the two?",
        tables.facts(("First", one), ("Second", other)),
        answer,
        "The same words meet the same queries and keys: only the rows change places. Computed with"
        f" random weights, the largest difference is {_moved(words):.8f}.",
        slips,
        options,
    )


def _unscaled(dice: Random) -> Question:
    width = dice.choice((256, 512, 1024))
    answer, slips, options = choices(
        dice,
        "Nearly all the weight goes to one key, and gradients nearly vanish.",
        {
            "All keys get nearly the same weight.": "That is what a high temperature does; here"
            " the differences between scores grow.",
            "Nothing: the softmax normalises the scores anyway.": "A softmax depends on the"
            " differences between scores, and these grow with the width.",
            "Some weights become negative.": "An exponential is never negative, whatever the"
            " score.",
        },
    )
    return Question(
        "Without the scale",
        "Queries and keys have independent random features with variance 1. What happens if their"
        " [[dot product|dot products]] are not divided by √d?",
        tables.facts(("Width d", str(width)), ("Keys", "8")),
        answer,
        f"The scores have variance {width}, a deviation of {width**0.5:.0f}: the largest of them"
        " takes nearly everything, and a weight near 0 or 1 has hardly any slope.",
        slips,
        options,
    )


def _cache(dice: Random) -> Question:
    answer, slips, options = choices(
        dice,
        "No earlier token sees a later one, so its keys and values stay the same.",
        {
            "Keys and values do not depend on the tokens.": "They are computed from the tokens'"
            " states; only the matrices are fixed.",
            "Each new token attends only to the one before it.": "It attends to all earlier tokens:"
            " that is why their keys and values are kept.",
            "The network is not in training.": "An encoder in use has no such cache: without a"
            " causal mask, a new token changes the states of all others.",
        },
    )
    return Question(
        "The key–value cache",
        "A [[decoder]] that generates text computes keys and values of each token once and keeps"
        " them. Why is that exact?",
        tables.facts(("Mask", "causal"), ("Generated so far", f"{dice.randint(5, 40)} tokens")),
        answer,
        "Under a [[causal mask]] a token's state depends on itself and what stands before it. What"
        " is appended later cannot change it.",
        slips,
        options,
    )


def _evidence(dice: Random) -> Question:
    picture, share = maps.last_row(dice.choice(maps.REPEATED), dice.randrange(2))
    answer, slips, options = choices(
        dice,
        "The head's output is mostly that token's value vector.",
        {
            "The prediction depends mostly on that token.": "Other heads and the residual"
            " connection carry information too: that takes an experiment, such as ablating the"
            " head.",
            "That token is similar in meaning to the query's.": "A query and a key are learned:"
            " a head can match on position, spelling or grammar.",
            "The head has the same role on every text.": "One text shows one case: a head may do"
            " something else on the next.",
        },
    )
    return Question(
        "What a weight proves",
        "A real row of weights: the last token gives"
        f" {share:.2f} of its weight to a single token. What follows?",
        picture,
        answer,
        "The output of a head is the weighted sum of the values, so most of it comes from that"
        " value, unless that vector is very short. Anything about the prediction has to be tested.",
        slips,
        options,
    )


@st.cache_resource(max_entries=len(SENTENCES), show_spinner=False)
def _moved(words: tuple[str, ...]) -> float:
    """How far the vectors of reversed words move, without positions."""
    before, after = compute.permuted(words, [2, 1, 0], positions=False)
    return float((before - after).norm(dim=-1).max())


QUESTIONS: Sequence[Maker] = (_order, _unscaled, _cache, _evidence)
