"""The settings of a run, which its manifest keeps: equal ones give equal results."""

from dataclasses import asdict, dataclass
from typing import Any

LONGEST = 256  # tokens of a text that are read, at most
BLOCK = 1_024  # texts that are sorted by length and added up together
SHARD = 2_048  # texts of a shard
PAIRS = 512  # pairs of tokens that are kept of each head


@dataclass(frozen=True)
class Settings:
    """How a corpus is read.

    Attributes:
        pictures: whether the inputs are pictures.
        longest: tokens of a text that are read, at most.
        block: texts that are sorted by length and added up together.
        seed: of the samples.
        sampled: share of the queries from which pairs of tokens are counted.
        threads: of PyTorch on a processor; 0 for its own choice.
        pairs: of tokens that are kept of each head, those with the most weight.
    """

    pictures: bool = False
    longest: int = LONGEST
    block: int = BLOCK
    seed: int = 0
    sampled: float = 1.0
    threads: int = 0
    pairs: int = PAIRS

    def __post_init__(self) -> None:
        least_by_name = {"longest": 2, "block": 1, "seed": 0, "threads": 0, "pairs": 1}
        for name, least in least_by_name.items():
            if getattr(self, name) < least:
                received = getattr(self, name)
                raise ValueError(f"{name}: expected {least} or more, received {received}")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
