"""The predicted peak of a traced pass against the measured one."""

import subprocess
import sys
from pathlib import Path

import pytest

from models.vit import ViTConfig
from viz.build.shapes import peak_memory

SHAPES = {
    "mostly weights": ViTConfig(image=64, patch=16, dim=512, depth=6, heads=8, mlp=2048),
    "mostly patches": ViTConfig(image=400, patch=8, dim=128, depth=6, heads=4, mlp=512),
    "wide inside": ViTConfig(image=320, patch=8, dim=64, depth=3, heads=2, mlp=4096),
}
SCRIPT = """
import os, sys, torch
from benchmarks.memory import rise_of
from models.run import load, trace
from models.vit import ViTConfig

def run(config):
    torch.set_num_threads(2)
    return trace(load(config), torch.zeros(1, 3, config.image, config.image))

for config in sys.argv[1:]:
    if os.fork() == 0:  # every one in a process that has not computed before
        run(ViTConfig(image=32))
        kept = []
        print(rise_of(lambda: kept.append(run(eval(config)))), flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.long
def test_prediction_is_within_a_factor() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(repr, SHAPES.values())],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    risen = dict(zip(SHAPES, map(int, done.stdout.split()), strict=True))
    for name, config in SHAPES.items():
        assert 1 / 1.5 < peak_memory(config) / risen[name] < 1.5, name


def test_what_no_machine_has_is_worked_out_at_once() -> None:
    config = ViTConfig(image=8192, patch=2, dim=65_536, depth=1000, heads=64, mlp=262_144)
    assert peak_memory(config) > 2**45
