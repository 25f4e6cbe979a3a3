"""The origin of a trace of one of our networks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from models.attention import Edit
from models.eval_mode import evaluating
from models.model import Network
from models.own_projections import projections_at, readout_of
from models.own_stream import stream_at
from models.projections import Projections
from models.readout import Readout
from models.stream import Stream
from models.structure import kept_with
from models.trace import Site


@dataclass(frozen=True, eq=False)
class OwnOrigin:
    """The network that a trace was made with.

    Attributes:
        network: one of ours.
        arguments: of its forward.
        edits: of the pass.
    """

    network: Network
    arguments: Mapping[str, Any]
    edits: Sequence[Edit] = ()

    def kept(self) -> dict[Any, Any]:
        """What was computed of the weights of the network, kept with it."""
        return kept_with(self.network)

    def projections(self, site: Site) -> Projections:
        """The linear maps of a site."""
        return projections_at(self.network, site)

    def gates(self, site: Site) -> None:
        """Networks of ours have no output gates."""

    def stream(self, site: Site, item: int, places: Int[Tensor, " token"]) -> Stream:
        """The residual stream of some tokens where a site reads it."""
        layer = site.layer
        return stream_at(self.network, self.arguments, self.edits, site.tower, layer, item, places)

    def last_stream(self, site: Site, item: int, places: Int[Tensor, " token"]) -> Stream:
        """The residual stream of some tokens as it leaves the last block of a site's tower."""
        return stream_at(self.network, self.arguments, self.edits, site.tower, None, item, places)

    def readout(self) -> Readout:
        """What turns hidden states into logits."""
        return readout_of(self.network)

    def differentiable_states(self, tower: str | None) -> tuple[Tensor, ...]:
        """What leaves each layer of a tower, with its graph, from one more pass."""
        with torch.enable_grad():
            out: Any = evaluating(self.network)(**self.arguments, edits=self.edits)
        return out.encoder.states if tower == "encoder" else out.states

    def mixing_parts(self, tower: str | None) -> tuple[str, ...]:
        """None: in our networks tokens meet in attention alone."""
        return ()
