"""Moving whatever a lesson lets a reader move."""

import re
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.viz.pages import helpers
from viz.pages.state import params as link

TEXTS = {  # what is typed in place of what is there
    "pairs": "Ann: 150\nMike: 160\nMichelle: 190\nAndrew: 170",
    "given": "0.1 0.2 0.3 0.4",
    "scores": "1 2 3 4",
    "start": "the cat",
    "date": "1998-3-3",
    "letters": "planet",
}


def controls(app: AppTest, name: str) -> list[str]:
    """The settings with a control in the page, in its order; of a matrix the first box."""
    state = app.session_state[f"state/{name}/mounts"]
    return [each for each in state if helpers.shown(app, name, each) and _is_first(each)]


def _is_first(setting: str) -> bool:
    box = re.fullmatch(r"[a-z]+([1-9]{2})", setting)
    return box is None or box[1] == "11"


def other(param: link.Param, value: Any) -> Any:
    """Another value of a setting."""
    options = param.expected.removeprefix("one of ")
    if options != param.expected:
        found = [param.parse(text) for text in options.split(", ")]
        return found[(found.index(value) + 1) % len(found)]
    if span := re.fullmatch(
        r"a (?:whole )?number from \S+ to (\S+?)(?: in steps of (\d+))?", options
    ):
        step = int(span[2] or 1)
        return value + step if value + step <= float(span[1]) else value - step
    return TEXTS.get(param.name, f"{value} 1".strip())
