"""Which input sequence the queries and the keys of an attention layer come from.

Determined from the tensors themselves, never from their lengths: a tower reads an argument of the
model (the same tensor, at the same address), and cross-attention receives states that are an
argument or the output of another tower. Anything else (learned queries, prompts) has no source.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from models.pretrained.attention_modules import KEYS, ancestors, parameters_of

# Arguments of models that hold one sequence each.
SEQUENCES = {
    "input_ids": "text",
    "inputs_embeds": "text",
    "pixel_values": "image",
    "input_features": "sound",
    "input_values": "sound",
    "decoder_input_ids": "target",
    "decoder_inputs_embeds": "target",
}
# Arguments of towers that hold what they read, in order of preference.
INPUTS = ("input_ids", "inputs_embeds", "pixel_values", "input_features", "input_values")
INPUTS += ("hidden_states",)
MEMORY = ("encoder_hidden_states", "cross_attention_states")


@dataclass(frozen=True)
class Stream:
    """What a module reads.

    Attributes:
        source: name of the input sequence; None if it is none of them.
        memory: address of the states it cross-attends to.
        several: whether it reads several input sequences: layers right inside of it may hold any.
    """

    source: str | None
    memory: int | None = None
    several: bool = False


@dataclass(eq=False)
class Sources:
    """The sources of the tensors of one forward pass.

    Attributes:
        names: source by the address of a tensor.
        streams: what each module that contains attention layers reads, by path.
        finished: sources of the towers that have returned, in order.
    """

    names: dict[int, str] = field(default_factory=dict)
    streams: dict[str, Stream] = field(default_factory=dict)
    finished: list[str] = field(default_factory=list)
    _kept: list[Tensor] = field(default_factory=list)  # an address in use is given to no other

    @staticmethod
    def of(arguments: Mapping[str, Any]) -> "Sources":
        """Of the arguments of a model."""
        sources = Sources()
        for name, value in arguments.items():
            if isinstance(value, Tensor) and (name in SEQUENCES or value.ndim == 3):
                sources._name(value, SEQUENCES.get(name, name))
        return sources

    def enter(self, path: str, module: nn.Module, args: tuple, kwargs: Mapping[str, Any]) -> None:
        """A module that contains attention layers is called."""
        given = {**_arguments(module, args, kwargs), **kwargs}
        memory = next((_address(given.get(name)) for name in MEMORY if name in given), None)
        argument = next((name for name in INPUTS if isinstance(given.get(name), Tensor)), None)
        source = None if argument is None else self._source(given[argument])
        if source is None and argument == "pixel_values" and "image" in self.names.values():
            source = "image"  # tiles of it, which are copies
        above = next((self.streams[up] for up in ancestors(path) if up in self.streams), None)
        inherits = argument in ("inputs_embeds", "hidden_states") and above is not None
        if source is None and inherits and above is not None and memory in (None, above.memory):
            source = above.source
        read = {self._source(given.get(name)) for name in SEQUENCES} - {None}
        self.streams[path] = Stream(source, memory, len(read) > 1)

    def leave(
        self, path: str, module: nn.Module, args: tuple, kwargs: Mapping[str, Any], output: Any
    ) -> None:
        """A module that contains attention layers returns."""
        source = self.streams[path].source if path in self.streams else None
        if source is None or not path:
            return
        self.finished.append(source)
        values = output.values() if isinstance(output, dict) else output
        values = (values,) if isinstance(values, Tensor) else values
        if not isinstance(output, dict | tuple | list | Tensor):
            return
        for value in values:
            if isinstance(value, Tensor) and value.ndim == 3:
                self._name(value, source)

    def queries(self, above: Iterable[str]) -> str | None:
        """The source of the queries of an attention layer, by the modules that contain it."""
        stream = next((self.streams[up] for up in above if up in self.streams), None)
        return None if stream is None or stream.several else stream.source

    def keys(self, states: Tensor, queries: str | None) -> str | None:
        """The source of the states that cross-attention is given."""
        known = self._source(states)
        if known is not None:
            return known
        others = [source for source in self.finished if source != queries]
        return others[-1] if len(set(others)) == 1 else None

    def _source(self, value: Any) -> str | None:
        """The source of a tensor; None of one without a name, or of anything else."""
        address = _address(value)
        return None if address is None else self.names.get(address)

    def _name(self, tensor: Tensor, source: str) -> None:
        address = _address(tensor)
        if address is not None:
            self.names.setdefault(address, source)
            self._kept.append(tensor)


def key_states(module: nn.Module, args: tuple, kwargs: Mapping[str, Any]) -> Tensor | None:
    """What an attention layer makes its keys from, if that is not what it makes queries from."""
    given = _arguments(module, args, kwargs)
    first = next(iter(given.values()), None)
    for name in KEYS:
        states = given.get(name)
        if isinstance(states, Tensor) and states.is_floating_point():
            queries = given.get("query", given.get("queries", first))
            return None if _address(states) == _address(queries) else states
    return None


def distinct(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with a copy of any tensor that is given twice."""
    seen: set[int] = set()
    tensors = {}
    for name, value in arguments.items():
        address = _address(value)
        tensors[name] = value.clone() if address in seen and address is not None else value
        if address is not None:
            seen.add(address)
    return tensors


def _address(value: Any) -> int | None:
    return value.data_ptr() if type(value) in (Tensor, nn.Parameter) and value.numel() else None


def _arguments(module: nn.Module, args: tuple, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a call by the names in the signature of forward."""
    names = parameters_of(type(module))
    return {**dict(zip(names, args, strict=False)), **{n: kwargs[n] for n in names if n in kwargs}}
