"""Opening a lesson without a browser, and reading what it says."""

import html
import re

from streamlit.testing.v1 import AppTest

from tests.viz.pages import helpers

SCRIPT = "from viz.pages.frame import registry\nregistry.ENTRIES[{name!r}].draw()\n"


def run(name: str, **query: object) -> AppTest:
    """The lesson with these settings in its link."""
    app = AppTest.from_string(SCRIPT.format(name=name), default_timeout=120)
    for key, value in query.items():
        app.query_params[key] = str(value)
    return helpers.checked(app.run())


def words(app: AppTest) -> str:
    """All text of the lesson's HTML, without its tags."""
    bodies = [element.proto.body for element in app.get("html")]
    kept = [body for body in bodies if "<style>" not in body and "lesson-glossary" not in body]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", " ".join(kept))))


def errors(app: AppTest) -> list[str]:
    """The lines that say what is wrong."""
    return [element.value.replace("\\", "").replace("&#58;", ":") for element in app.error]
