"""Positions of a network as matrices, against closed forms and loops."""

import math

import pytest
import torch

from models.encoder import EncoderConfig
from models.loading.load import load
from models.run import trace
from viz.build.numbers import number
from viz.build.picture import Picture

IDS = torch.tensor([[5, 3, 8, 1, 2]])


def picture(positions, **more):
    config = EncoderConfig(vocab=11, dim=16, heads=2, depth=1, mlp=9, positions=positions, **more)
    return Picture.of(trace(load(config), IDS))


def matrices(of, address):
    return {matrix.name: matrix.values for matrix in of.card(address).matrices}


@pytest.mark.parametrize("base", [10_000.0, 100.0])
def test_tables_are_the_closed_forms(base):
    wave = matrices(picture("sinusoidal"), f"p:positions:9:{base:g}")
    turn = matrices(picture("rotary"), f"p:relation:9:{base:g}")
    for p in range(9):
        for i in range(16):
            angle = p / base ** ((i - i % 2) / 16)
            value = math.cos(angle) if i % 2 else math.sin(angle)
            assert float(wave["positions"][p, i]) == pytest.approx(value, abs=1e-6)
        for pair in range(4):
            angle = p / base ** (2 * pair / 8)
            assert float(turn["positions"][p, pair]) == pytest.approx(math.cos(angle), abs=1e-6)
            assert float(turn["positions"][p, 4 + pair]) == pytest.approx(math.sin(angle), abs=1e-6)


def test_what_is_added_is_the_difference_of_output_and_input():
    of = picture("learned")
    found = matrices(of, "p:positions:0:0")
    assert torch.allclose(found["input"] + found["positions"], found["output"], atol=1e-6)
    table = found["positions"]
    cosine = table[1] @ table[3] / (table[1].norm() * table[3].norm())
    assert float(found["similarity"][1, 3]) == pytest.approx(float(cosine), abs=1e-6)
    cell = number(of, "p:positions:0:0", "output", 2, 3)
    assert cell.steps[-1].value == pytest.approx(float(found["output"][2, 3]), abs=1e-6)


def test_biases_of_heads_fall_with_the_distance():
    found = matrices(picture("alibi"), "p:relation:6:0")
    for head, slope in (("head 0", 2**-4), ("head 1", 2**-8)):
        for query in range(6):
            for key in range(6):
                assert float(found[head][query, key]) == pytest.approx(-slope * abs(query - key))


def test_a_checkpoint_s_learned_positions_are_its_own():
    model = load("minilm")
    of = Picture.of(trace(model, "one two three"))
    found = matrices(of, "p:positions:40:0")["positions"]
    assert torch.equal(found, model.network.get_parameter("positions.table")[:40])
