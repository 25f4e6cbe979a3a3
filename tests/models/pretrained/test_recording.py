"""The state of a trace, told step by step what a network does."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.attention import Mask, Pattern
from models.inputs.sequences import InputSequence, named_tokens
from models.pretrained.attention_modules import AttentionModule, AttentionModules
from models.pretrained.axes import numbered_axis
from models.pretrained.recording import Entry, Recording, reads_channels
from models.trace import PatchGrid

LOWEST = torch.finfo(torch.float32).min
TOKENS = 4


class Attention(nn.Module):
    def forward(self, hidden_states: Any, key_value_states: Any = None) -> None: ...


def recording(*paths: str, items: int = 2, **more: Any) -> tuple[Recording, nn.Module]:
    """A recording of a network with one attention layer, which has these paths."""
    layer = Attention()
    place = AttentionModule(paths[0], None, 0, "layers", paths)
    layers = {path: number for number, path in enumerate(paths)}
    modules = AttentionModules({id(layer): place}, (), layers, frozenset({"layers", ""}))
    given = {"arguments": {}, "sequences": {}, "config": SimpleNamespace()} | more
    return Recording(modules, items=items, **given), layer


def entry(path: str = "layers.0.attn", windows: str | None = None, **more: Any) -> Entry:
    return Entry(AttentionModule(path, None, 0, windows=windows), nn.Identity(), path, 0, **more)


def pattern(batch: int, queries: int, keys: int | None = None) -> Pattern:
    k = torch.zeros(batch, 2, queries if keys is None else keys, 3)
    return Pattern(torch.zeros(batch, 2, queries, 3), k, k)


def text(*lengths: int) -> dict[str, InputSequence]:
    """Texts with padding behind."""
    tokens = tuple(named_tokens([str(n) for n in range(count)]) for count in lengths)
    own = tuple(torch.arange(count) for count in lengths)
    padded = any(count < TOKENS for count in lengths)
    return {"text": InputSequence("text", tokens, TOKENS, own if padded else None)}


# --- runs ---------------------------------------------------------------------------------------


def test_a_layer_outside_of_any_container_that_ran_is_of_the_first_run() -> None:
    record, layer = recording("layers.0.attn")
    record.enter_attention(layer, (torch.zeros(2, 3, 5),), {})
    assert record.entry(layer).part == 0
    assert record.entry(layer).given == (2, 3, 5)


def test_a_layer_whose_forward_did_not_run_is_of_its_own_block_and_the_first_run() -> None:
    record, layer = recording("layers.0.attn")
    found = record.entry(layer)
    assert (found.path, found.layer, found.part, found.cross) == ("layers.0.attn", 0, 0, False)


def test_a_layer_that_blocks_share_runs_in_one_after_another() -> None:
    paths = ("layers.0.attn", "layers.1.attn", "layers.2.attn")
    record, layer = recording(*paths)
    found = []
    for _ in range(2):
        record.enter_container("layers", nn.Identity(), (), {})
        for _ in paths:
            record.enter_attention(layer, (torch.zeros(1, 3, 5),), {})
            now = record.entry(layer)
            found.append((now.path, now.layer, now.part))
    assert found == [(path, n, part) for part in range(2) for n, path in enumerate(paths)]


def test_blocks_that_run_again_are_further_blocks() -> None:
    """The first run of a block has its own number, whatever ran before."""
    layers, numbers = [Attention(), Attention()], {"layers.0.attn": 0, "layers.1.attn": 1}
    places = [AttentionModule(path, None, n, "layers", (path,)) for path, n in numbers.items()]
    found = {id(layer): place for layer, place in zip(layers, places, strict=True)}
    modules = AttentionModules(found, (), numbers, frozenset({"layers", ""}))
    record = Recording(modules, {}, {}, SimpleNamespace(), items=1)
    record.enter_container("layers", nn.Identity(), (), {})
    order = []
    for layer in (layers[1], layers[0], layers[0], layers[1]):
        record.enter_attention(layer, (torch.zeros(1, 3, 5),), {})
        order.append(record.entry(layer).layer)
    assert order == [1, 0, 2, 3]


@pytest.mark.parametrize(
    ("path", "crosses"),
    [
        ("layers.0.attn", True),
        ("layers.0.self_attn", False),
        ("block.0.layer.0.SelfAttention", False),
        ("block.0.self_attention", False),
    ],
)
def test_a_layer_that_calls_itself_self_attention_does_not_cross(path: str, crosses: bool) -> None:
    record, layer = recording(path)
    record.enter_attention(layer, (torch.zeros(1, 3, 5), torch.ones(1, 2, 5)), {})
    assert record.entry(layer).cross is crosses


# --- windows ------------------------------------------------------------------------------------


def test_the_sides_of_a_windowed_image() -> None:
    record, block = recording("layers.0.attn")[0], nn.Module()
    block.shift_size = 0  # type: ignore[assignment]
    x = torch.zeros(1, 15, 7)
    record.enter_windows("alone", block, (x,), {})
    record.enter_windows("drawn", nn.Module(), (x.view(1, 3, 5, 7),), {})
    record.enter_windows("row", nn.Module(), (x,), {})
    record.enter_windows("second", block, (x, (3, 5)), {})
    record.enter_windows("third", block, (x, torch.tensor([5, 3]), None), {})
    record.enter_windows("named", block, (x,), {"input_dimensions": (1, 15)})
    found = {path: sides for path, (_, sides) in record.windows.items()}
    assert found == {"drawn": (3, 5), "second": (3, 5), "third": (5, 3), "named": (1, 15)}


def test_windows_of_the_block_around_a_layer() -> None:
    record, block = recording("layers.0.attn")[0], nn.Module()
    block.window_size, block.shift_size = 2, 1  # type: ignore[assignment]
    record.enter_windows("layers.0", block, (torch.zeros(1), (3, 5)), {})
    found = record.blocks(entry("layers.0.attn.core"), pattern(12, 4))
    assert found is not None
    assert (found.grid, found.count) == ((3, 5), 6)
    assert record.blocks(entry("layers.1.attn"), pattern(12, 4)) is None


@pytest.mark.parametrize(
    ("windows", "batch", "keys", "count"),
    [
        ("layers.0", 2, 4, None),  # an item each
        ("layers.0", 4, 4, 2),
        ("layers.0", 6, 4, 3),
        ("layers.0", 5, 4, None),
        ("layers.0", 4, 3, None),
        (None, 4, 4, None),
    ],
)
def test_items_that_are_windows(
    windows: str | None, batch: int, keys: int, count: int | None
) -> None:
    record = recording("layers.0.attn")[0]
    found = record.blocks(entry(windows=windows), pattern(batch, 4, keys))
    assert (None if found is None else found.count) == count


# --- packed sequences ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "lengths"),
    [
        ({"image_grid_thw": torch.tensor([[1, 3, 2], [1, 1, 2]])}, [6, 2]),
        ({"image_grid_hw": torch.tensor([[3, 2], [1, 2]])}, [6, 2]),
        ({"image_grid_thw": torch.tensor([[1, 3, 3]])}, [8]),  # of something else
        ({}, [8]),
    ],
)
def test_the_items_of_a_packed_sequence(arguments: dict[str, Tensor], lengths: list[int]) -> None:
    record = recording("layers.0.attn", arguments=arguments)[0]
    assert list(record.packed_items(8)) == lengths


# --- masks --------------------------------------------------------------------------------------


def lonely() -> Tensor:
    """The third of four tokens of the first item sees nothing, and none sees it."""
    matrix = torch.zeros(2, 1, TOKENS, TOKENS)
    matrix[0, :, 2], matrix[0, :, :, 2] = LOWEST, LOWEST
    return matrix


def even_rows(record: Recording, where: Entry) -> list[list[int]]:
    """Item and row of those whose scores are all the lowest number."""
    found = record.reading(lonely(), where, (2, TOKENS, TOKENS))
    if found.bias is None:
        return []
    return (found.bias[:, 0] == LOWEST).all(-1).nonzero().tolist()


def test_a_token_that_sees_nothing() -> None:
    """Padding if the input says so; else it attends evenly; where nothing tells, padding."""
    real = recording("layers.0.attn", sequences=text(4, 4))[0]
    assert even_rows(real, entry(source="text")) == [[0, 2]]
    places = (torch.tensor([0, 1, 3]), torch.arange(TOKENS))
    sequence = replace(text(3, 4)["text"], positions=places)
    padded = recording("layers.0.attn", sequences={"text": sequence})[0]
    assert even_rows(padded, entry(source="text")) == []
    unknown = recording("layers.0.attn")[0]
    assert even_rows(unknown, entry(source=None)) == []
    assert even_rows(unknown, entry(source=None, cross=True)) == [[0, 2]]


def test_a_matrix_of_several_layers_is_parsed_once() -> None:
    record, matrix = recording("layers.0.attn")[0], lonely()
    sizes = (2, TOKENS, TOKENS)
    first = record.reading(matrix, entry(), sizes)
    assert record.reading(matrix, entry(), sizes) is first
    other = record.reading(matrix.clone(), entry(), sizes)
    assert other is not first
    nothing = record.reading(None, entry(), sizes)
    assert (nothing.mask.padding, nothing.mask.dense, nothing.bias) == (None, None, None)


# --- axes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["image", "text", None])
def test_only_an_image_has_cells(source: str | None) -> None:
    """Six queries are as many as a stride of 32 makes cells."""
    record = recording("layers.0.attn", arguments={"pixel_values": torch.zeros(2, 3, 64, 96)})[0]
    rows, keys = record.axes(entry(source=source), pattern(2, 6), None)
    assert rows is keys
    assert rows.grid == (PatchGrid(2, 3) if source == "image" else None)
    assert rows.tokens[1].labels[0] == ("cell 0,0" if source == "image" else "position 0")


@pytest.mark.parametrize(
    ("source", "length", "label"),
    [(None, 6, "object query 0"), (None, 5, "position 0"), ("text", 6, "position 0")],
)
def test_object_queries_come_from_no_input(source: str | None, length: int, label: str) -> None:
    record = recording("layers.0.attn", config=SimpleNamespace(num_queries=6))[0]
    rows, _ = record.axes(entry(source=source), pattern(2, length), None)
    assert rows.tokens[0].labels[0] == label


class ChannelAttention(nn.Module): ...


@pytest.mark.parametrize(
    ("given", "queries", "named", "expected"),
    [
        ((2, 3, 10), 5, False, True),  # 2 heads of 5 channels, each a vector over 3 tokens
        ((2, 3, 6), 3, False, False),  # as many channels as tokens
        ((2, 3, 6), 3, True, True),
        ((2, 5, 6), 5, False, False),  # 2 heads of 3 columns, over 5 tokens
        ((2, 4, 10), 5, False, False),
        ((2, 4, 10), 5, True, False),
        ((2, 3, 11), 5, True, False),
        ((3, 10), 5, True, False),
    ],
)
def test_layers_that_attend_among_channels(
    given: tuple[int, ...], queries: int, named: bool, expected: bool
) -> None:
    module = ChannelAttention() if named else nn.Identity()
    assert (
        reads_channels(replace(entry(given=given), module=module), pattern(2, queries)) == expected
    )


# --- padding ------------------------------------------------------------------------------------


BEHIND_QUERIES = torch.tensor([[False, False, True], [False, False, False]])
BEFORE_KEYS = torch.tensor([[False] * 5, [True, True, False, False, False]])


EVERY_QUERY = torch.tensor([[False, False, True], [False, True, True]])


@pytest.mark.parametrize(
    "queries",
    [None, BEHIND_QUERIES, EVERY_QUERY],
    ids=["queries", "padded queries", "padded everywhere"],
)
@pytest.mark.parametrize("keys", [None, BEFORE_KEYS], ids=["keys", "padded keys"])
def test_padding_of_queries_and_of_keys(queries: Tensor | None, keys: Tensor | None) -> None:
    record, _ = recording("layers.0.attn")
    axes = numbered_axis("query", 3, 2, queries), numbered_axis("key", 5, 2, keys)
    mask = record.with_padding(pattern(2, 3, 5), axes).mask
    for found, expected in ((mask.query_padding, queries), (mask.key_padding, keys)):
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            assert found.equal(expected)


def test_queries_beside_padded_keys_are_all_of_the_item() -> None:
    record, _ = recording("layers.0.attn")
    whole = pattern(2, 3, 5)
    whole = replace(whole, mask=Mask(padding=BEFORE_KEYS))
    axes = numbered_axis("query", 3, 2, None), numbered_axis("key", 5, 2, BEFORE_KEYS)
    mask = record.with_padding(whole, axes).mask
    assert mask.query_padding is not None
    assert not mask.query_padding.any()
    assert mask.key_padding is not None
    assert mask.key_padding.equal(BEFORE_KEYS)


@pytest.mark.parametrize("width", [4, 5])
def test_padding_of_states_is_that_of_the_mask_beside_them(width: int) -> None:
    """Unless that is of another length: then what no query sees is padding."""
    shown = torch.ones(2, width)
    shown[0, 3:] = 0.0
    given = {"encoder_hidden_states": torch.zeros(2, 5, 7), "encoder_attention_mask": shown}
    record = recording("layers.0.attn", arguments=given)[0]
    whole = replace(pattern(2, 3, 5), mask=Mask(padding=BEFORE_KEYS))
    _, keys = record.axes(entry(cross=True, keys="encoder_hidden_states"), whole, None)
    padding = keys.padding(5)
    assert padding is not None
    assert padding.equal(shown == 0 if width == 5 else BEFORE_KEYS)
