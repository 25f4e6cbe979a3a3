"""Links of older versions show the same models and inputs as before."""

import pytest

from tests.viz.pages import helpers
from viz.api import registry
from viz.pages.frame import old_links
from viz.pages.frame.old_links import of_image
from viz.pages.state import session

# path, query; what it shows: model, kind of view, text or picture
GOLDEN = [
    ("/", "", "all-MiniLM-L6-v2", "text", "The animal didn't cross"),
    ("/", "model=built&dim=16&heads=2&depth=3&input=one+two", "encoder", "text", "one"),
    ("/image", "", "Objects on photos", "image", "objects/"),
    ("/image", "photo=china&size=64&heads=2&dim=16&layer=2&head=max", "ViT", "image", "china"),
    ("/image", "model=digits&photo=digits/a-four.png", "Digits", "image", "digits/a-four"),
    ("/models", "input=Hello+there&layer=3&head=2", "all-MiniLM-L6-v2", "text", "Hello"),
]


@pytest.mark.parametrize(("path", "query", "model", "kind", "shown"), GOLDEN)
def test_a_link_shows_what_it_showed(
    path: str, query: str, model: str, kind: str, shown: str
) -> None:
    given = dict(part.split("=") for part in query.replace("+", " ").split("&") if part)
    app = helpers.run("explore", of_image(given) if path == "/image" else given)
    assert helpers.lines(app) == []
    props = helpers.view(app, kind)
    for name in {"layer", "head"} & given.keys():
        assert str(props["start"][name]) == given[name]
    assert registry.get(props["trace"]).value.trace.model.startswith(model)
    name = "photo" if kind == "image" else "input"
    assert helpers.setting(app, "explore", name).startswith(shown)


def test_what_holds_on_every_page_names_no_network() -> None:
    shared = {param.name: "yes" for param in session.APP_PARAMS} | {"embed": "true"}
    assert of_image(shared) == {**shared, "model": old_links.FIRST}
    assert of_image({"model": "own"}) == {"place": "folder"}
