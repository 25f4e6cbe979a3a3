"""Lenses, attributions, sweeps, blame and caches on the real SmolLM2."""

from functools import cache
from typing import Any

import pytest
import torch

from analysis.attribution import logit_attribution
from analysis.blame import blame
from analysis.effects import Loss
from analysis.lens import logit_lens
from analysis.outputs import likeliest
from analysis.sweep import head_effects
from models.edits import Ablate
from models.run import load, trace
from tests.fetched import fetched as real
from tests.models.test_real_models import text_of

pytestmark = pytest.mark.long
FRANCE = "The capital of France is"
DRINK = "When Mary and John went to the store, John gave a drink to"


@cache
def smollm2() -> Any:
    return load(real("smollm2").name, door="transformers")


@pytest.mark.parametrize(
    ("text", "token", "share"), [(FRANCE, " Paris", 0.773), (DRINK, " Mary", 0.923)]
)
def test_logits_are_read_and_divided(text: str, token: str, share: float) -> None:
    model = smollm2()
    t = trace(model, text, hidden=True)
    top = likeliest(t)
    id, probability = top.ids[0], top.probabilities[0]
    assert text_of(model, [id]) == token
    assert probability == pytest.approx(share, abs=5e-4)
    torch.testing.assert_close(logit_lens(t, -1), t.output.of_item(0), rtol=1e-4, atol=1e-3)
    embedded, last = (logit_lens(t, layer, tokens=[-1])[0] for layer in (0, -1))
    assert last.argmax() == id
    assert (embedded > embedded[id]).sum() > 100  # nothing is known of it where it is embedded
    parts = logit_attribution(t, id)
    logit = float(t.output.values[0, -1, id])
    assert sum(parts.values()) == pytest.approx(logit, rel=1e-4)
    assert len([name for name in parts if "head" in name]) == 30 * 9


def repeated() -> torch.Tensor:
    once = torch.randint(100, 49_000, (1, 64), generator=torch.Generator().manual_seed(0))
    return once.repeat(1, 2)


def test_an_attribution_finds_the_induction_head() -> None:
    """Not the previous-token head 16.0, whose effect passes through saturated attention."""
    model, ids = smollm2(), repeated()
    loss = Loss(tuple(ids[0].tolist()), 65)
    t = trace(model, ids, gradient=loss.of)
    effects = torch.stack(
        [head_effects(t, site, [Ablate(site.layer, head) for head in range(9)]) for site in t.sites]
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
    assert found.exceeded >= 0.9
