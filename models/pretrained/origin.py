"""The origin of a trace of a transformers model: what is found in further passes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxtyping import Int
from torch import Tensor, nn

from models.attention import Edit
from models.inputs.sequences import ModelInputs
from models.pretrained.attention_modules import AttentionModules
from models.pretrained.block_outputs import blocks_of
from models.pretrained.module_edits import ModuleEdit
from models.pretrained.observation import ModuleCall, observe, short
from models.pretrained.passes import record_pass
from models.pretrained.readout import readout_of
from models.pretrained.site_maps import SiteMaps, site_maps
from models.pretrained.stream import Key, stream_at
from models.projections import Projections, split_columns
from models.readout import Readout
from models.stream import Stream
from models.structure import kept_with
from models.trace import Site

if TYPE_CHECKING:
    from models.model import Model

IDS = {"text": "input_ids", "target": "decoder_input_ids"}  # of towers that read tokens


class _LinearMaps(NamedTuple):
    """What a pass over the first tokens tells of the network, or why it does not."""

    maps: dict[Key, SiteMaps | ValueError]
    readout: Readout | ValueError


def _whole(inputs: ModelInputs) -> ModelInputs:
    """The input with logits of every token."""
    kept = {name: each for name, each in inputs.arguments.items() if name != "logits_to_keep"}
    return replace(inputs, arguments=kept)


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

    def kept(self) -> dict[Any, Any]:
        """What was computed of the weights of the network, kept with it."""
        return kept_with(self.model.network)

    def projections(self, site: Site) -> Projections:
        """The linear maps of a site, checked on the first tokens of the input.

        Raises:
            ValueError: where a layer's queries, keys, values or output are no linear map of one
                module, with what was expected.
        """
        maps = self.maps((site.module, site.layer, site.part))
        return Projections(
            query=maps.query.matrices,
            key=maps.key.matrices,
            value=maps.value.matrices,
            output=split_columns(maps.output.matrix, len(maps.query.starts)),
            query_bias=maps.query.biases,
            key_bias=maps.key.biases,
            value_bias=maps.value.biases,
            output_bias=maps.output.bias,
            norm=maps.norm,
            residual=maps.residual,
            query_norm=maps.query.norm,
            key_norm=maps.key.norm,
            rotated=maps.query.rotation is not None or maps.key.rotation is not None,
            embedding=maps.embedding,
            unembedding=maps.unembedding,
            final_norm=maps.final_norm,
        )

    def stream(self, site: Site, item: int, places: Int[Tensor, " token"]) -> Stream:
        """The residual stream of some tokens where a site reads it.

        Raises:
            ValueError: for a network whose blocks are not attention and feed-forward networks that
                are added to the stream, with the layer that is not.
        """
        return stream_at(self, (site.module, site.layer, site.part), item, places)

    def last_stream(self, site: Site, item: int, places: Int[Tensor, " token"]) -> Stream:
        """The residual stream of some tokens as it leaves the last block of a site's tower.

        Raises:
            ValueError: as `stream`.
        """
        return stream_at(self, (site.module, site.layer, site.part), item, places, to_end=True)

    def differentiable_states(self, tower: str | None) -> tuple[Tensor, ...]:
        """What leaves each layer of a tower, with its graph, from one more pass."""
        record, _ = record_pass(self.model, self.inputs, self.edits, hidden=True, gradient=True)
        states = {} if record.states is None else record.states.states
        if tower not in states:
            raise ValueError(f"{self.model.name} gives no hidden states")
        return tuple(states[tower])

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
            if of_tower == tower and any(map(_convolves, part.modules()))
        )

    def maps(self, key: Key) -> SiteMaps:
        """The linear maps of the site with this module, layer and part.

        Raises:
            ValueError: where there are none.
        """
        entry = self._linear_maps.maps.get(key)
        if isinstance(entry, ValueError):
            raise entry
        if entry is None:
            raise ValueError(f"{key[0]}: expected it to attend in the first tokens alone too")
        return entry

    def readout(self) -> Readout:
        """What turns hidden states into logits.

        Raises:
            ValueError: for a network with more than a norm and a linear map there; it names the
                module.
        """
        outcome = self._linear_maps.readout
        if isinstance(outcome, ValueError):
            raise outcome
        return outcome

    @cached_property
    def _linear_maps(self) -> "_LinearMaps":
        inputs, blocks = _whole(short(self.inputs)), list[ModuleCall]()
        record, calls, out = observe(self.model, inputs, blocks=blocks)
        try:
            readout = readout_of(self.model.network, calls, blocks, out)
        except ValueError as error:
            readout = error
        maps: dict[Key, SiteMaps | ValueError] = {}
        for index, call in enumerate(record.calls):
            entry = call.entry
            ids = inputs.arguments.get(IDS.get(entry.source or "", ""))
            encodes = self.model.network.config.is_encoder_decoder and entry.source != "target"
            try:
                maps_here = site_maps(call, index, calls, ids)
                writes = maps_here.embedding is not None and not encodes
                if writes and isinstance(readout, Readout):
                    head = readout.unembedding
                    maps_here = replace(maps_here, unembedding=head, final_norm=readout.norm)
            except ValueError as error:
                maps_here = error
            maps.setdefault((entry.path, entry.layer, entry.part), maps_here)
        return _LinearMaps(maps, readout)


def _convolves(module: nn.Module) -> bool:
    """Whether a module is a convolution over more than one place."""
    return isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d) and max(module.kernel_size) > 1
