"""The second door, against the library's own eager attention: every site of every architecture."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from models.run import Model, Trace, load, trace
from models.trace import Site
from tests.models.architectures import ARCHITECTURES, Architecture
from tests.models.library import Seen, eager, stitched

EXACT = 1e-5  # float32 through two layers whose scores reach 50
BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}
OTHER = [a.name for a in ARCHITECTURES if a.other is not None]
Opened = tuple[Any, Model]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Opened]:
    """The library's model of an architecture, and what `load` makes of the folder it saved."""
    known: dict[str, Opened] = {}

    def of(name: str) -> Opened:
        if name not in known:
            model: Any = BY_NAME[name].build()
            folder = tmp_path_factory.mktemp("model")
            model.save_pretrained(folder)
            theirs = type(model).from_pretrained(folder)
            known[name] = theirs, load(folder, door="transformers")
        return known[name]

    return of


@pytest.mark.parametrize("name", BY_NAME)
def test_every_site_is_the_library_s(name: str, opened: Callable[[str], Opened]) -> None:
    held(BY_NAME[name], BY_NAME[name].inputs(), *opened(name))


@pytest.mark.parametrize("name", OTHER)
def test_other_sizes_and_padding(name: str, opened: Callable[[str], Opened]) -> None:
    other = BY_NAME[name].other
    assert other is not None
    held(BY_NAME[name], other(), *opened(name))


def held(architecture: Architecture, inputs: dict[str, Any], model: Any, own: Model) -> None:
    """Kinds, weights and output of a trace are those of the library's eager pass; rows sum to 1."""
    with torch.no_grad():
        expected = eager(model, inputs)
    found = trace(own, inputs)
    assert {site.kind for site in found.sites} == set(architecture.kinds)
    assert len(found.sites) == len(expected.weights)
    whole = list(stitched(model, inputs, expected)) if architecture.name == "Swin" else None
    for index, site in enumerate(found.sites):
        theirs = expected.weights[index] if whole is None else whole[index]
        assert theirs.shape[1] == site.heads
        for item in range(2):
            rows, keys = real(inputs, site, item)
            mine, part = of_site(found, site, item), theirs[item][:, rows][:, :, keys]
            off = (mine - part).abs().max()
            assert off < EXACT, f"{site}: {off}"
            sums = mine.sum(-1)
            assert (sums < 1 + EXACT).all()
            # a sink keeps its share
            assert architecture.name == "GPT-OSS" or (sums > 1 - EXACT).all()
        if site.heads > 1:
            apart = (theirs[:, 1:] - theirs[:, :-1]).abs().amax((0, 2, 3))
            assert apart.min() > 0.01, "heads look alike: a swap would not be seen"
    largest = expected.output[0].abs().max()
    off = (found.output.values - as_output(expected, found)).abs()
    if found.output.values.shape[:2] == inputs.get("attention_mask", torch.empty(0)).shape:
        off = off[inputs["attention_mask"].bool()]
    assert off.max() < EXACT * max(1.0, float(largest))


def of_site(found: Trace, site: Site, item: int) -> Tensor:
    return found.weights(site.layer, kind=site.kind, tower=site.tower, item=item)


def as_output(expected: Seen, found: Trace) -> Tensor:
    """The tensor of the library's output that a trace names."""
    names = {"logits": ("logits",), "hidden states": ("last_hidden_state",)}
    for name in names.get(found.output.name, ("logits_per_image",)):
        if getattr(expected.output, name, None) is not None:
            return getattr(expected.output, name)
    raise ValueError(found.output.name)


def real(inputs: dict[str, Any], site: Site, item: int) -> tuple[Tensor, Tensor]:
    """Which rows and columns of a site are an item's own tokens."""
    shown = inputs.get("attention_mask")
    own = torch.arange(0) if shown is None else shown[item].nonzero().flatten()

    def positions_of(length: int, reads_text: bool) -> Tensor:
        padded = reads_text and shown is not None and length == shown.shape[1]
        return own if padded else torch.arange(length)

    text = site.tower not in ("decoder", "vision")
    return positions_of(site.queries, text), positions_of(site.keys, text or site.kind == "cross")
