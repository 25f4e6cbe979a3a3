"""Edits of what is not attention: hooks on modules of transformers that live for one trace.

Which module an edit acts on is found before the pass (models/pretrained/edited_modules.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

if TYPE_CHECKING:
    from models.pretrained.recording import Recording

Change = Callable[[Tensor, Tensor | None], Tensor]


@dataclass(frozen=True, eq=False)
class ModuleEdit:
    """An edit of what one module reads or returns.

    Attributes:
        edit: that was asked for.
        path: of the module.
        change: makes the new tensor, given the old one and where it holds padding.
        block: path of the block, whose present run has to be the right one.
        layer: number of the block; None for any.
        reads: whether the first tensor that the module reads is changed, not what it returns.
    """

    edit: Any
    path: str
    change: Change
    block: str
    layer: int | None
    reads: bool = False

    def __repr__(self) -> str:
        return repr(self.edit)

    def hook(self, network: nn.Module, record: "Recording", guard: Callable[..., Any]) -> Any:
        """Registers the hook before any other: the library notes hidden states by hooks as well.

        `guard` skips the hook in any other trace.
        """
        module = network.get_submodule(self.path)
        if self.reads:
            run = partial(guard, record, partial(self._read, record))
            return module.register_forward_pre_hook(run, with_kwargs=True, prepend=True)
        run = partial(guard, record, partial(self._returned, record))
        return module.register_forward_hook(run, prepend=True)

    def _read(
        self, record: "Recording", module: nn.Module, args: tuple, kwargs: Mapping[str, Any]
    ) -> tuple[tuple, dict[str, Any]] | None:
        """The arguments of the module, with the first tensor changed."""
        if not record.runs(self.block, None if self.layer == 0 else self.layer):
            return None
        place = next((i for i, each in enumerate(args) if isinstance(each, Tensor)), None)
        if place is not None:
            changed = self._changed(record, args[place])
            return (*args[:place], changed, *args[place + 1 :]), dict(kwargs)
        name = next(name for name, each in kwargs.items() if isinstance(each, Tensor))
        return args, {**kwargs, name: self._changed(record, kwargs[name])}

    def _returned(self, record: "Recording", module: nn.Module, args: tuple, output: Any) -> Any:
        """What the module returns, its first tensor changed."""
        if not record.runs(self.block, self.layer):
            return None
        if isinstance(output, Tensor):
            return self._changed(record, output)
        return type(output)((self._changed(record, output[0]), *output[1:]))

    def _changed(self, record: "Recording", x: Tensor) -> Tensor:
        record.changed.append(self)
        if x.ndim != 3:
            raise ValueError(
                f"{self}: {self.path}: expected a row for each token, received {tuple(x.shape)}"
            )
        return self.change(x, record.padding_of(self.block, x))


def check_changed(record: "Recording") -> None:
    """Raises ValueError for an edit whose module did not run."""
    for each in record.module_edits:
        if not any(other is each for other in record.changed):
            raise ValueError(f"{each}: {each.path} did not run for layer {each.layer}")
