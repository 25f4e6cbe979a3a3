"""Sweeps and blame on the real SmolLM2."""

from functools import cache
from typing import Any

import pytest
import torch

from analysis.blame import blame
from analysis.effects import Loss
from analysis.sweep import head_effects
from models.edits import Ablate
from models.run import load, trace
from tests.fetched import fetched as real

pytestmark = pytest.mark.long
DRINK = "When Mary and John went to the store, John gave a drink to"


@cache
def smollm2() -> Any:
    return load(real("smollm2").name, door="transformers")


def repeated() -> torch.Tensor:
    once = torch.randint(100, 49_000, (1, 64), generator=torch.Generator().manual_seed(0))
    return once.repeat(1, 2)


def test_an_attribution_finds_the_induction_head() -> None:
    """Not the previous-token head 16.0, whose effect passes through saturated attention."""
    model, ids = smollm2(), repeated()
    loss = Loss(tuple(ids[0].tolist()), 65)
    t = trace(model, ids, gradient=loss.of)
    effects = torch.stack(
        [
            head_effects(t, site, [Ablate(site.layer, head) for head in range(9)])[0]
            for site in t.sites
        ]
    )
    largest = [divmod(int(index), 9) for index in effects.flatten().topk(5).indices]
    assert (18, 6) in largest
    assert effects[16, 0] < 1  # exactly it is more than 5


def test_who_gets_the_drink_rests_on_mary() -> None:
    model = smollm2()
    found = blame(model, DRINK, count=20, controls=10)
    assert found.before == pytest.approx(0.923, abs=5e-4)
    t = trace(model, DRINK)
    mary = t.labels.index(" Mary")
    assert any(span.start <= mary < span.stop for span in found.spans)
    assert any(edge.key == mary for edge in found.edges)
    assert found.after < 0.7 * found.before
    assert sum(each > found.after for each in found.controls) >= 9
