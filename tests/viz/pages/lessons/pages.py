"""Opening a lesson without a browser, and reading what it says."""

import html
import re
from importlib import import_module

from streamlit.testing.v1 import AppTest

from tests.viz.pages import helpers


def run(name: str, **query: object) -> AppTest:
    """The lesson with these settings in its link."""
    texts = {key: str(value) for key, value in query.items()}
    return helpers.run(f"lessons.{name}", texts, timeout=120)


def whole(name: str, **query: object) -> AppTest:
    """The lesson at its last step, if it has steps."""
    params = import_module(f"viz.pages.lessons.{name}.page").PARAMS
    last = {param.name: param.high for param in params if param.name == "step"}
    return run(name, **{**last, **query})


def chosen(app: AppTest) -> dict[str, str]:
    """The settings' part of the link, but for the step."""
    return {name: value for name, value in helpers.link(app).items() if name != "step"}


def words(app: AppTest) -> str:
    """All text of the lesson's HTML, without its tags."""
    bodies = [element.proto.body for element in app.get("html")]
    kept = [body for body in bodies if "<style>" not in body and "lesson-glossary" not in body]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", " ".join(kept))))


def numbers(app: AppTest, digits: int = 4) -> list[float]:
    """All numbers with so many digits behind the point, in the order they stand."""
    found = re.findall(rf"−?\d+\.\d{{{digits}}}(?!\d)", words(app))
    return [float(text.replace("−", "-")) for text in found]


def errors(app: AppTest) -> list[str]:
    """The lines that say what is wrong."""
    return [element.value.replace("\\", "").replace("&#58;", ":") for element in app.error]
