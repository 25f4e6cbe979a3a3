"""Layers whose weights torch makes of others: weight norm, spectral norm, orthogonal maps."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm

from analysis.norms import alti, value_norms
from analysis.split import split
from models.run import trace
from tests.models.pretrained.tiny import BY_NAME


@pytest.mark.parametrize("made_by", [weight_norm, orthogonal, spectral_norm])
@pytest.mark.parametrize("name", ["BERT", "GPT-2", "Llama"])
def test_weights_that_are_made_of_others(name: str, made_by: Callable[..., Any]) -> None:
    """The maps are those of the same network with its weights as they come out."""
    network = BY_NAME[name].build()
    paths = [
        path
        for path, module in network.named_modules()
        if type(module).__name__ in ("Linear", "Conv1D") and "att" in path
    ]
    for path in paths:
        made_by(network.get_submodule(path))
    network.eval()
    plain = BY_NAME[name].build()
    plain.load_state_dict(network.state_dict(), strict=False)
    for path in paths:
        made: Any = network.get_submodule(path)
        plain.get_submodule(path).load_state_dict({"weight": made.weight}, strict=False)
    given = BY_NAME[name].inputs()
    found, expected = trace(network, given, hidden=True), trace(plain, given, hidden=True)
    for site in found.sites:
        ours, theirs = found.projections(site), expected.projections(site)
        for part in ("query", "key", "value", "output"):
            torch.testing.assert_close(getattr(ours, part), getattr(theirs, part))
        torch.testing.assert_close(value_norms(found, site), value_norms(expected, site))
    torch.testing.assert_close(alti(found), alti(expected), rtol=1e-4, atol=1e-5)
    ours, theirs = (split(t, 1, 0, 3, 2).query for t in (found, expected))
    assert [part.name for part in ours] == [part.name for part in theirs]
    assert [p.value for p in ours] == pytest.approx([p.value for p in theirs], abs=1e-4)
