"""Tiny vision-language checkpoints, each opened once."""

from collections.abc import Callable
from functools import lru_cache

import pytest

from models.model import Model
from models.run import load
from tests.models.vision_language import BY_NAME


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Model]:
    """Opens the checkpoint of a family, once."""

    @lru_cache
    def open_family(name: str) -> Model:
        folder = BY_NAME[name].save(tmp_path_factory.mktemp("family"))
        if name == "Qwen3-VL":  # its least number of pixels is of all frames together
            (folder / "video_preprocessor_config.json").write_text(
                '{"size": {"shortest_edge": 64, "longest_edge": 8000}}'
            )
        return load(str(folder))

    return open_family
