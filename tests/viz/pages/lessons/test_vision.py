"""The vision transformer: shapes as courses print them, its numbers, and what they cost."""

from typing import Any

import pytest
import torch

from models.image import to_pixels
from models.lessons.vit_steps import vit_steps
from models.vit import ViT, ViTConfig
from tests.viz.pages.helpers import choose
from tests.viz.pages.lessons.pages import errors, numbers, run, whole, words
from viz.pages.lessons.vision import pictures

SMALL = {"image": "56", "patch": "14", "dim": 16, "heads": 3, "own": 8, "depth": 2, "at": 5}


def network(**more) -> ViT:
    sizes: dict[str, Any] = {"image": 56, "patch": 14, "dim": 16, "heads": 3, "head_dim": 8}
    return ViT(ViTConfig(**sizes | more, depth=2, mlp=2048, classes=1000, qkv_bias=False)).eval()


def test_the_printed_shapes() -> None:
    said = words(whole("vision"))
    for told in (
        "1 image × 256 patches × 588 numbers",
        "1 image × 256 patches × 128 features",
        "1 image × 257 tokens × 128 features",
        "257 × 128 = 32,896",
        "257 × 257 = 66,049",
        "1 image × 1,000 classes",
    ):
        assert told in said


def test_every_number_is_the_networks() -> None:
    app = whole("vision", **SMALL, head=2)
    steps, pattern = vit_steps(network(), to_pixels(pictures.photo("flower", 56)))
    outs = {step.number: step.out[0] for step in steps}
    found = numbers(app)
    lines = ("4", "5.1", "5.2", "5.3", "5.4", "5.5", "5.6")
    expected = [*outs["1"][5, :8].tolist()]
    assert found[:8] == pytest.approx(expected, abs=6e-5)
    block = [value for key in lines for value in outs[key][6, :8].tolist()]
    positions = network().positions.table[6].detach()
    after = {"2": outs["2"][5], "3": outs["3"][6], "place": positions, "4": outs["4"][6]}
    for name, wanted in {**{k: v[:8].tolist() for k, v in after.items()}, "5": block}.items():
        assert stands(found, wanted), name
    weights = pattern.weights(2, [6], item=0)[0]
    assert f"to the class token {float(weights[0]):.4f}" in words(app)


def stands(found: list[float], wanted: list[float]) -> bool:
    """Whether these numbers stand on the page one after the other."""
    count = len(wanted)
    places = range(len(found) - count + 1)
    return any(found[n : n + count] == pytest.approx(wanted, abs=6e-5) for n in places)


@pytest.mark.parametrize(
    ("name", "other"), [("photo", "china"), ("order", "c p1 p2"), ("at", 9), ("seed", 3)]
)
def test_numbers_move_with_the_controls(name: str, other: object) -> None:
    app = whole("vision", **SMALL)
    before = numbers(app)
    choose(app, "vision", name, other)
    after = numbers(app)
    assert not errors(app)
    assert sum(a != b for a, b in zip(before, after, strict=True)) >= 7
    moved = {"photo", "order", "at"}
    assert (before[:8] != after[:8]) == (name in moved)


def test_a_convolution_gives_the_same_shapes() -> None:
    linear, conv = (words(whole("vision", **SMALL, kind=kind)) for kind in ("linear", "conv"))
    table = "1 image × 16 patches × 16 features"
    assert table in linear
    assert table in conv


def test_steps_hide_what_comes_later() -> None:
    said = words(run("vision", **SMALL, step=1))
    assert "1 image × 16 patches × 16 features" in said
    assert "17 tokens" not in said


def test_a_patch_that_does_not_fit_says_what_would() -> None:
    (line,) = errors(whole("vision", image="28", patch="16"))
    assert "expected one of 1, 2, 4, 7, 14, 28" in line


def test_too_many_patches_are_refused_before_they_are_made() -> None:
    (line,) = errors(whole("vision", patch="1"))
    assert "50,177 tokens" in line


def test_pixels_as_tokens() -> None:
    said = words(whole("vision", image="28", patch="1", dim=16, heads=1, own=16, depth=1))
    assert "1 image × 785 tokens × 16 features" in said
    assert "784 784 × 784 = 614,656 2.34 MiB" in said
    assert "50,176 × 50,176 = 2,517,630,976" in words(whole("vision", **SMALL, side="224"))


@pytest.mark.parametrize(
    ("name", "count"),
    [("vit-32", "54,622,184"), ("vit-b16", "86,567,656"), ("vit-14", "14,421,736")],
)
def test_parameters(name: str, count: str) -> None:
    said = words(whole("vision", **SMALL, count=name))
    if name == "vit-14":
        from models.presets import PRESETS

        config = PRESETS[name].config
        assert isinstance(config, ViTConfig)
        with torch.device("meta"):
            built = ViT(config)
        count = f"{sum(p.numel() for p in built.parameters()):,}"
    assert f"all together {count}" in said
    assert "196,608,000 weights" in said
