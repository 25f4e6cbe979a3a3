"""Links of older versions show the same pictures as before."""

import pytest

from tests.viz.pages import helpers
from viz.api import registry
from viz.pages.frame import old_links
from viz.pages.frame.old_links import of_image, of_models
from viz.pages.state import session

# path, query; what it shows: model, kind of view, layer, head, token; text or picture
GOLDEN = [
    ("/", "", "all-MiniLM-L6-v2", "text", 3, 1, 10, "The animal didn't cross"),
    ("/", "input=A+cat+sat&layer=2&head=4", "all-MiniLM-L6-v2", "text", 2, 4, None, "A cat sat"),
    ("/", "model=built&dim=16&heads=2&depth=3&input=one+two", "encoder", "text", 3, 1, None, "one"),
    ("/", "model=dates", "Dates", "text", None, None, None, ""),
    ("/image", "", "Objects on photos", "image", 1, 1, 0, "objects/"),
    ("/image", "size=64&heads=2&dim=16&depth=3", "ViT", "image", 0, 0, 0, "flower"),
    ("/image", "photo=china&size=64&layer=2&head=max", "ViT", "image", 2, "max", 0, "china"),
    ("/image", "model=built&size=64&token=7&direction=in", "ViT", "image", 0, 0, 7, "flower"),
    ("/image", "model=digits&photo=digits/a-four.png", "Digits", "image", 0, 0, 0, "digits/a-four"),
    ("/image", "model=shapes&layer=1&token=3", "Shapes", "image", 1, None, 3, "shapes/"),
    ("/models", "", "all-MiniLM-L6-v2", "text", 0, 0, None, "The animal"),
    ("/models", "model=digits&layer=1", "Digits", "image", 1, 0, None, ""),
    (
        "/models",
        "input=Hello+there&layer=3&head=2",
        "all-MiniLM-L6-v2",
        "text",
        3,
        2,
        None,
        "Hello",
    ),
    ("/models", "model=grammar&head=1", None, "text", 0, 1, None, ""),
]


def query_of(path: str, query: str) -> dict[str, str]:
    given = dict(part.split("=") for part in query.split("&") if part)
    given = {name: value.replace("+", " ") for name, value in given.items()}
    return {"/image": of_image, "/models": of_models}.get(path, dict)(given)


@pytest.mark.parametrize(
    ("path", "query", "model", "kind", "layer", "head", "token", "shown"), GOLDEN
)
def test_a_link_shows_what_it_showed(
    path: str,
    query: str,
    model: str | None,
    kind: str,
    layer: int | None,
    head: int | str | None,
    token: int | None,
    shown: str,
) -> None:
    app = helpers.run("explore", query_of(path, query))
    assert helpers.lines(app) == []
    props = helpers.view(app, kind)
    start = props["start"]
    wanted = {"layer": layer, "head": head, "token": token}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    assert wanted.items() <= start.items()
    entry = registry.get(props["trace"]).value
    assert model is None or entry.trace.model.startswith(model)
    name = "photo" if kind == "image" else "input"
    assert helpers.setting(app, "explore", name).startswith(shown)


def test_what_a_setting_is_called_now() -> None:
    found = of_image({"model": "objects", "fit": "pad", "compare": "model:digits", "over": "all"})
    assert found["resize"] == "pad"
    assert found["compare"] == "catalogue:digits"
    assert found["components"] == "all"
    assert not {"fit", "over"} & found.keys()
    assert of_image({"compare": "model:built"})["compare"] == "built:vit"
    assert of_image({"model": "own"}) == {"place": "folder"}


def test_what_holds_on_every_page_names_no_network() -> None:
    shared = {param.name: "yes" for param in session.APP_PARAMS}
    assert of_image(shared)["model"] == old_links.FIRST


def test_an_embedded_picture_is_the_first_one() -> None:
    assert of_image({"embed": "true"}) == {"embed": "true", "model": old_links.FIRST}
