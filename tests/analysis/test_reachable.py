"""What a change can reach: against passes in which it is made, and what then differs in them."""

from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.reachable import WHATS, reachable
from models.attention.functional import edited_values
from models.decoder import DecoderConfig
from models.edits import Patch, SetWeights
from models.encoder import EncoderConfig
from models.run import Trace, load, trace
from models.seq2seq import Seq2SeqConfig
from models.vit import ViTConfig
from tests.models.tiny_models import model, source, theirs

SAME = 1e-6  # of the largest number: what is not reached is computed from the same numbers
NEAR = 1e-4  # through layers whose weights are drawn wide: an edited site has another kernel
LIBRARY = [  # both kinds of masks, windows, parallel branches, grouped heads, three kinds of sites
    ("ModernBERT", "self", "k"),
    ("Phi", "causal", "v"),
    ("Llama", "causal", "k"),
    ("Mistral", "causal", "head"),
    ("T5", "self", "q"),
    ("T5", "causal", "weights"),
    ("BART", "cross", "v"),
    ("BART", "cross", "hidden"),
    ("DINOv2 with registers", "self", "head"),
]
TOKENS = 7
IDS = torch.randint(3, 31, (1, TOKENS), generator=torch.Generator().manual_seed(2))
SIZES: dict[str, Any] = {"dim": 10, "heads": 2, "depth": 3, "mlp": 13, "seed": 1, "vocab": 31}
OWN = {
    "encoder": EncoderConfig(**SIZES),
    "decoder": DecoderConfig(**SIZES),
    "seq2seq": Seq2SeqConfig(source_vocab=31, target_vocab=31, dim=10, heads=2, depth=3, seed=1),
}
PLACES = [
    ("encoder", "self"),
    ("decoder", "causal"),
    *(("seq2seq", kind) for kind in ("self", "causal", "cross")),
]


def changed(before: Trace, after: Trace, same: float) -> list[Tensor]:
    """By site, the rows of each head whose weights or values differ."""
    found = []
    for site in before.sites:
        pairs = [
            (before.weights(site), after.weights(site)),
            tuple(edited_values(each.pattern(site))[0] for each in (before, after)),
        ]
        different = [((x - y).abs() > same * x.abs().max()).any(-1) for x, y in pairs]
        found.append(different[0] | different[1])
    return found


def edit(t: Trace, there: Trace, place: int, what: str, head: int | None, token: int) -> Any:
    """A change of one head at one token."""
    site = t.sites[place]
    address = {"kind": site.kind, "tower": site.tower, "module": site.module}
    if what == "weights":
        return SetWeights(site.layer, head, token, 1, 0.5, **address)
    if what == "hidden":
        return Patch(site.layer, what, there, token, tower=site.tower)
    return Patch(site.layer, what, there, token, head=head, **address)  # pyright: ignore


def check(run: Any, there: Trace, kind: str, what: str, *, exactly: bool = True) -> None:
    plain = run(())
    places = [place for place, site in enumerate(plain.sites) if site.kind == kind]
    place = places[len(places) // 2 - 1]
    site, pattern = plain.sites[place], plain.pattern(plain.sites[place])
    head = (pattern.k.shape[1] if what in ("k", "v") else site.heads) - 1
    head = None if what == "hidden" else head
    token = 3
    after = run((edit(plain, there, place, what, head, token),))
    expected = changed(plain, after, SAME if exactly else NEAR)
    found = reachable(plain, site, what, head=head, token=token)  # pyright: ignore
    for each, mine, differs in zip(plain.sites, found, expected, strict=True):
        assert mine.shape == differs.shape
        assert not (differs & ~mine).any(), each
        assert torch.equal(mine, differs) or not exactly, each


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize(("name", "kind"), PLACES)
def test_a_change_reaches_what_differs(name: str, kind: str, what: str) -> None:
    network = load(OWN[name])
    target = IDS.flip(1)[:, :5] if name == "seq2seq" else None
    there = trace(
        network, IDS.roll(2, 1), None if target is None else target.roll(1, 1), hidden=True
    )
    check(lambda edits: trace(network, IDS, target, edits=edits), there, kind, what)


@pytest.mark.parametrize(("name", "kind", "what"), LIBRARY)
def test_a_change_reaches_what_differs_in_models_of_the_library(
    name: str, kind: str, what: str
) -> None:
    """Their weights are drawn so wide that rows give all to one key: some numbers stay."""

    def run(edits: Any) -> Trace:
        return trace(model(name), *source(name), edits=edits)

    check(run, theirs(name), kind, what, exactly=False)


@pytest.mark.parametrize("what", WHATS)
def test_a_change_of_a_patch_reaches_all_of_the_picture_from_the_next_layer_on(what: str) -> None:
    """In the layer itself queries and values after attention reach their own patch alone."""
    network = load(ViTConfig(image=20, patch=4, dim=10, depth=3, heads=2, mlp=7, seed=1))
    pixels = torch.randn(2, 1, 3, 20, 20, generator=torch.Generator().manual_seed(4))
    there = trace(network, pixels[1], hidden=True)
    check(lambda edits: trace(network, pixels[0], edits=edits), there, "self", what)
    t = trace(network, pixels[0])
    head = None if what == "hidden" else 1
    first, here, *later = reachable(t, t.sites[1], what, head=head, token=3)  # pyright: ignore
    alone = what in ("q", "head", "weights")
    assert (bool(first.any()), int(here.any(0).sum())) == (False, 1 if alone else 26)
    assert all(bool(each.all()) for each in later)
