"""Charts of a page: what the browser gets of a figure, and what it reports of a click."""

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages import helpers
from viz.api.server import plotly_path
from viz.figures import heatmap


def drawn() -> None:
    import numpy as np
    import streamlit as st

    from viz.figures import heatmap
    from viz.pages.widgets import charts

    values = np.arange(6, dtype=np.float32).reshape(2, 3) / 5
    figure = heatmap(values, title="<b>t</b>", x="key", y="query", bar="w", low=0, high=1)
    charts.chart("here", figure, "one", "six cells", picked=lambda: None)
    st.text(str(charts.cell("here", "one")))


def test_the_browser_gets_the_figure_without_colours():
    app = AppTest.from_function(drawn, default_timeout=30).run()
    assert not app.exception
    props = helpers.view(app, "chart")
    assert (props["height"], props["alt"], props["plotly"]) == (420, "six cells", plotly_path())
    assert "template" not in json.loads(props["figure"])["layout"]
    (figure,) = helpers.figures(app)
    values = np.arange(6, dtype=np.float32).reshape(2, 3) / 5
    expected: Any = heatmap(values, title="<b>t</b>", x="key", y="query", bar="w", low=0, high=1)
    expected.layout.template = None
    assert figure.to_dict() == go.Figure(expected).to_dict()
    (sent,) = (element.proto for element in app.get("bidi_component"))
    assert sent.component_name == "headscope-views.chart"
    assert not sent.isolate_styles


@pytest.mark.parametrize(
    ("event", "cell"),
    [
        ({"x": 9, "y": 3}, (9, 3)),
        ({"x": None, "y": 4}, (None, 4)),
        ({"x": "<b>", "y": 1.5}, (None, None)),
        ("table", (None, None)),
        (None, (None, None)),
    ],
)
def test_a_click_is_a_column_and_a_row(event: Any, cell: tuple[int | None, int | None]) -> None:
    app = AppTest.from_function(drawn, default_timeout=30)
    app.session_state["here_chart_one"] = {"picked": event}
    app.run()
    assert not app.exception
    assert app.text[0].value == str(cell)
