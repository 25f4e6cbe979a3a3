"""What a change can reach, as the views ask for it: against the masks of the shipped networks."""

import pytest

from analysis.reachable import reachable as rows_of
from analysis.view import View
from tests.viz.api.asking import ask
from tests.viz.api.catalogue import entry_of
from viz.api.requests import QuestionError
from viz.api.tracing import Between


def test_rows_are_ranges_of_each_site() -> None:
    entry = entry_of("grammar-next", "the cat saw the dog")
    count = len(entry.trace.tokens[0])
    answer = ask(entry, "reachable", 0, "v", head=0, token=2)
    assert answer["sites"][0]["rows"] == [[2, count]]
    assert all(each == {"heads": None, "rows": [[2, count]]} for each in answer["sites"][1:])
    last = ask(entry, "reachable", len(entry.trace.sites) - 1, "q", token=1)
    assert last["sites"][:-1] == [None] * (len(entry.trace.sites) - 1)
    assert last["sites"][-1]["rows"] == [[1, 2]]


def test_words_are_reached_by_any_of_their_tokens() -> None:
    entry = entry_of("minilm", "An unbelievable transformer", between=Between(by="yes"))
    trace, view = entry.trace, entry.view
    assert isinstance(view, View)
    groups = view.origins(view.sites[0], "out")
    place = next(place for place, group in enumerate(groups) if len(group) > 1)
    answer = ask(entry, "reachable", 0, "q", head=1, token=groups[place][-1])
    assert answer["sites"][0] == {"heads": [1], "rows": [[place, place + 1]]}
    assert answer["sites"][1] == {"heads": None, "rows": [[0, len(groups)]]}
    assert rows_of(trace, trace.sites[0], "q", head=1, token=groups[place][-1])[1].all()


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(QuestionError, match="token"):
        ask(entry_of("grammar-next", "the cat"), "reachable", 0, "q", token=999)
