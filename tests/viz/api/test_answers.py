"""Answers are computed once, within a bound, and what is counted elsewhere is not counted here."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from viz.api.answers import Answers


def test_many_who_ask_at_once_get_one_computation() -> None:
    answers, asked, computed = Answers(), threading.Barrier(7), []

    def compute() -> list[str]:
        computed.append(1)
        return ["answer"]

    def ask(_: int) -> list[str]:
        asked.wait(30)
        return answers.once("numbers", compute)

    with ThreadPoolExecutor(7) as threads:
        found = list(threads.map(ask, range(7)))
    assert len(computed) == 1
    assert all(each is found[0] for each in found)
    assert not answers._turns


def test_the_least_recently_used_are_dropped() -> None:
    answers = Answers(max_bytes=3 * 7)
    for key in "abc":
        answers.once(key, lambda: bytearray(7))
    answers.once("a", lambda: pytest.fail("known"))
    answers.once("d", lambda: bytearray(7))
    assert ["b" in answers, *(key in answers for key in "acd")] == [False, True, True, True]
    assert sum(answers.__pieces__().values()) == 3 * 7
    answers.once("large", lambda: bytearray(101))
    assert [key for key in ("a", "c", "d", "large") if key in answers] == ["large"]


def test_what_an_answer_refers_to_counts_once() -> None:
    shown = bytearray(10_007)
    answers = Answers(shown, max_bytes=201)
    for key in "ab":
        answers.once(key, lambda: (shown, bytearray(13)))
    assert sum(answers.__pieces__().values()) == 2 * (2 * 32 + 13)  # two references each
    assert "a" in answers


def test_a_failure_is_not_kept() -> None:
    answers = Answers()

    def fail() -> None:
        raise ValueError("no such output")

    for _ in range(2):
        with pytest.raises(ValueError, match="no such output"):
            answers.once("relevance", fail)
    assert answers.once("relevance", lambda: 7) == 7
    assert not answers._turns
