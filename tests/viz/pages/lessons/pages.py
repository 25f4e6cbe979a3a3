"""Opening a lesson without a browser, and reading what it says."""

import html
import re
from typing import Any

from streamlit.testing.v1 import AppTest

import start
from viz.pages.lessons import course


def run(name: str, **query: object) -> AppTest:
    """The lesson with these settings in its link."""
    app = AppTest.from_file(str(start.ROOT / "app.py"), default_timeout=120)
    for key, value in query.items():
        app.query_params[key] = str(value)
    app.switch_page(course.lesson(name).script)
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception, [element.message for element in app.exception]
    return app


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
    return [element.value.replace("\\", "").replace("\u200b", "") for element in app.error]


def widget(app: AppTest, key: str) -> Any:
    kinds = (
        *(app.slider, app.select_slider, app.number_input, app.text_input, app.text_area),
        *(app.selectbox, app.checkbox, app.toggle, app.get("button_group")),
    )
    return next(element for kind in kinds for element in kind if element.key == key)


def linked(app: AppTest) -> dict[str, str]:
    """What the link says."""
    params = dict(app.query_params)
    return {name: said if isinstance(said, str) else said[0] for name, said in params.items()}
