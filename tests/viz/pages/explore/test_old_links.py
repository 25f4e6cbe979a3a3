"""Links of older versions open what they meant."""

import pytest

from tests.viz.pages import helpers
from viz.api import registry
from viz.pages.explore import old_links
from viz.pages.explore.old_links import GONE, of_image, renewed, without_gone
from viz.pages.state import session


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"model": "minilm", "form": "lines"}, {"model": "minilm", "form": "lines"}),
        (
            {"relevance": "chefer", "class": "fish", "proof": "yes", "token": "3"},
            {"token": "3", "form": "model", "method": "chefer", "output": "fish"}
            | {"tested": "yes", "proof": "grey"},
        ),
        (
            {"relevance": "rollout", "fused": "max", "discarded": "40", "proof": "road"},
            {"form": "model", "method": "rollout", "tested": "yes", "proof": "road"},
        ),
        ({"relevance": "none", "class": "8"}, {"relevance": "none", "class": "8"}),
        ({"figure": "features", "threshold": "0.75"}, {"form": "features"}),
        ({"figure": "similarity", "like": "6"}, {"form": "features"}),
        ({"figure": "distance"}, {"lab": "numbers"}),
        ({"states": "20.0.35"}, {"states": "yes", "lab": "sweeps"}),
        ({"matter": "zero"}, {"matter": "zero", "lab": "sweeps"}),
        ({"compare": "typed:model", "compare_model": "a/b"}, {"compare": "hub:a/b"}),
        ({"compare": "typed:model", "compare_model": "/a/b"}, {"compare": "folder:/a/b"}),
        (
            {"arrangement": "rank", "rank": "entropy"},
            {"arrangement": "rank", "rank": "entropy", "lab": "numbers"},
        ),
    ],
)
def test_the_parameters_as_they_are_now(old: dict[str, str], new: dict[str, str]) -> None:
    assert renewed(old) == new


def test_an_old_link_opens_without_a_complaint() -> None:
    query = {"model": "digits", "relevance": "attnlrp", "class": "8", "proof": "deletion"}
    app = helpers.run("explore", query)
    assert helpers.lines(app) == []
    start = helpers.view(app, "image")["start"]
    named = {name: start[name] for name in ("form", "method", "output", "proof")}
    assert named == {"form": "model", "method": "attnlrp", "output": "8", "proof": "deletion"}


@pytest.mark.parametrize(
    ("query", "opens"),
    [
        ({"form": "model", "method": "decompx"}, {"form": "model", "method": "alti"}),
        ({"form": "model", "method": "added"}, {"form": "model", "method": "norms"}),
        ({"form": "vectors"}, {"form": "head"}),
        ({"form": "qk", "token": "3", "partner": "5"}, {"form": "head", "token": 3, "partner": 5}),
        ({"form": "stages", "token": "3"}, {"form": "head", "token": 3}),
    ],
)
def test_a_link_to_what_is_gone_opens_what_takes_its_place(
    query: dict[str, str], opens: dict[str, str]
) -> None:
    app = helpers.run("explore", {"model": "minilm", "input": "The cat sat.", **query})
    (line,) = helpers.lines(app)
    assert "which no longer exists" in line
    start = helpers.view(app, "text")["start"]
    assert {name: start[name] for name in opens} == opens


@pytest.mark.parametrize(
    ("edits", "off", "left", "gone"),
    [
        (
            "Ablate(0, (1, 2)), Cut(2, None, 4, 0)",
            "1",
            ("Ablate(0, (1, 2)), Cut(2, None, 4, 0)", "1"),
            [],
        ),
        ("Evict(8, sinks=1)", "0", ("", ""), ["Evict"]),
        (
            "Drop((1, 2), True), Ablate(1, 0), SetGate(1, (0, 2), 'mean'), Temperature(0.5)",
            "0.1.2.3",
            ("Ablate(1, 0), Temperature(0.5)", "0.1"),
            ["Drop", "SetGate"],
        ),
        ("Ablate(", "", ("Ablate(", ""), []),
    ],
)
def test_edits_that_are_gone_leave_the_others(
    edits: str, off: str, left: tuple[str, str], gone: list[str]
) -> None:
    assert without_gone(edits, off) == (dict(zip(("edits", "off"), left, strict=True)), gone)


def test_an_old_link_that_keeps_runs_shows_its_own_and_says_so() -> None:
    query = {"model": "grammar-next", "input": "the dog", "edits": "Ablate(1, 0)"}
    old = {"kept": '[["Run 1",{"model":"minilm"}]]', "compared": "yes"}
    app = helpers.run("explore", {**query, **old})
    assert helpers.lines(app) == [
        "Settings of the link that Headscope does not have: “kept”, “compared”."
    ]
    assert query.items() <= helpers.link(app).items()
    assert not old.keys() & helpers.link(app).keys()


@pytest.mark.parametrize("name", GONE[:1])
def test_an_old_link_with_such_an_edit_shows_the_rest_and_says_so(name: str) -> None:
    call = {"SetGate": "SetGate(1, 0)", "SetPositions": "SetPositions('none')"}.get(
        name, f"{name}(1, 2)"
    )
    query = {"model": "grammar-next", "layer": "1", "edits": f"{call}, Ablate(1, 0)"}
    app = helpers.run("explore", query)
    assert helpers.lines(app) == [
        f"The link has edits that no longer exist: {name}. The rest is shown."
    ]
    assert helpers.link(app)["edits"] == "Ablate(1, 0)"
    (edit,) = helpers.view(app, "text")["edits"]
    assert edit["values"] == {"edit": "Ablate", "layer": 1, "head": 0}


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
