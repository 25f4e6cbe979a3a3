"""Generated hostile checkpoints: each opens, or is refused in one line."""

from pathlib import Path
from shutil import copytree

import pytest
import torch

from models.files.errors import CheckpointError
from models.files.fitting import check_fit
from models.run import load
from tests.models.architectures import ARCHITECTURES, BY_NAME
from tests.models.files import checkpoints


@pytest.mark.parametrize(
    ("name", "every"),
    [("Llama", 11), *(pytest.param(n, 1, marks=pytest.mark.long) for n in checkpoints.FAMILIES)],
)
def test_hostile_checkpoints_are_one_line_or_open(name: str, every: int, tmp_path: Path) -> None:
    whole = checkpoints.save(BY_NAME[name], tmp_path / "whole")
    assert checkpoints.outcome(whole) == "opened"
    for number, (case, change) in enumerate(checkpoints.cases(name, whole)):
        if number % every == 0:
            folder = copytree(whole, tmp_path / str(number))
            change(folder)
            said = checkpoints.outcome(folder)
            assert "\n" not in said, case
            assert len(said) < 500, case


@pytest.mark.parametrize("name", [each.name for each in ARCHITECTURES])
def test_every_whole_checkpoint_fits_its_config(name: str, tmp_path: Path) -> None:
    load(checkpoints.save(BY_NAME[name], tmp_path))


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("Llama", "hidden_size", 36_000_000),
        ("Llama", "num_hidden_layers", 400),
        ("BERT", "vocab_size", 5_000_000),
        ("DeepSeek-V3", "n_routed_experts", 300_000),
        ("Whisper", "encoder_ffn_dim", 7_000_000),
        ("Swin", "embed_dim", 900_000),
    ],
)
def test_a_config_beyond_its_weights_is_named(
    name: str, key: str, value: int, tmp_path: Path
) -> None:
    whole = checkpoints.save(BY_NAME[name], tmp_path)
    checkpoints.change_config(whole, **{key: value})
    with pytest.raises(CheckpointError, match=rf"hold [\d,]+ numbers .*{key} is {value:,}"):
        load(whole)


def test_a_network_is_not_built_beyond_its_weights() -> None:
    made = []

    def endless() -> torch.nn.Module:
        while True:
            made.append(torch.nn.Linear(2, 3))

    with pytest.raises(CheckpointError, match="1 tensors: depth is 5"):
        check_fit({"a": torch.ones(2, 3)}, endless, {"depth": 5})
    assert len(made) < 10_000
