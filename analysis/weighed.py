"""What the analyses of weights ask for: a trace gives it, and so does a view of one."""

from typing import Protocol, runtime_checkable

from torch import Tensor

from models.trace import Rows, Site


@runtime_checkable
class Weighed(Protocol):
    """Attention weights by site, with what their rows and columns stand for."""

    def weights(
        self,
        layer: int,
        head: int | None = None,
        *,
        kind: str | None = None,
        tower: str | None = None,
        rows: Rows = None,
        item: int = 0,
    ) -> Tensor: ...

    def query_labels(self, site: Site, item: int = 0) -> list[str]: ...

    def key_labels(self, site: Site, item: int = 0) -> list[str]: ...
