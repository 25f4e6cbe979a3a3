"""The joint map of an encoder–decoder, against its three maps in plain loops."""

import pytest
import torch

from analysis.view import JOINT, View, joint_layers
from models.run import load, trace


@pytest.fixture(scope="module")
def seen():
    return trace(load("dates"), "2 March 2024")


def expected_of(seen, head: int) -> torch.Tensor:
    """Source rows over the source; target rows over the source and over themselves."""
    encoder = seen.weights(0, head, kind="self").tolist()
    cross = seen.weights(0, head, kind="cross").tolist()
    decoder = seen.weights(0, head, kind="causal").tolist()
    source = [row + [0.0] * len(decoder) for row in encoder]
    target = [over + own for over, own in zip(cross, decoder, strict=True)]
    return torch.tensor(source + target)


def test_a_joint_map_is_its_three_maps_and_nothing_from_source_to_target(seen) -> None:
    view = View(seen, words=False)
    (site,) = [site for site in view.sites if site.kind == JOINT]
    assert view.query_labels(site) == view.key_labels(site)
    assert view.query_labels(site) == seen.labels + list(seen.target_tokens[0].labels)
    for head in range(site.heads):
        assert view.weights(0, head, kind=JOINT).equal(expected_of(seen, head))
    source = len(seen.labels)
    assert view.queries(site)[0].segments.index(1) == source
    sums = view.weights(site).sum(-1)
    assert (sums[:, :source] - 1).abs().max() < 1e-5  # rounding of a float32 softmax
    assert (sums[:, source:] - 2).abs().max() < 1e-5


def test_a_joint_map_of_other_groups_of_tokens(seen) -> None:
    view = View(seen)
    site = view.site(0, JOINT)
    parts = view.joint_parts(site)
    source = len(view.query_labels(parts.encoder))
    whole = view.weights(site)
    assert whole[:, :source, :source].equal(view.weights(parts.encoder))
    assert whole[:, source:, :source].equal(view.weights(parts.cross))
    assert whole[:, source:, source:].equal(view.weights(parts.decoder))


def test_other_models_have_none() -> None:
    seen = trace(load("minilm"), "a b")
    assert joint_layers(seen) == {}
    with pytest.raises(ValueError, match=r"kind: layer 0 has \['self'\], received"):
        View(seen).weights(0, kind=JOINT)
