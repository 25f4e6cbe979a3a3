"""A score as a tree for the browser: sums of every node, and edges cut in passes."""

from typing import Any

import pytest

from models.edits import Cut, Temperature
from models.request import TraceRequest
from models.run import load, trace
from viz.api import tracing, unfolded
from viz.api.entries import TraceEntry
from viz.api.requests import QuestionError
from viz.api.tracing import TOKENS, Between

TEXT = "the cat saw the dog"
CLOSE = 2e-4  # of numbers with five digits, summed


def entry_of(edits: tuple[Any, ...] = (), between: Between = TOKENS) -> TraceEntry:
    request = TraceRequest(tracing.of_catalogue("grammar-next"), TEXT, edits=edits)
    return tracing.entry_for(request, between).value


def walk(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(each for branch in node["branches"] for each in walk(branch))]


@pytest.mark.parametrize("edits", [(), (Temperature(0.5, 0),)], ids=["plain", "edited"])
@pytest.mark.parametrize("side", unfolded.SIDES)
def test_nodes_sum_and_edges_are_cut_in_passes(edits: tuple[Any, ...], side: Any) -> None:
    answer = unfolded.unfolded(entry_of(edits), "", 1, 0, 5, 3, side)
    model = load("grammar-next")
    t = trace(model, TEXT, edits=edits)
    score = float(t.scores(1, 0)[5, 3])
    assert answer["score"] == pytest.approx(score, abs=1e-6)  # another order of sums
    assert answer["tree"]["value"] == pytest.approx(score, abs=CLOSE)
    nodes = walk(answer["tree"])
    for node in nodes:
        if node["branches"]:
            rest = 0 if node["others"] is None else node["others"][1]
            total = sum(each["value"] for each in node["branches"]) + rest
            assert total == pytest.approx(node["value"], abs=CLOSE)
    read = {"query": 5, "key": 3}[side]
    heads = [each for each in answer["tree"]["branches"] if "head" in each["name"]]
    assert len([head for head in heads if head["branches"]]) == 2  # of layer 0
    for head in heads:
        if not head["branches"]:
            continue
        layer, number = (int(each.rstrip(",")) for each in head["name"].split()[1::2])
        assert len(head["branches"]) == min(unfolded.WIDTH, read + 1)  # tokens that it can see
        for edge in head["branches"]:
            assert edge["name"] == t.labels[edge["token"]]
            cuts = [*edits, Cut(layer, number, read, edge["token"])]
            cut = trace(model, TEXT, edits=cuts)
            after = float(cut.scores(1, 0)[5, 3])
            assert edge["after"] == pytest.approx(after, abs=CLOSE)


def test_rows_of_words_stand_for_their_tokens() -> None:
    words = unfolded.unfolded(entry_of(between=Between(by="yes")), "", 1, 0, 5, 3)
    assert words == unfolded.unfolded(entry_of(), "", 1, 0, 5, 3)


@pytest.mark.parametrize(("query", "depth"), [(99, 1), (3, 9)])
def test_what_is_not_there_is_refused(query: int, depth: int) -> None:
    with pytest.raises(QuestionError, match="depth 1 to 2"):
        unfolded.unfolded(entry_of(), "", 1, 0, query, 0, "key", depth)
