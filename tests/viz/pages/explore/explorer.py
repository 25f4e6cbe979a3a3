"""What the tests of Explore share: the page, what it shows, and files to drop on it."""

import io
from itertools import count
from typing import Any

import numpy as np
from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from tests.viz.pages import helpers
from viz.api import registry
from viz.pack import unpack
from viz.pages.state import attachments
from viz.routes import routes

SMALL = {"model": "built-vit", "size": "64", "heads": "2", "dim": "16", "depth": "2"}

IDS = count()


def opened(**query: str) -> AppTest:
    """The page, opened by a link."""
    return helpers.run("explore", query)


def small(**query: str) -> AppTest:
    """The page with a small network of pictures that is built there."""
    return opened(**SMALL | query)


def choose(app: AppTest, name: str, value: Any) -> AppTest:
    """Moves the widget of a setting."""
    return helpers.choose(app, "explore", name, value)


def ask(app: AppTest, do: str, value: Any = None, second: str | None = None) -> AppTest:
    """What the Lab asks for."""
    sent = {"id": str(next(IDS)), "do": do, "value": value, "second": second}
    app.session_state["explore_view"] = {"edit": {"sent": [sent]}}
    return helpers.checked(app.run())


def setting(app: AppTest, name: str) -> Any:
    return helpers.setting(app, "explore", name)


def press(app: AppTest, name: str) -> AppTest:
    """Presses a button."""
    return helpers.checked(app.button(f"explore_{name}").click().run())


def with_list(app: AppTest) -> AppTest:
    """The page with the list of models open."""
    app.session_state[f"explore_models_{app.session_state['state/explore'].revision}"] = True
    return helpers.checked(app.run())


def typed(app: AppTest, name: str) -> AppTest:
    """Types the id of a model of the hub, or the path of a folder, into the list of models."""
    (box,) = with_list(app).text_input
    return helpers.checked(box.set_value(name).run())


def same(found: Any, expected: Any) -> bool:
    """Whether numbers are equal but for the rounding of sums on another number of cores."""
    return np.allclose(found.numpy(force=True), expected.numpy(force=True), rtol=1e-4, atol=1e-6)


def view(app: AppTest) -> dict[str, Any]:
    """The props of the view, whichever it is."""
    (props,) = [*helpers.views(app, "text"), *helpers.views(app, "image")]
    return props


def entry(app: AppTest) -> Any:
    """The registry entry of the view."""
    return registry.get(view(app)["trace"]).value


def base(app: AppTest) -> dict[str, Any]:
    """What the picture on the page is made of, as the browser gets it."""
    with TestClient(Starlette(routes=routes()), base_url="http://127.0.0.1") as client:
        answer = client.get(f"/api/trace/{view(app)['trace']}/overview")
    header, _ = unpack(answer.content)
    return header["base"]


def labels(app: AppTest) -> list[str]:
    """The tokens of the first text."""
    return entry(app).view.labels


def literal(markdown: str) -> str:
    return markdown.replace("\\", "").replace("&#58;", ":")


def captions(app: AppTest) -> str:
    """The lines below the controls and the view."""
    return "\n".join(literal(caption.value) for caption in app.caption)


def result_of(code: str) -> Any:
    """The weights that a snippet prints."""
    names: dict[str, Any] = {}
    exec(code, names)  # the very lines that the page shows
    return names["weights"]


def drop(app: AppTest, data: bytes, name: str = "mine.png") -> AppTest:
    return helpers.upload(app, "explore_upload", {name: data})


def shown(app: AppTest) -> Image.Image:
    """The picture under the weights."""
    return entry(app).pictures[0]


def forget() -> None:
    """Drops all attachments, as another process has none."""
    attachments._kept.clear()


def file_of(
    kind: str = "PNG", size: tuple[int, int] = (60, 40), mode: str = "RGB", **options: Any
) -> bytes:
    file = io.BytesIO()
    down, right = np.mgrid[0 : size[1], 0 : size[0]]
    pixels = np.stack([right * 4, down * 6, right + down], -1).astype(np.uint8)
    Image.fromarray(pixels).convert(mode).save(file, kind, **options)
    return file.getvalue()
