"""Dates in and out: every written form means the date that it was made from."""

import re
from calendar import day_name, month_name
from datetime import date
from random import Random

import pytest

from train.dates import DAYS, FORMS, SOURCE, TARGET, Dates, Written
from train.task import IGNORED
from train.vocabulary import BEGIN, END


def read(text: str) -> str:
    """An independent reader: what stands between numbers tells their order."""
    words = re.findall(r"[a-z-]+|\d+|'\d+", text.lower())
    for day in day_name:
        text = text.replace(f"{day} the ", "").replace(f"{day}, ", "")
    named = [
        m for m in month_name[1:] if any(w in (m.lower(), m[:3].lower()) for w in _split(words))
    ]
    numbers = [int(n) for n in re.findall(r"\d+", text)]
    if not named:
        first, second, third = numbers
        if "." in text:
            day, month, year = first, second, third
        elif "/" in text and first < 100:
            month, day, year = first, second, third
        else:
            year, month, day = first, second, third
    else:
        month = [*month_name].index(named[0])
        spelled = [i + 1 for i, name in enumerate(DAYS) if re.search(rf"(?<!-)\b{name}\b", text)]
        day = max(spelled, key=lambda i: len(DAYS[i - 1])) if spelled else None
        if day is None and (numbers[0] > 31 or "'" in text[: text.index(str(numbers[0])) + 1]):
            year, day = numbers[0], numbers[1]
        elif day is None:
            day, year = numbers
        else:
            (year,) = numbers
    year += 0 if year > 99 else 1900 if year >= 50 else 2000
    return f"{year}-{month:02d}-{day:02d}"


def _split(words: list[str]) -> list[str]:
    return [part for word in words for part in word.split("-")]


@pytest.mark.parametrize("form", range(len(FORMS)))
def test_every_form_means_its_date(form: int) -> None:
    dice = Random(form)
    for _ in range(150):
        day = Dates().draw(dice).day
        item = Written(day, form)
        assert read(item.text) == day.isoformat(), item.text


def test_there_are_enough_forms_and_all_differ() -> None:
    texts = {Written(date(1998, 3, 23), form).text for form in range(len(FORMS))}
    assert len(texts) == len(FORMS) >= 20
    assert {"23rd of March 1998", "98-3-23", "March the twenty-third, '98"} <= texts


def test_a_batch_by_hand() -> None:
    batch = Dates().batch([Written(date(2001, 2, 3), 21), Written(date(1998, 3, 23), 5)])
    source, target = batch.arguments["source"], batch.arguments["target"]
    assert source is not None
    assert target is not None
    assert [SOURCE.names[i] for i in source[0].tolist() if i] == list("01-2-3")
    assert target[0].tolist() == [BEGIN, *TARGET.ids("2001-02-03")]
    assert batch.target[0].tolist() == [*TARGET.ids("2001-02-03"), END]
    assert not batch.target.eq(IGNORED).any()
