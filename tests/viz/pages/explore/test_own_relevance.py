"""Relevance of patches for a checkpoint of one's own, against the analyses that it shows."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from streamlit.testing.v1 import AppTest
from torch import nn

from analysis.faithfulness import faithfulness
from analysis.perturbation import perturbation
from analysis.relevance import Method, explain
from analysis.rollout import rollout
from benchmarks.architectures import ARCHITECTURES
from models.inputs.pictures import pixels_of
from models.preprocessing import FILE
from models.run import load, trace
from tests.viz.pages import helpers
from tests.viz.pages.explore.test_figures import array
from viz.api.samples import PHOTOS

CLASSES = ("a cat", "<b>dog</b>", "fish", "bird", "cow")
SIZES: dict[str, Any] = {"hidden_size": 12, "num_attention_heads": 3, "num_hidden_layers": 2}
SIZES |= {"intermediate_size": 13, "image_size": 20, "patch_size": 4}
SIZES |= {"id2label": dict(enumerate(CLASSES))}
NETWORKS: dict[str, Any] = {
    "vit": lambda: transformers.ViTForImageClassification(transformers.ViTConfig(**SIZES)),
    "deit": lambda: transformers.DeiTForImageClassificationWithTeacher(
        transformers.DeiTConfig(**SIZES)
    ),
    "dinov2": lambda: transformers.Dinov2ForImageClassification(transformers.Dinov2Config(**SIZES)),
    "bare": lambda: transformers.ViTModel(transformers.ViTConfig(**SIZES)),
    "swin": next(each.build for each in ARCHITECTURES if each.name == "Swin"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name, build in NETWORKS.items():
        torch.manual_seed(3)
        network = build().eval()
        for weights in network.parameters():
            nn.init.normal_(weights, std=0.3)
        found[name] = tmp_path_factory.mktemp("own") / name
        network.save_pretrained(found[name])
        side = network.config.image_size
        usual: dict[str, Any] = {
            "image_mean": [0.5] * 3,
            "image_std": [0.5] * 3,
            "do_center_crop": False,
        }
        usual["size"] = {"height": side, "width": side}
        (found[name] / FILE).write_text(json.dumps(usual))
    return found


def opened(folder: Path, **query: str) -> AppTest:
    return helpers.run("explore", {"place": "folder", "folder": str(folder), **query})


def controls_of(app: AppTest) -> dict[str, list[str]]:
    """The options of each segmented control, by its label."""
    groups: Any = app.get("button_group")
    return {each.label: [str(option) for option in each.options] for each in groups}


def told(app: AppTest) -> str:
    lines = " ".join(element.value for element in (*app.caption, *app.markdown))
    return lines.replace("\\", "").replace("&#58;", ":")


@pytest.mark.parametrize(
    ("name", "method"), [("vit", "gradient"), ("deit", "chefer"), ("deit", "attnlrp")]
)
def test_the_relevance_of_the_likeliest_class(
    name: str, method: Method, folders: dict[str, Path]
) -> None:
    app = opened(folders[name], relevance=method)
    assert helpers.lines(app) == []
    (figure,) = helpers.figures(app)
    model = load(str(folders[name]))
    expected = explain(model, Image.open(PHOTOS["flower"]), method=method)
    patches = expected.tokens[expected.trace.prefix :].reshape(5, 5)
    np.testing.assert_allclose(array(figure.data[0].z), patches, rtol=1e-3, atol=1e-6)
    class_name = CLASSES[expected.chosen.id or 0].replace("<", "&lt;").replace(">", "&gt;")
    assert figure.layout.title.text.startswith(f"{model.name}: ")
    assert figure.layout.title.text.endswith(f"of {class_name}")
    assert helpers.link(app)["relevance"] == method


@pytest.mark.parametrize("name", ["vit", "deit"])
def test_rollout_is_read_where_the_answer_is(name: str, folders: dict[str, Path]) -> None:
    """Of a ViT the class token; of DeiT the mean of the rows of its two tokens."""
    app = opened(folders[name], relevance="rollout", fused="max", discarded="40")
    (figure,) = helpers.figures(app)
    model = load(str(folders[name]))
    found = trace(model, Image.open(PHOTOS["flower"]))
    rolled = rollout(found, fusion="max", discard=0.4)
    expected = rolled[: found.prefix, found.prefix :].mean(0).reshape(5, 5)
    assert found.prefix == (2 if name == "deit" else 1)
    np.testing.assert_allclose(array(figure.data[0].z), expected, rtol=1e-4)
    reads = "class and distillation tokens (their mean)" if name == "deit" else "class token"
    assert f"reaches the {reads}." in told(app)


@pytest.mark.parametrize("method", ["rollout", "norms"])
def test_dinov2_reads_its_class_token_beside_the_mean_of_the_patches(
    method: str, folders: dict[str, Path]
) -> None:
    app = opened(folders["dinov2"], relevance=method)
    (figure,) = helpers.figures(app)
    found = trace(load(str(folders["dinov2"])), Image.open(PHOTOS["flower"]))
    site, shares = found.sites[-1], torch.tensor([0.5] + 25 * [0.02])
    values, output = found.pattern(site).v[0], found.projections(site).output.detach()
    added = torch.einsum("hqk, hkd, hdo -> qko", found.weights(site), values, output)
    expected = {
        "rollout": shares @ rollout(found),
        "norms": torch.einsum("q, qko -> ko", shares, added).norm(dim=-1),
    }[method]
    shown = array(figure.data[0].z).flatten()
    np.testing.assert_allclose(shown, expected[1:].numpy(), rtol=1e-3)
    assert "the class token and the mean of the patches (half and half)" in told(app)


def test_proofs_are_those_of_the_analysis(folders: dict[str, Path]) -> None:
    model = load(str(folders["deit"]))
    pixels = pixels_of(model, Image.open(PHOTOS["flower"]))
    tokens = explain(model, pixels, method="chefer", target=1).tokens
    query = {"relevance": "chefer", "class": "1"}
    _, figure = helpers.figures(opened(folders["deit"], proof="insertion", **query))
    expected = perturbation(model, pixels, tokens, "insertion", target=1)
    np.testing.assert_allclose(array(figure.data[1].y), expected.curve, atol=1e-5)
    _, removed, kept = helpers.figures(opened(folders["deit"], proof="yes", **query))
    curves = faithfulness(model, pixels, tokens, target=1, removal="grey")
    np.testing.assert_allclose(array(removed.data[1].y), curves.comprehensiveness, atol=1e-5)
    np.testing.assert_allclose(array(kept.data[1].y), curves.sufficiency, atol=1e-5)


def test_a_model_without_classes_has_the_methods_that_need_none(folders: dict[str, Path]) -> None:
    app = opened(folders["bare"], relevance="rollout", proof="deletion", **{"class": "3"})
    (figure,) = helpers.figures(app)
    found = trace(load(str(folders["bare"])), Image.open(PHOTOS["flower"]))
    expected = rollout(found)[0, 1:].reshape(5, 5)
    np.testing.assert_allclose(array(figure.data[0].z), expected, rtol=1e-4)
    assert helpers.lines(app) == []
    assert "bare gives hidden states, and no classes: methods that explain" in told(app)
    assert "Proof" not in controls_of(app)
    app = opened(folders["bare"], relevance="attnlrp")  # of a link: not offered
    assert (helpers.lines(app), helpers.figures(app)) == ([], [])
    assert controls_of(app)["Relevance"] == ["None", "Rollout", "Flow", "Value norms"]


def test_a_class_goes_by_its_name(folders: dict[str, Path]) -> None:
    app = opened(folders["vit"], relevance="gradient", **{"class": "fish"})
    (figure,) = helpers.figures(app)
    expected = explain(load(str(folders["vit"])), Image.open(PHOTOS["flower"]), target=2)
    assert expected.chosen.id == CLASSES.index("fish")
    assert figure.layout.title.text.endswith("of fish")
    assert helpers.link(app)["class"] == "fish"
    for given, name in {"3": "bird", "a tabby": ""}.items():  # of an older link, another network
        app = opened(folders["vit"], relevance="gradient", **{"class": given})
        assert helpers.lines(app) == []
        assert [each.value for each in app.selectbox if each.label == "Class"] == [name]


def test_other_networks_say_why_not(folders: dict[str, Path]) -> None:
    app = opened(folders["swin"], relevance="chefer")
    assert "Relevance does not apply to swin: its layers attend over different numbers" in told(app)
    assert helpers.lines(app) == []
