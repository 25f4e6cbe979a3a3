"""The origin of a trace of a transformers model: what is found in further passes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from jaxtyping import Float, Int
from torch import Tensor

from models.attention import Edit
from models.attention.rotation import alike
from models.decompx import carried
from models.inputs.pretrained import ModelInputs
from models.pretrained.activations import activation_rules
from models.pretrained.observation import ModuleCall, observe, short
from models.pretrained.passes import record_pass
from models.pretrained.site_maps import SiteMaps, gate_call, is_wide, norm_before, site_maps
from models.pretrained.stream import Key, stream_at
from models.pretrained.token_mixing import mixing_parts
from models.projections import Norm, Projections, split_columns
from models.stream import Stream
from models.trace import Site

if TYPE_CHECKING:
    from models.model import Model

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
    edits: Sequence[Edit] = ()

    def projections(self, site: Site) -> Projections:
        """The linear maps of a site, checked on the first tokens of the input.

        Raises:
            ValueError: where a layer's queries, keys, values or output are no linear map of one
                module, with what was expected.
        """
        found = self.maps((site.module, site.layer, site.part))
        return Projections(
            query=found.query.matrices,
            key=found.key.matrices,
            value=found.value.matrices,
            output=split_columns(found.output.matrix, len(found.query.starts)),
            query_bias=found.query.biases,
            key_bias=found.key.biases,
            value_bias=found.value.biases,
            output_bias=found.output.bias,
            gate=None if found.gate is None else found.gate.matrices,
            gate_bias=None if found.gate is None else found.gate.biases,
            norm=found.norm,
            residual=found.residual,
            query_norm=found.query.norm,
            key_norm=found.key.norm,
            rotated=found.query.rotation is not None or found.key.rotation is not None,
            embedding=found.embedding,
            unembedding=found.unembedding,
            final_norm=found.final_norm,
        )

    def gates(self, site: Site) -> Float[Tensor, "batch head query gate_dim"] | None:
        """The output gates of a site, found in one more pass for all sites; None without any.

        Raises:
            ValueError: as `projections`.
        """
        key = site.module, site.layer, site.part
        return None if self.maps(key).gate is None else self._gates[key]

    def stream(self, site: Site, item: int, places: Int[Tensor, " token"]) -> Stream:
        """The residual stream of some tokens where a site reads it.

        Raises:
            ValueError: for a network whose blocks are not attention and feed-forward networks that
                are added to the stream, with the layer that is not.
        """
        return stream_at(self, (site.module, site.layer, site.part), item, places)

    def carried(self, first: Tensor, part: Tensor, last: Tensor) -> Tensor | None:
        """What becomes of a part of one tensor of the pass in another."""

        def run() -> None:
            with activation_rules(self.model.network, "attnlrp"):
                record_pass(self.model, self.inputs, self.edits)

        return carried(run, first, part, last)

    def mixing_parts(self, tower: str | None) -> tuple[str, ...]:
        """Paths of the parts of a tower that mix tokens without traced attention."""
        return self._mixing.get(tower, ())

    @cached_property
    def _mixing(self) -> dict[str | None, tuple[str, ...]]:
        return mixing_parts(self.model, short(self.inputs))

    def maps(self, key: Key) -> SiteMaps:
        """The linear maps of the site with this module, layer and part.

        Raises:
            ValueError: where there are none.
        """
        found = self._maps.get(key)
        if isinstance(found, ValueError):
            raise found
        if found is None:
            raise ValueError(f"{key[0]}: expected it to attend in the first tokens alone too")
        return found

    @cached_property
    def _maps(self) -> dict[Key, SiteMaps | ValueError]:
        inputs, blocks = short(self.inputs), list[ModuleCall]()
        record, calls = observe(self.model, inputs, blocks=blocks)
        found: dict[Key, SiteMaps | ValueError] = {}
        head, final_norm = self._head(calls, blocks)
        for index, call in enumerate(record.calls):
            entry = call.entry
            ids = inputs.arguments.get(IDS.get(entry.source or "", ""))
            encodes = self.model.network.config.is_encoder_decoder and entry.source != "target"
            try:
                maps = site_maps(call, index, calls, ids)
                if maps.embedding is not None and not encodes:
                    maps = replace(maps, unembedding=head, final_norm=final_norm)
            except ValueError as error:
                maps = error
            found.setdefault((entry.path, entry.layer, entry.part), maps)
        return found

    @cached_property
    def _gates(self) -> dict[Key, Tensor]:
        maps = {key: each.gate for key, each in self._maps.items() if isinstance(each, SiteMaps)}
        modules = {gate.linear.module for gate in maps.values() if gate is not None}
        record, calls = observe(self.model, self.inputs, self.edits, modules=modules)
        found: dict[Key, Tensor] = {}
        for index, call in enumerate(record.calls):
            key = call.entry.path, call.entry.layer, call.entry.part
            gate = maps.get(key)
            if gate is not None:
                made = gate_call(calls, gate, index).made
                rows = made.reshape(call.pattern.batch, call.pattern.queries, -1)
                found.setdefault(key, gate.gates(rows))
        return found

    def _head(
        self, calls: Sequence[ModuleCall], blocks: Sequence[ModuleCall]
    ) -> tuple[Tensor | None, Norm | None]:
        """The vectors that give the logits, and the norm whose output they are multiplied with.

        None where anything but a norm and a factor is between them and what leaves the blocks: the
        head of a masked language model has a linear layer with an activation there.
        """
        head = self.model.network.get_output_embeddings()
        call = next((each for each in calls if each.module is head), None)
        if call is None:
            return None, None
        weight = getattr(head, "weight", None)
        if not is_wide(weight, call.given.shape[-1]):
            return None, None
        norm, read = norm_before(calls, call.given)
        streams = [block.made for block in blocks if block.made.shape == read.shape]
        if not any(alike(x, stream) for x in (call.given, read) for stream in streams):
            return None, None
        return weight, norm
