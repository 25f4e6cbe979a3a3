"""What a layer sees, against what is known of it; and the costs of a paper's table."""

import itertools

import pytest

from models.lessons.reach import KINDS, cost, hops, receptive_fields

TOKENS, AT = 19, 7


def which(kind: str, **more: int) -> list[int]:
    return receptive_fields(kind, TOKENS, AT, **more)[0].nonzero()[:, 0].tolist()


def test_attention_sees_everything_at_once() -> None:
    assert which("attention") == list(range(TOKENS))


def test_a_recurrence_sees_what_it_has_read() -> None:
    assert which("recurrence") == list(range(AT + 1))


@pytest.mark.parametrize(("layers", "kernel"), [(1, 3), (2, 3), (1, 5), (3, 5)])
def test_a_convolution_sees_half_a_window_a_layer(layers: int, kernel: int) -> None:
    reach = layers * (kernel // 2)
    assert which("convolution", layers=layers, kernel=kernel) == [
        place for place in range(TOKENS) if abs(place - AT) <= reach
    ]


@pytest.mark.parametrize("kernel", [3, 5, 7])
def test_the_path_of_a_convolution_is_how_many_layers_join_the_ends(kernel: int) -> None:
    path = cost("convolution", TOKENS, 4, kernel).path
    for layers, joined in ((path, True), (path - 1, False)):
        found = receptive_fields("convolution", TOKENS, 0, layers=layers, kernel=kernel)
        assert bool(found[0, -1]) == joined


def test_costs() -> None:
    found = {kind: cost(kind, 11, 7, 5) for kind in KINDS}
    assert {kind: one.work for kind, one in found.items()} == {
        "attention": 11 * 11 * 7,
        "recurrence": 11 * 7 * 7,
        "convolution": 5 * 11 * 7 * 7,
    }
    assert [found[kind].steps for kind in KINDS] == [1, 11, 1]
    assert [found[kind].path for kind in KINDS] == [1, 11, 5]


@pytest.mark.parametrize(("kind", "kernel"), [("magic", 3), ("attention", 4), ("attention", 1)])
def test_refusals(kind: str, kernel: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        cost(kind, 5, 5, kernel)


@pytest.mark.parametrize("tokens", [2, 3, 13])
@pytest.mark.parametrize("kernel", [3, 5, 7])
def test_each_hop_of_a_convolution_is_one_that_gradients_take(tokens: int, kernel: int) -> None:
    path = hops("convolution", tokens, kernel)
    assert (path[0], path[-1]) == (0, tokens - 1)
    for before, after in itertools.pairwise(path):
        assert receptive_fields("convolution", tokens, after, kernel=kernel)[0, before]
    short = len(path) - 2
    if short:
        seen = receptive_fields("convolution", tokens, tokens - 1, layers=short, kernel=kernel)
        assert not seen[0, 0]


def test_hops_of_a_recurrence_and_of_attention() -> None:
    assert hops("recurrence", 5) == (0, 1, 2, 3, 4)
    assert hops("attention", 5) == (0, 4)
