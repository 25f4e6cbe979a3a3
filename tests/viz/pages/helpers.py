"""Pages without a browser: what they draw, the props of their views, and widgets to move."""

import json
from collections.abc import Mapping
from itertools import count
from typing import Any

from streamlit.testing.v1 import AppTest

from viz.pages.state import attachments

UPLOADS = count()
SCRIPT = "from viz.pages.{module} import page\npage.page()\n"


def run(module: str, query: dict[str, str] | None = None, *, timeout: float = 60) -> AppTest:
    """Opens a page by a link; `module` is its folder below viz/pages, such as "explore"."""
    app = AppTest.from_string(SCRIPT.format(module=module), default_timeout=timeout)
    for name, value in (query or {}).items():
        app.query_params[name] = value
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    """The same; it must show something, and have ended without an exception."""
    assert not app.exception, [element.message for element in app.exception]
    assert app.markdown or app.get("bidi_component"), "expected a heading or a view"
    return app


def views(app: AppTest, kind: str) -> list[dict[str, Any]]:
    """The props of all browser views of a kind."""
    found = [json.loads(element.proto.json)[0] for element in app.get("bidi_component")]
    return [props for props in found if props["kind"] == kind]


def view(app: AppTest, kind: str) -> dict[str, Any]:
    """The props of the only view of a kind."""
    (props,) = views(app, kind)
    return props


def link(app: AppTest) -> dict[str, str]:
    """The settings' part of the link that the page's view writes."""
    found = [json.loads(element.proto.json)[0] for element in app.get("bidi_component")]
    return next(props["link"] for props in found if "link" in props)


def key(app: AppTest, page: str, name: str) -> str:
    """The key of the widget of a setting, as it stands in the page."""
    mounts = app.session_state[f"state/{page}/mounts"]
    return mounts[name].key


def shown(app: AppTest, page: str, name: str) -> bool:
    """Whether the last run drew a widget for a setting."""
    state, mounts = app.session_state, f"state/{page}/mounts"
    return mounts in state and name in state[mounts] and state[mounts][name].key in state


def choose(app: AppTest, page: str, name: str, value: Any) -> AppTest:
    """Moves the widget of a setting, whatever it is, and runs the page."""
    wanted = key(app, page, name)
    kinds = ("selectbox", "number_input", "button_group", "toggle", "text_input", "text_area")
    for kind in kinds:
        for element in app.get(kind):
            widget: Any = element
            if widget.key == wanted:
                widget.set_value(value)
                return checked(app.run())
    app.session_state[wanted] = {"value": value}  # a view of ours
    return checked(app.run())


def take(app: AppTest, name: str, shelf: str = "included") -> AppTest:
    """Chooses a model from one of the lists."""
    key = f"explore_{shelf}"
    app.session_state[key] = {"chosen": name}
    checked(app.run())
    app.session_state[key] = {"chosen": None}
    return app


def upload(
    app: AppTest, name: str, files: Mapping[str, bytes], refused: Mapping[str, str] | None = None
) -> AppTest:
    """Uploads files together, as the browser does, and runs the page.

    Args:
        app: of the page.
        name: of the page and its setting, such as "explore_upload".
        files: by their names.
        refused: by their names, why others were not sent.
    """
    sent = [{"name": name, "digest": attachments.keep(data)} for name, data in files.items()]
    others = [{"name": name, "reason": reason} for name, reason in (refused or {}).items()]
    told = {"id": str(next(UPLOADS)), "sent": sent, "refused": others}
    app.session_state[f"{name}_files"] = {"files": told}
    return checked(app.run())


def setting(app: AppTest, page: str, name: str) -> Any:
    """The value of a setting."""
    return app.session_state[f"state/{page}"].settings[name]


def lines(app: AppTest) -> list[str]:
    """The page's errors and notices, as a reader sees them."""
    return [
        element.value.replace("\\", "").replace("&#58;", ":") for element in (*app.error, *app.info)
    ]
