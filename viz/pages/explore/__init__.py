from typing import TYPE_CHECKING

from viz.pages.lazy import Lazy

if TYPE_CHECKING:
    from viz.pages.explore import compute as compute
else:
    compute = Lazy("viz.pages.explore.compute")
