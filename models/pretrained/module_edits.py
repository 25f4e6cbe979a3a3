"""Edits of what is not attention: hooks on modules of transformers that live for one trace.

Which module an edit acts on is found before the pass (models/pretrained/edited_modules.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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

    def hook(
        self,
        record: "Recording",
        module: nn.Module,
        args: tuple,
        kwargs: Mapping[str, Any],
        *output: Any,
    ) -> Any:
        """Called before the module if it changes what it reads, else after it."""
        if not record.runs(self.block, None if self.reads and self.layer == 0 else self.layer):
            return None
        if output:
            (whole,) = output
            if isinstance(whole, Tensor):
                return self._changed(record, whole)
            return type(whole)((self._changed(record, whole[0]), *whole[1:]))
        named = {**dict(enumerate(args)), **kwargs}
        first = next(name for name, each in named.items() if isinstance(each, Tensor))
        named[first] = self._changed(record, named[first])
        return tuple(named[i] for i in range(len(args))), {name: named[name] for name in kwargs}

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
