"""The rows worth seeing, as the views ask for them: by tokens and by words."""

import pytest

from analysis.view import View
from tests.viz.api.asking import ask
from tests.viz.api.catalogue import entry_of

TEXT = "The animal didn't cross the street because it was too tired."


@pytest.mark.parametrize("words", [False, True])
def test_the_rows_are_cells_of_the_view(words: bool) -> None:
    entry = entry_of("minilm", TEXT, words=words)
    rows = ask(entry, "worth")["rows"]
    assert len(rows) == 3
    for row in rows:
        site = entry.view.sites[row["site"]]
        weight = entry.view.weights(site, row["head"])[row["query"], row["key"]]
        assert row["weight"] == pytest.approx(float(weight), abs=1e-5)
        assert entry.view.query_labels(site)[row["query"]].strip() == row["words"]["query"]
        assert entry.view.key_labels(site)[row["key"]].strip() == row["words"]["key"]
    assert rows[0]["words"] == {"query": "it", "key": "animal"}
    assert rows[0]["reason"] == "six words back"
    assert isinstance(entry.view, View) == words


def test_what_has_no_words_is_refused_in_a_sentence() -> None:
    assert "no two words" in ask(entry_of("minilm", "hi"), "worth")["why"]
