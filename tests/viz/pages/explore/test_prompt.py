"""Explore with a model that answers questions about pictures."""

from pathlib import Path

import pytest

from analysis.worth import worth
from tests.models.vision_language import BY_NAME
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import base, choose, entry, file_of, literal, opened, view


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return BY_NAME["LLaVA"].save(tmp_path_factory.mktemp("llava"))


def told(app) -> str:
    """Everything that is written on the page."""
    return literal("\n".join(each.value for each in (*app.markdown, *app.caption, *app.info)))


def asked(folder: Path, **query: str):
    app = opened(place="folder", folder=str(folder), **query)
    assert helpers.lines(app) == []
    return app


def test_a_question_is_answered_and_opens_on_a_head_that_looks(folder: Path) -> None:
    app = asked(folder, question="what is it", answer="a dog sits")
    trace = entry(app).trace
    assert list(trace.tokens[0].labels[trace.answer :]) == ["a", "dog", "sits"]
    assert base(app)["pictures"] == 1
    assert "The answer that was given: **a dog sits**" in told(app)
    start = view(app)["defaults"]
    site = trace.site(start["layer"], start["attention"], tower=start["tower"])
    assert trace.key_pictures(site)
    first, *_ = worth(trace)
    assert (start["layer"], start["head"]) == (first.site.layer, first.head)
    assert start["token"] in first.query
    assert helpers.link(app)["question"] == "what is it"


def test_several_pictures_are_asked_about_at_once(folder: Path) -> None:
    app = asked(folder, question="what is it", answer="a dog")
    pictures = {f"{mode}.png": file_of(mode=mode) for mode in ("RGB", "L")}
    helpers.upload(app, "explore_upload", pictures)
    assert base(app)["pictures"] == 1
    choose(app, "asked_about", "every")
    assert base(app)["pictures"] == 2
    assert len(entry(app).pictures) == 2
    grids = [grid for text in base(app)["texts"] for grid in text.get("grids", ())]
    assert {grid["picture"] for grid in grids} == {0, 1}


def test_pictures_are_asked_about_as_the_frames_of_a_video(tmp_path: Path) -> None:
    app = asked(BY_NAME["Qwen2-VL"].save(tmp_path), question="what is it", answer="a dog")
    pictures = {f"{mode}.png": file_of(mode=mode) for mode in ("RGB", "L")}
    helpers.upload(app, "explore_upload", pictures)
    choose(app, "asked_about", "video")
    assert (base(app)["pictures"], base(app)["video"]) == (2, True)
    found = entry(app).trace
    grids = found.key_pictures(found.sites[-1])
    assert [grid.frames for grid in grids] == [(0, 1)]
    (code,) = (each.value for each in app.code if "Assistant" in each.value)
    assert "<video>" in code
