"""timm's numbers end up in their places; without timm, one line says what to do."""

import sys
from itertools import count

import pytest
import torch
from torch import Tensor

from benchmarks.timm_weights import DEPTH, DIM, main
from benchmarks.timm_weights import converted as to_ours

SHAPES = {
    "cls_token": (1, 1, DIM),
    "pos_embed": (1, 1 + 2 * 3, DIM),
    "patch_embed.proj.weight": (DIM, 3, 16, 16),
    "patch_embed.proj.bias": (DIM,),
    "norm.weight": (DIM,),
    "norm.bias": (DIM,),
    "head.weight": (10, DIM),
    "head.bias": (10,),
}
BLOCK = {
    "norm1": (DIM,),
    "norm2": (DIM,),
    "attn.qkv": (3 * DIM, DIM),
    "attn.proj": (DIM, DIM),
    "mlp.fc1": (4 * DIM, DIM),
    "mlp.fc2": (DIM, 4 * DIM),
}


def test_every_number_has_its_place() -> None:
    shapes: dict[str, tuple[int, ...]] = dict(SHAPES)
    for layer in range(DEPTH):
        for part, shape in BLOCK.items():
            shapes[f"blocks.{layer}.{part}.weight"] = shape
            shapes[f"blocks.{layer}.{part}.bias"] = shape[:1]
    numbers = count(1)
    state: dict[str, Tensor] = {
        name: torch.full(shape, float(next(numbers))) for name, shape in shapes.items()
    }
    state["blocks.3.attn.qkv.weight"] = (
        torch.arange(3.0).repeat_interleave(DIM)[:, None].repeat(1, DIM)
    )
    made = to_ours(state, (32, 48)).state_dict()
    assert [float(made[f"blocks.3.attention.{each}.weight"].mean()) for each in QKV] == [0, 1, 2]
    for ours, theirs in (
        ("prefix", "cls_token"),
        ("positions.table", "pos_embed"),
        ("blocks.7.before_feed_forward.bias", "blocks.7.norm2.bias"),
        ("blocks.7.feed_forward.down.weight", "blocks.7.mlp.fc2.weight"),
        ("head.layers.0.bias", "head.bias"),
    ):
        assert made[ours].equal(state[theirs].view(made[ours].shape))


QKV = ("query", "key", "value")


def test_without_timm(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "timm", None)
    assert main([]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "see the beginning of benchmarks/timm_weights.py" in line
