"""Relevance of patches, against the analyses that it shows."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from streamlit.testing.v1 import AppTest

from analysis.faithfulness import Removal, faithfulness
from analysis.flow import flow
from analysis.perturbation import perturbation
from analysis.relevance import METHODS, Method, explain
from analysis.rollout import rollout
from models.catalogue import entry, folder
from models.run import load, trace
from tests.viz.pages import helpers
from tests.viz.pages.explore.test_figures import array

PHOTO = folder(entry("digits")) / "a-three.png"
LINK = {"model": "digits", "photo": "digits/a-three.png"}


def opened(**query: str) -> AppTest:
    app = helpers.run("explore", {**LINK, **query})
    assert [each.value for each in app.error] == []
    return app


def test_no_method_is_no_figure() -> None:
    assert helpers.figures(opened()) == []


@pytest.mark.parametrize("method", METHODS)
def test_the_relevance_of_the_likeliest_class(method: Method) -> None:
    (figure,) = helpers.figures(opened(relevance=method))
    expected = explain(load("digits"), Image.open(PHOTO).convert("RGB"), method=method).tokens
    np.testing.assert_allclose(
        array(figure.data[0].z).flatten(), expected[1:].numpy(), rtol=1e-4, atol=1e-6
    )
    assert figure.layout.title.text.endswith("of 3")
    assert figure.layout.images[0].sizex == 8


def test_another_class_is_explained() -> None:
    (figure,) = helpers.figures(opened(relevance="gradient", **{"class": "8"}))
    image = Image.open(PHOTO).convert("RGB")
    expected = explain(load("digits"), image, method="gradient", target=8).tokens
    np.testing.assert_allclose(
        array(figure.data[0].z).flatten(), expected[1:].numpy(), rtol=1e-4, atol=1e-6
    )
    assert figure.layout.title.text.endswith("of 8")


def test_rollout_has_no_class() -> None:
    (figure,) = helpers.figures(opened(relevance="rollout"))
    found = rollout(trace(load("digits"), Image.open(PHOTO).convert("RGB")))
    np.testing.assert_allclose(array(figure.data[0].z).flatten(), found[0, 1:], rtol=1e-4)
    assert figure.layout.title.text.endswith("Rollout")


@pytest.mark.parametrize("fused", ["mean", "max", "min"])
def test_rollout_and_flow_of_heads_made_one(fused: Any) -> None:
    found = trace(load("digits"), Image.open(PHOTO).convert("RGB"))
    (figure,) = helpers.figures(opened(relevance="rollout", fused=fused, discarded="40"))
    expected = rollout(found, fusion=fused, discard=0.4)[0, 1:]
    np.testing.assert_allclose(array(figure.data[0].z).flatten(), expected, rtol=1e-4)
    (figure,) = helpers.figures(opened(relevance="flow", fused=fused))
    expected = flow(found, 0, fusion=fused)[1:]
    np.testing.assert_allclose(array(figure.data[0].z).flatten(), expected, rtol=1e-4)


def test_value_norms_of_the_last_layer() -> None:
    """By the vectors themselves: weight times value times output projection, head by head."""
    (figure,) = helpers.figures(opened(relevance="norms"))
    found = trace(load("digits"), Image.open(PHOTO).convert("RGB"))
    site = found.sites[-1]
    values, output = found.pattern(site.layer).v[0].float(), found.projections(site).output
    added = torch.einsum("hk, hkd, hdo -> hko", found.weights(site)[:, 0], values, output.float())
    expected = added.detach().sum(0).norm(dim=-1)[1:]
    np.testing.assert_allclose(array(figure.data[0].z).flatten(), expected, rtol=1e-4)
    assert figure.layout.title.text.endswith("Value norms")


def test_flow_of_many_tokens_is_refused_in_one_line() -> None:
    query = {"model": "built-vit", "size": "128", "dim": "16", "heads": "2"}
    query |= {"patch": "4", "depth": "1", "relevance": "flow"}
    app = helpers.run("explore", query)
    (line,) = helpers.lines(app)
    assert "expected at most 257 tokens, this network has 1,025" in line


def test_a_proof_is_that_of_its_own_settings() -> None:
    """Curves of another discard are computed anew."""
    first = helpers.figures(opened(relevance="rollout", proof="deletion"))[1]
    other = helpers.figures(
        opened(relevance="rollout", proof="deletion", discarded="95", fused="min")
    )[1]
    assert (array(first.data[1].y) != array(other.data[1].y)).any()


@pytest.mark.parametrize(("proof", "removal"), [("yes", "grey"), ("drop", "drop")])
def test_the_proof_is_that_of_the_analysis(proof: str, removal: Removal) -> None:
    app = opened(relevance="chefer", proof=proof)
    _, removed, kept = helpers.figures(app)
    model, image = load("digits"), Image.open(PHOTO).convert("RGB")
    tokens = explain(model, image, method="chefer").tokens
    expected = faithfulness(model, image, tokens, target=3, removal=removal)
    for figure, values, random in (
        (removed, expected.comprehensiveness, expected.random_comprehensiveness),
        (kept, expected.sufficiency, expected.random_sufficiency),
    ):
        np.testing.assert_allclose(array(figure.data[1].y), values, atol=1e-5)
        np.testing.assert_allclose(array(figure.data[2].y), random.mean(0), atol=1e-5)
    assert any("8 random orders" in each.value for each in app.markdown)


@pytest.mark.parametrize(
    ("proof", "patches"), [("deletion", "grey"), ("insertion", "blurred"), ("road", "filled-in")]
)
def test_the_doubt_names_what_patches_become(proof: str, patches: str) -> None:
    app = opened(relevance="rollout", proof=proof)
    said = " ".join(each.value for each in app.caption)
    assert re.findall(r"Pictures with (\S+) patches are unlike", said) == [patches]
    assert helpers.figures(app)[1].layout.yaxis.exponentformat == "none"  # 0.00016, not 160µ


def test_insertion_is_that_of_the_analysis() -> None:
    app = opened(relevance="gradient", proof="insertion")
    _, figure = helpers.figures(app)
    model, image = load("digits"), Image.open(PHOTO).convert("RGB")
    tokens = explain(model, image, method="gradient", target=3).tokens
    expected = perturbation(model, image, tokens, "insertion", target=3)
    np.testing.assert_allclose(array(figure.data[1].y), expected.curve, atol=1e-5)
    assert any(f"{expected.score:+.4f}" in each.value for each in app.caption)
