"""Relevance of patches on the Image page, against the analyses that it shows."""

from typing import Any

import numpy as np
import plotly.io
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from analysis.faithfulness import faithfulness
from analysis.perturbation import perturbation
from analysis.relevance import METHODS, Method, explain
from analysis.rollout import rollout
from models.catalogue import entry, folder
from models.run import load, trace
from tests.viz.pages import helpers
from tests.viz.pages.image.test_figures import array

PHOTO = folder(entry("digits")) / "a-three.png"
LINK = {"model": "digits", "photo": "digits/a-three.png"}


def opened(**query: str) -> AppTest:
    app = helpers.run("image", {**LINK, **query})
    assert [each.value for each in app.error] == []
    return app


def figures(app: AppTest) -> list[Any]:
    return [plotly.io.from_json(each.proto.spec) for each in app.get("plotly_chart")]


def test_no_method_is_no_figure() -> None:
    assert figures(opened()) == []


@pytest.mark.parametrize("method", METHODS)
def test_the_relevance_of_the_likeliest_class(method: Method) -> None:
    (figure,) = figures(opened(relevance=method))
    expected = explain(load("digits"), Image.open(PHOTO).convert("RGB"), method=method).tokens
    np.testing.assert_allclose(
        array(figure.data[0].z).flatten(), expected[1:].numpy(), rtol=1e-4, atol=1e-6
    )
    assert figure.layout.title.text.endswith("of 3")
    assert figure.layout.images[0].sizex == 8


def test_another_class_is_explained() -> None:
    (figure,) = figures(opened(relevance="gradient", **{"class": "8"}))
    image = Image.open(PHOTO).convert("RGB")
    expected = explain(load("digits"), image, method="gradient", target=8).tokens
    np.testing.assert_allclose(
        array(figure.data[0].z).flatten(), expected[1:].numpy(), rtol=1e-4, atol=1e-6
    )
    assert figure.layout.title.text.endswith("of 8")


def test_rollout_has_no_class() -> None:
    (figure,) = figures(opened(relevance="rollout"))
    found = rollout(trace(load("digits"), Image.open(PHOTO).convert("RGB")))
    np.testing.assert_allclose(array(figure.data[0].z).flatten(), found[0, 1:], rtol=1e-4)
    assert figure.layout.title.text.endswith("Rollout")


def test_the_proof_is_that_of_the_analysis() -> None:
    app = opened(relevance="chefer", proof="yes")
    _, removed, kept = figures(app)
    model, image = load("digits"), Image.open(PHOTO).convert("RGB")
    tokens = explain(model, image, method="chefer").tokens
    expected = faithfulness(model, image, tokens, target=3)
    for figure, values, random in (
        (removed, expected.comprehensiveness, expected.random_comprehensiveness),
        (kept, expected.sufficiency, expected.random_sufficiency),
    ):
        np.testing.assert_allclose(array(figure.data[1].y), values, atol=1e-5)
        np.testing.assert_allclose(array(figure.data[2].y), random.mean(0), atol=1e-5)
    assert any("8 random orders" in each.value for each in app.markdown)


def test_insertion_is_that_of_the_analysis() -> None:
    app = opened(relevance="gradient", proof="insertion")
    _, figure = figures(app)
    model, image = load("digits"), Image.open(PHOTO).convert("RGB")
    tokens = explain(model, image, method="gradient", target=3).tokens
    expected = perturbation(model, image, tokens, "insertion", target=3)
    np.testing.assert_allclose(array(figure.data[1].y), expected.curve, atol=1e-5)
    assert any(f"{expected.score:+.4f}" in each.value for each in app.caption)
