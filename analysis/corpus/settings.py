"""What every part of a run is read and added up by."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from analysis.corpus.scales import edges, measures
from analysis.measures import Measure
from models.trace import Site, Where

LONGEST = 256  # tokens of a text that are read, at most
SHARD = 2_048  # texts of a shard
PAIRS = 512  # pairs of tokens that are kept of each head


@dataclass(frozen=True)
class Settings:
    """How a corpus is read: equal settings give equal results.

    Attributes:
        pictures: whether the inputs are pictures.
        longest: tokens of a text that are read, at most.
        sampled: share of the queries from which pairs of tokens are counted.
        threads: of PyTorch on a processor; 0 for its own choice.
        pairs: of tokens that are kept of each head, those with the most weight.
    """

    pictures: bool = False
    longest: int = LONGEST
    sampled: float = 1.0
    threads: int = 0
    pairs: int = PAIRS

    def __post_init__(self) -> None:
        least_by_name = {"longest": 2, "threads": 0, "pairs": 1}
        for name, least in least_by_name.items():
            if getattr(self, name) < least:
                received = getattr(self, name)
                raise ValueError(f"{name}: expected {least} or more, received {received}")


@dataclass(frozen=True)
class Place:
    """Where the heads of one site stand among all heads.

    Attributes:
        where: address of the site.
        first: number of its first head.
        heads: how many it has.
    """

    where: Where
    first: int
    heads: int

    @property
    def slice(self) -> slice:
        return slice(self.first, self.first + self.heads)


def places_of(sites: Sequence[Site]) -> tuple[Place, ...]:
    """The heads of some sites, numbered site by site."""
    firsts = accumulate((site.heads for site in sites), initial=0)
    return tuple(Place(s.where, first, s.heads) for s, first in zip(sites, firsts, strict=False))


@dataclass(frozen=True, eq=False)
class Scheme:
    """What a run is added up by.

    Attributes:
        settings: of the run.
        places: the heads, numbered site by site.
        counted: ids of the tokens that are counted one by one, ascending.
    """

    settings: Settings
    places: tuple[Place, ...]
    counted: tuple[int, ...]

    @cached_property
    def sites(self) -> dict[Where, tuple[int, Place]]:
        """Number and place of each site."""
        return {place.where: (number, place) for number, place in enumerate(self.places)}

    @property
    def heads(self) -> int:
        return sum(place.heads for place in self.places)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        return measures(self.settings.pictures)

    @cached_property
    def bins(self) -> int:
        """Bins of the longest histogram."""
        return max(len(edges(measure)) - 1 for measure in self.measures)

    def columns(self, ids: np.ndarray) -> np.ndarray:
        """The column of each token among those that are counted; the last is that of all others."""
        counted = np.array(self.counted, np.int64)
        at = np.searchsorted(counted, ids)
        is_counted = at < len(counted)
        is_counted[is_counted] = counted[at[is_counted]] == ids[is_counted]
        return np.where(is_counted, at, len(counted))
