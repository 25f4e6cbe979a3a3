"""Every number of a view against slow loops over the weights, by tokens and by words.

Random networks over random texts; tolerances are float32 sums in another order, and five digits
where an answer rounds to them.
"""

from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.norms import alti
from analysis.rollout import rollout
from analysis.view import JOINT, View
from models.edits import Ablate, Cut
from models.run import trace
from tests.viz.api.asking import ask
from tests.viz.random_traces import joined_slowly, random_traces, views_of
from viz.api import text
from viz.api.entries import TraceEntry
from viz.export import export
from viz.views.methods import Asked, note_of

CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-6}
COUNT = 4  # of each kind of network one, and one without special tokens


def entries(count: int = COUNT) -> Any:
    for network, ids, written, t in random_traces(count):
        for view in views_of(t):
            opened = (network, ids, written)
            yield TraceEntry(view, opened=lambda opened=opened: opened), view


def sites_of(view: View) -> Any:
    """The sites that are one attention, with their weights by a slow loop: `head word other`."""
    for number, site in enumerate(view.sites):
        if site.kind == JOINT:
            continue
        rows, columns = view.origins(site, "out"), view.origins(site, "in")
        weights = view.trace.weights(view.trace.sites[number])
        slow = torch.stack([joined_slowly(each, rows, columns) for each in weights])
        yield number, site, slow


def test_the_weights_of_a_view_are_sums_over_keys_and_means_over_queries() -> None:
    for _, view in entries():
        for _, site, slow in sites_of(view):
            torch.testing.assert_close(view.weights(site), slow, **CLOSE)


def test_the_mean_and_the_largest_weight_of_all_heads_are_those_of_the_view() -> None:
    for entry, view in entries():
        known: dict[Any, list[torch.Tensor]] = {}
        for _, site, slow in sites_of(view):
            known.setdefault((site.kind, site.tower), []).append(slow)
        for number, site, _ in sites_of(view):
            heads = torch.cat(known[site.kind, site.tower])
            for method, expected in (("mean", heads.mean(0)), ("max", heads.amax(0))):
                found = Asked(entry, number, "mean", method).map()
                torch.testing.assert_close(found, expected, **CLOSE)
                assert float(found.max()) <= 1 + 1e-5  # it is a weight, or a mean of some


def lengths_slowly(t: Any, site: Any, head: int, rows: Any, columns: Any) -> torch.Tensor:
    """The length of what each word adds through a head, its tokens' vectors added up."""
    maps, weights = t.projections(site), t.weights(site, head)
    values = t.pattern(site).v[0, maps.kv_head(head)] @ maps.output[head].detach()
    found = torch.zeros(len(rows), len(columns))
    for i, row in enumerate(rows):
        for j, word in enumerate(columns):
            vectors = [
                torch.stack([weights[query, key] * values[key] for key in word]).sum(0)
                for query in row
            ]
            found[i, j] = sum(float(each.norm()) for each in vectors) / len(row)
    return found


def test_norms_rollout_and_alti_are_joined_as_they_say() -> None:
    for entry, view in entries():
        for number, site in enumerate(view.trace.sites):
            rows, columns = view.origins(site, "out"), view.origins(site, "in")
            lengths = torch.stack(
                [
                    lengths_slowly(view.trace, site, head, rows, columns)
                    for head in range(site.heads)
                ]
            )
            combined: dict[Any, Tensor] = {1: lengths[1]}
            combined |= {"mean": lengths.mean(0), "max": lengths.amax(0)}
            for head, expected in combined.items():
                found = Asked(entry, number, head, "norms").map()
                torch.testing.assert_close(found, expected, **CLOSE)
            if site.kind == "cross":
                continue
            slow = joined_slowly(rollout(view.trace, tower=site.tower), rows, columns)
            found = Asked(entry, number, "mean", "rollout").map()
            torch.testing.assert_close(found, slow, **CLOSE)


def test_rows_sum_to_1_where_they_are_averages() -> None:
    for entry, view in entries():
        assert ("whole words" in text.note_of(view)) == view.words
        for number, site, _ in sites_of(view):
            for method in ("mean", "rollout", "alti"):
                if method == "mean" or site.kind != "cross":
                    sums = Asked(entry, number, "mean", method).map().sum(-1)
                    torch.testing.assert_close(sums, torch.ones_like(sums), **CLOSE)
        assert ("whole" in note_of(view, "max")) == view.words


def test_a_relevance_of_all_tokens_is_their_sum() -> None:
    for entry, _ in entries():
        for method in ("gradient", "attnlrp"):
            found = ask(entry, "relevance", method, "5.7")
            if "why" in found:
                assert "logits" in found["why"] or "second text" in found["why"]
                continue
            shown = sum(found["values"]) + sum(found["read"] or ())
            size = max(map(abs, (*found["values"], *(found["read"] or ()), found["total"])))
            assert shown == pytest.approx(found["total"], abs=1e-3 * size)
            if method == "attnlrp":
                total = found["total"] + found["unassigned"]
                assert total == pytest.approx(found["value"], abs=1e-3 * size)


def test_a_file_never_mixes_two_passes(tmp_path: Any) -> None:
    """Hidden states and gradients come from a pass of their own: it must be the one shown."""
    network, ids, _, plain = [*random_traces(2)][1]
    run = (network, ids)
    file = tmp_path / "file.csv"
    for edit in (Ablate(0, 1), Cut(1, 2, None, 3), Ablate(1, 0, "mean")):
        edited = trace(network, ids, edits=[edit])
        asked: dict[str, Any] = {"view": "model", "run": run}
        with pytest.raises(ValueError, match="that pass is not the one of this trace"):
            export(edited, file, method="gradient", output="3.5", **asked)
        again = export(edited, file, method="alti", **asked).read_text()
        states = trace(network, ids, edits=[edit], hidden=True)
        assert again == export(states, file, method="alti", **asked).read_text()
    with pytest.raises(ValueError, match="that pass is not the one of this trace"):
        export(plain, file, view="model", method="alti", run=(network, ids + 1))
    export(plain, file, view="model", method="alti", run=run)
    held = trace(network, ids, edits=[Ablate(0, 1)], hidden=True)
    export(held, file, view="model", method="alti", run=run)
    found = Asked(TraceEntry(held), 0, "mean", "alti").map()
    torch.testing.assert_close(found, alti(held), **CLOSE)
