"""What the heads of a model do over a corpus: `corpus` reads it, `open_corpus` opens results.

Names are imported when they are first used: manifests and reports are read without PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.corpus.opened import Run as Run
    from analysis.corpus.opened import open_corpus as open_corpus
    from analysis.corpus.runs import corpus as corpus
    from analysis.corpus.watched import Progress as Progress
    from analysis.corpus.watched import StoppedError as StoppedError

_HOMES = {
    "Run": "opened",
    "open_corpus": "opened",
    "Progress": "watched",
    "StoppedError": "watched",
    "corpus": "runs",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
