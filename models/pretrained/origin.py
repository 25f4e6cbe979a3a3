"""The origin of a trace of a transformers model: what is found in further passes of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from jaxtyping import Int
from torch import Tensor, nn

from models.attention import Edit
from models.inputs.sequences import ModelInputs
from models.pretrained.attention_modules import AttentionModules, blocks_of
from models.pretrained.linear_maps import SiteMaps, readout_of, site_maps
from models.pretrained.observation import observe, short
from models.pretrained.passes import record_pass
from models.pretrained.recording import Key, ModuleEdit
from models.pretrained.stream import stream_at
from models.projections import Projections, Readout
from models.stream import Stream
from models.structure import kept_with
from models.trace import Site

if TYPE_CHECKING:
    from models.model import Model

Result = TypeVar("Result")
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
IDS = {"text": "input_ids", "target": "decoder_input_ids"}  # of towers that read tokens


@dataclass(frozen=True, eq=False)
class PretrainedOrigin:
    """The model and the input that a trace was made with.

    Attributes:
        model: of the library.
        inputs: as prepared.
        edits: of the pass.
    """

    model: "Model"
    inputs: ModelInputs
    edits: Sequence[Edit | ModuleEdit] = ()

    @property
    def network(self) -> Any:
        """The library's network."""
        return self.model.network

    def rerun(self) -> Any:
        """One more pass, with the same input and edits, for hooks that watch its modules."""
        return record_pass(self.model, self.inputs, self.edits)[2]

    def kept(self) -> dict[Any, Any]:
        """What was computed of the weights of the network, kept with it."""
        return kept_with(self.model.network)

    def projections(self, site: Site) -> Projections:
        """The linear maps of a site, checked on the first tokens of the input.

        Raises:
            ValueError: where a layer's queries, keys, values or output are no linear map of one
                module, with what was expected.
        """
        return self.maps((site.module, site.layer, site.part)).projections

    def stream(
        self, site: Site, item: int, places: Int[Tensor, " token"], *, to_end: bool = False
    ) -> Stream:
        """The residual stream of some tokens where a site reads it, or as it leaves the last block
        of the site's tower: of blocks that are attention and feed-forward networks added to it."""
        key = site.module, site.layer, site.part
        return stream_at(self, key, item, places, to_end=to_end)

    def differentiable_states(self, tower: str | None) -> tuple[Tensor, ...]:
        """What leaves each layer of a tower, with its graph, from one more pass."""
        with torch.enable_grad():
            _, noted, _ = record_pass(self.model, self.inputs, self.edits, hidden=True)
        if tower not in noted.states:
            raise ValueError(f"{self.model.name} gives no hidden states")
        return tuple(noted.states[tower])

    def mixing_parts(self, tower: str | None) -> tuple[str, ...]:
        """Paths of the parts of a tower's blocks that mix tokens without traced attention.

        Those with a convolution over several tokens, which state spaces and recurrences begin with.
        """
        network = self.model.network
        blocks = blocks_of(network, AttentionModules.find_in(network))
        return tuple(
            f"{path}.{name}"
            for of_tower, path, block in blocks
            for name, part in block.named_children()
            if of_tower == tower
            and any(isinstance(m, CONVOLUTIONS) and max(m.kernel_size) > 1 for m in part.modules())
        )

    def maps(self, key: Key) -> SiteMaps:
        """The linear maps of the site with this module, layer and part.

        Raises:
            ValueError: where there are none.
        """
        missing = ValueError(f"{key[0]}: expected it to attend in the first tokens alone too")
        return _known(self._linear_maps[0].get(key, missing))

    def readout(self) -> Readout:
        """What turns hidden states into logits.

        Raises:
            ValueError: for a network with more than a norm and a linear map there; it names the
                module.
        """
        return _known(self._linear_maps[1])

    @cached_property
    def _linear_maps(self) -> tuple[dict[Key, SiteMaps | ValueError], Readout | ValueError]:
        """What a pass over the first tokens tells of the network, or why it does not."""
        network, inputs = self.model.network, short(self.inputs)
        inputs.arguments.pop("logits_to_keep", None)
        seen = observe(self.model, inputs)
        blocks = [call for calls in seen.blocks.values() for call in calls]
        readout = _tried(readout_of, network, seen.calls, blocks, seen.out)
        maps: dict[Key, SiteMaps | ValueError] = {}
        for index, call in enumerate(seen.record.calls):
            source = call.entry.source
            ids = inputs.arguments.get(IDS.get(source or "", ""))
            outcome = _tried(site_maps, call, index, seen.calls, ids)
            encodes = network.config.is_encoder_decoder and source != "target"
            if isinstance(outcome, SiteMaps) and isinstance(readout, Readout) and not encodes:
                projections, head = outcome.projections, readout.unembedding
                if projections.embedding is not None:
                    projections = replace(projections, unembedding=head, final_norm=readout.norm)
                outcome = outcome._replace(projections=projections)
            maps.setdefault(call.key, outcome)
        return maps, readout


def _tried(find: Callable[..., Result], *given: Any) -> Result | ValueError:
    """The result, or the error that says why there is none."""
    try:
        return find(*given)
    except ValueError as error:
        return error


def _known(outcome: Result | ValueError) -> Result:
    if isinstance(outcome, ValueError):
        raise outcome
    return outcome
