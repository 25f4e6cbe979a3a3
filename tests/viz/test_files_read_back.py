"""Every number of a file, found again in the trace by the coordinates that stand beside it.

Random networks over random texts, by tokens, words and sentences. Nine digits are written.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

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


def lines_of(path: Path) -> pd.DataFrame:
    words: Any = dict.fromkeys(("head", "kind", "tower", "query_token", "key_token"), str)
    empty: Any = {"weight": "", "value": ""}
    return pd.read_csv(path, dtype=words, keep_default_na=False, na_values=empty)


def check_weights(shown: Any, lines: pd.DataFrame, name: str = "weight") -> None:
    """Each line has the weight at its coordinates, and the labels of these."""
    assert len(lines)
    places = [column for column in (*SITE, "head") if column in lines]
    place: Any
    for place, group in lines.groupby(places):
        named = dict(zip(places, map(str, place), strict=True))
        given = {key: value for key, value in named.items() if key != "head" and value}
        (site,) = [
            each
            for each in shown.sites
            if all(str(getattr(each, key)) == value for key, value in given.items())
        ]
        every = shown.weights(site)
        combined = {"mean": every.mean(0), "max": every.amax(0)}
        weights = (
            combined[named["head"]] if named["head"] in combined else every[int(named["head"])]
        )
        query, key = group["query"].to_numpy(), group["key"].to_numpy()
        written, expected = group[name].to_numpy(), weights.numpy()[query, key]
        np.testing.assert_allclose(
            written, np.where(np.isnan(written), np.nan, expected), atol=1e-6
        )
        for side, at, labels in (
            ("query_token", query, shown.query_labels(site)),
            ("key_token", key, shown.key_labels(site)),
        ):
            assert side not in group or group[side].tolist() == [labels[n] for n in at]


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
                assert not lines[[n for n in lines if n[-5:] != "token"]].duplicated().any()
                assert {*lines["input"]} == {input_of(t, 100)}
                empty = lines[lines["kind"] != JOINT].map(lambda cell: cell == "")
                assert not empty.to_numpy().any()  # a joint map is of both towers
        site = attention(view)
        for head in (0, "max"):
            lines = lines_of(export(view, file, view="text", token=QUERY, **placed(site, head)))
            check_weights(view, lines, "value")
            inward = {"token": KEY, "direction": "in"}
            lines = lines_of(export(view, file, view="text", **inward, **placed(site, head)))
            check_weights(view, lines, "value")
            assert {*lines["key"]} == {KEY}


def test_filters_without_effect_are_refused(tmp_path: Path) -> None:
    _, t = traces()[0]
    idle = {"values": "scores", "sinks": "hidden", "rows": range(1, 3)}
    for name, value in idle.items():
        for form in (*EVERY, "head", *(["model"] if name != "sinks" else [])):
            where = {} if form in EVERY else {"layer": 0, "head": 0}
            with pytest.raises(ValueError, match=f"{name}: without effect on '{form}'"):
                export(t, tmp_path / "file.svg", view=form, **where, **{name: value})
    assert not [*tmp_path.iterdir()]
