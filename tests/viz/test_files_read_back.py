"""Every number of a file, found again in the trace by the coordinates that stand beside it.

Random networks over random texts, by tokens, words and sentences. Nine digits are written.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from analysis.view import JOINT, View
from models.run import Trace
from tests.viz.random_traces import random_traces
from viz.export import export
from viz.views import EVERY
from viz.views.request import input_of

COUNT = 3  # one network of each kind
SITE = ("layer", "kind", "tower", "module", "part")
QUERY, KEY = 2, 1


@cache
def traces() -> list[tuple[Any, Trace]]:
    return [((network, ids, written), t) for network, ids, written, t in random_traces(COUNT)]


def shown_of() -> Iterator[tuple[Any, Trace, View]]:
    """By tokens, and by words without special tokens, for each kind of network."""
    for run, t in traces():
        yield run, t, View(t, words=False)
        yield run, t, View(t)


def lines_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))


def site_by(shown: Any, line: Mapping[str, Any]) -> Any:
    """The one site that a line names."""
    given = {name: str(line[name]) for name in SITE if line.get(name) not in (None, "")}
    fitting = [
        site
        for site in shown.sites
        if all(str(getattr(site, name)) == value for name, value in given.items())
    ]
    assert len(fitting) == 1, (given, fitting)
    return fitting[0]


def place_in(line: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(line[name]) for name in SITE if line.get(name) not in (None, ""))


def weights_by(shown: Any, line: Mapping[str, Any], site: Any, known: dict) -> torch.Tensor:
    """ "query key" of the head that a line names."""
    if (site, line["head"]) not in known:
        every = shown.weights(site)
        combined = {"mean": every.mean(0), "max": every.amax(0)}
        known |= {(site, str(head)): own for head, own in enumerate(every)}
        known |= {(site, name): own for name, own in combined.items()}
    return known[site, str(line["head"])]


def check_weights(shown: Any, lines: Sequence[Mapping[str, str]], name: str = "weight") -> None:
    assert lines
    sites = {place_in(line): site_by(shown, line) for line in lines}
    labels = {
        place: {"query_token": shown.query_labels(site), "key_token": shown.key_labels(site)}
        for place, site in sites.items()
    }
    known: dict = {}
    for line in lines:
        place, at = place_in(line), (int(line["query"]), int(line["key"]))
        weights = weights_by(shown, line, sites[place], known)
        if line[name]:
            assert abs(float(line[name]) - float(weights[at])) < 1e-6
        for side, token in zip(("query_token", "key_token"), at, strict=True):
            assert line.get(side, labels[place][side][token]) == labels[place][side][token]


def attention(view: View) -> Any:
    return next(site for site in view.sites if site.kind != JOINT)


def placed(site: Any, head: Any = 1) -> dict[str, Any]:
    return {"layer": site.layer, "kind": site.kind, "tower": site.tower, "head": head}


def test_each_line_of_weights_names_one_weight(tmp_path: Path) -> None:
    file = tmp_path / "file.csv"
    for _, t, view in shown_of():
        for form, heads in (("matrix", (1, "mean")), ("lines", (None,)), ("atlas", (None,))):
            for head in heads:
                where = {} if form == "atlas" else placed(view.sites[-1], head)
                lines = lines_of(export(view, file, view=form, **where))
                check_weights(view, lines)
                places = {
                    tuple(line[name] for name in line if name[-5:] != "token") for line in lines
                }
                assert len(places) == len(lines)
                assert {line["input"] for line in lines} == {input_of(t, 100)}
                for line in lines:  # a joint map is of both towers
                    empty = {name for name, value in line.items() if not value}
                    assert empty <= ({"tower"} if line["kind"] == JOINT else set())
        site = attention(view)
        for head in (0, "max"):
            lines = lines_of(export(view, file, view="text", token=QUERY, **placed(site, head)))
            check_weights(view, lines, "value")
            inward = {"token": KEY, "direction": "in"}
            lines = lines_of(export(view, file, view="text", **inward, **placed(site, head)))
            check_weights(view, lines, "value")
            assert {line["key"] for line in lines} == {str(KEY)}


def test_filters_without_effect_are_refused(tmp_path: Path) -> None:
    _, t = traces()[0]
    idle = {"values": "scores", "sinks": "hidden", "rows": range(1, 3)}
    for name, value in idle.items():
        for form in (*EVERY, "head", *(["model"] if name != "sinks" else [])):
            where = {} if form in EVERY else {"layer": 0, "head": 0}
            with pytest.raises(ValueError, match=f"{name}: without effect on '{form}'"):
                export(t, tmp_path / "file.svg", view=form, **where, **{name: value})
    assert not [*tmp_path.iterdir()]
