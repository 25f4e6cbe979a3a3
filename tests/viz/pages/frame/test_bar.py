"""The bar above every page."""

from importlib import import_module
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages import helpers
from viz.pages.state.session import APP

SCRIPT = """
import streamlit as st
from viz.pages.frame import bar
from viz.pages.shared import device
from viz.pages.state import link_on_entry
link_on_entry.enter("one", ())
st.markdown(device())
bar.device()
"""


@pytest.mark.parametrize("names", [("cpu",), ("cpu", "cuda")])
def test_the_device_is_chosen_where_there_are_several(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("viz.pages.compute"), "devices", lambda: names)
    app = AppTest.from_string(SCRIPT).run()
    assert app.markdown[0].value == "cpu"
    offered: list[Any] = list(app.get("button_group"))
    assert [each.label for each in offered] == ["Device"] * (len(names) > 1)
    for choice in offered:
        assert [each.content for each in choice.proto.options] == ["CPU", "CUDA"]
        assert helpers.choose(app, APP, "device", "cuda").markdown[0].value == "cuda"
