"""Passes that begin where they differ from an earlier one.

What leaves the blocks before an edit is what left them without it. A copy of the network, which
shares all weights and parts, returns for these blocks what they returned before; the network itself
is not touched, and other passes run through it at the same time.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from torch import nn

from models.model import Model
from models.trace import Trace
from models.where import Where


@dataclass(frozen=True, eq=False)
class Resumable:
    """A pass, with what every block returned.

    Attributes:
        model: as it is.
        whole: the trace of the pass.
        outputs: of each block by its path, in the order of their calls; {} for a network whose
            blocks run several times, or hold no attention.
    """

    model: Model
    whole: Trace
    outputs: Mapping[str, Any]

    @staticmethod
    def of(model: Model, run: Callable[[Model], Trace]) -> "Resumable":
        """Makes a pass, and keeps what its blocks return.

        Args:
            model: of the pass.
            run: traces an input through a model.
        """
        network, outputs, calls = model.network, dict[str, Any](), Counter[str]()

        def noted(path: str, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            outputs[path] = forward(*args, **kwargs)
            calls[path] += 1
            return outputs[path]

        blocks = {path: network.get_submodule(path) for path in _block_paths(network)}
        forwards = {path: partial(noted, path, part.forward) for path, part in blocks.items()}
        whole = _of(model, run(_with_forwards(model, forwards)))
        once = all(count == 1 for count in calls.values())
        resumable = Resumable(model, whole, outputs if once else {})
        try:
            again = resumable.traced(whole.sites[-1].where, run).output.values
        except Exception:  # of a block that needs what earlier ones left beside the stream
            again = None
        same = again is not None and again.equal(whole.output.values)
        return resumable if same else replace(resumable, outputs={})

    def traced(self, first: Where, run: Callable[[Model], Trace]) -> Trace:
        """A pass that is equal to the kept one up to the block of an attention layer.

        Args:
            first: the full address of the attention layer.
            run: traces the same input through a model, with edits of this layer or later ones.
        """
        resumed = next((path for path in self.outputs if _is_in(first.module or "", path)), None)
        before = [] if resumed is None else list(self.outputs)[: list(self.outputs).index(resumed)]
        if not before:
            return run(self.model)
        known = {path: partial(_returned, self.outputs[path]) for path in before}
        t, whole = run(_with_forwards(self.model, known)), self.whole
        patterns = dict(zip(t.sites, t.patterns, strict=True))
        kept = zip(whole.sites, whole.patterns, strict=True)
        return replace(
            t,
            sites=whole.sites,
            patterns=tuple(patterns.get(site, pattern) for site, pattern in kept),
            axes=whole.axes,
            item_names=whole.item_names,
            other_layers=whole.other_layers,
            notes=whole.notes,
            origin=_of(self.model, t).origin,
        )


def _returned(output: Any, *_: Any, **__: Any) -> Any:
    return output


def _is_in(module: str, block: str) -> bool:
    return module == block or module.startswith(f"{block}.")


def _block_paths(network: nn.Module) -> Iterator[str]:
    """Paths of the numbered parts that are within no other numbered part."""
    for path, _ in network.named_modules():
        *above, last = path.split(".")
        if last.isdigit() and not any(map(str.isdigit, above)):
            yield path


def _of(model: Model, t: Trace) -> Trace:
    """The trace of a copy of a network as that of the network."""
    origin: Any = t.origin
    owner = {"network": model.network} if hasattr(origin, "network") else {"model": model}
    return replace(t, origin=replace(origin, **owner))


def _with_forwards(model: Model, forwards: Mapping[str, Callable[..., Any]]) -> Model:
    """The model with a copy of its network, in which some parts have another forward."""
    whole = _copied(model.network)
    copies = {"": whole}
    for path, forward in forwards.items():
        above, prefix = whole, ""
        for name in path.split("."):
            prefix = f"{prefix}.{name}"
            if prefix not in copies:
                copies[prefix] = _copied(getattr(above, name))
                setattr(above, name, copies[prefix])  # in its own table of parts
            above = copies[prefix]
        vars(above)["forward"] = forward
    return replace(model, network=whole)


def _copied(module: Any) -> Any:
    """A module with its own tables of parts, parameters and hooks, which it shares with another."""
    clone = copy(module)
    vars(clone).update(
        {name: each.copy() for name, each in vars(module).items() if isinstance(each, dict)}
    )
    return clone
