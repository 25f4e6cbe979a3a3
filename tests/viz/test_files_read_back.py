"""Every number of a file, found again in the trace by the coordinates that stand beside it.

Random networks over random texts, by tokens, words and sentences. Nine digits are written.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.heads import heads as numbers_of_heads
from analysis.view import JOINT, View
from models.run import Trace, load, trace
from models.vit import ViTConfig
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
    """By tokens, by words without special tokens, and by sentences, for each kind of network."""
    for run, t in traces():
        yield run, t, View(t, words=False)
        yield run, t, View(t, special="hidden")
        yield run, t, View(t, words=False, sentences=True)


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


def test_a_part_of_a_matrix_keeps_its_positions(tmp_path: Path) -> None:
    file = tmp_path / "file.csv"
    part = {"rows": range(1, 3), "columns": range(1, 4), "least": 0.05}
    for _, _, view in shown_of():
        site = attention(view)
        if min(site.queries, site.keys) < 4:
            continue
        for form, value in (("matrix", "weight"), ("lines", "weight"), ("text", "value")):
            token = {"token": 2} if form == "text" else {}
            lines = lines_of(export(view, file, view=form, **token, **part, **placed(site)))
            check_weights(view, lines, value)
            assert {int(line["key"]) for line in lines} == {1, 2, 3}
            left_out = [line for line in lines if not line[value]]
            assert all(float(line[value]) >= 0.05 for line in lines if line[value])
            known: dict = {}
            for line in left_out:
                weights = weights_by(view, line, site, known)
                assert float(weights[int(line["query"]), int(line["key"])]) < 0.05


def test_a_relevance_says_what_it_explains(tmp_path: Path) -> None:
    file = tmp_path / "file.csv"
    for number, (run, t, view) in enumerate(shown_of()):
        if "encoder," in t.model:  # it gives hidden states, no logits
            continue
        given: dict[str, Any] = {"method": "gradient", "output": "3.5", "run": run}
        for form in ("model", "faithfulness")[: 2 if number % 3 == 1 else 1]:
            lines = lines_of(export(view, file, view=form, **given))
            assert {line["of"] for line in lines} == {"the logit of output 5 at position 3"}
            assert {line["input"] for line in lines} == {input_of(t, 100)}
            assert not {"layer", "head"} & set(lines[0])


def arrays(file: Path) -> dict[str, Any]:
    with np.load(file) as held:
        return dict(held)


def test_arrays_name_their_sites(tmp_path: Path) -> None:
    file = tmp_path / "file.npz"
    for _, t, view in shown_of():
        found = arrays(export(view, file, view="atlas"))
        for n in range(len(view.sites)):
            own = {name: str(found[key]) for name in SITE if (key := f"site_{n}_{name}") in found}
            np.testing.assert_allclose(
                found[f"site_{n}_weights"], view.weights(site_by(view, own)).numpy(), rtol=1e-4
            )
        found = arrays(export(view, file, view="numbers"))
        expected = numbers_of_heads(view)
        for n, key in enumerate(found["heads_number_labels"].tolist()):
            for i, head in list(enumerate(found["heads_head"].tolist()))[:: 4 if n else 1]:
                own = {name: found[k][i] for name in SITE if (k := f"heads_{name}") in found}
                row = view.sites.index(site_by(view, own))
                number = float(expected[key][row, head])
                assert found["heads"][i, n] == pytest.approx(
                    number, rel=1e-3, abs=1e-4, nan_ok=True
                )
        names = found["heads_head_labels"].tolist()
        assert len({*names}) == len(names)
        assert str(found["input"]) == input_of(t)


def test_a_picture_s_table_names_patches(tmp_path: Path) -> None:
    config = ViTConfig(image=20, patch=4, dim=15, depth=2, heads=3, mlp=7, seed=1)
    t = trace(load(config), torch.rand(1, 3, 20, 20))
    lines = lines_of(export(t, tmp_path / "file.csv", view="image", layer=1, head=1))
    check_weights(t, lines)
    assert {line["input"] for line in lines} == {"a picture of 5 × 5 patches"}


def test_filters_without_effect_are_refused(tmp_path: Path) -> None:
    _, t = traces()[0]
    idle = {"values": "scores", "sinks": "hidden", "least": 0.5, "top": 3, "rows": range(1, 3)}
    for name, value in idle.items():
        for form in (*EVERY, "head", *(["model"] if name != "sinks" else [])):
            where = {} if form in EVERY else {"layer": 0, "head": 0}
            with pytest.raises(ValueError, match=f"{name}: without effect on '{form}'"):
                export(t, tmp_path / "file.svg", view=form, **where, **{name: value})
    assert not [*tmp_path.iterdir()]
