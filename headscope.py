"""Headscope in one import: `import headscope as hs`, then hs.load, hs.trace, hs.heads, …

The names are those of `models`, `analysis` and `viz`, each imported when it is first used. The
command `headscope` starts the app, and `headscope figure` writes figures from a shell.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.faithfulness import faithfulness as faithfulness
    from analysis.flow import flow as flow
    from analysis.heads import heads as heads
    from analysis.norms import alti as alti
    from analysis.norms import value_norms as value_norms
    from analysis.relevance import explain as explain
    from analysis.relevance import relevance as relevance
    from analysis.rollout import rollout as rollout
    from analysis.split import split as split
    from analysis.view import View as View
    from analysis.words import joined_tokens as joined_tokens
    from analysis.words import words_of as words_of
    from models.decoder import DecoderConfig as DecoderConfig
    from models.edits import Ablate as Ablate
    from models.edits import AblateMLP as AblateMLP
    from models.edits import Cover as Cover
    from models.edits import Cut as Cut
    from models.edits import Patch as Patch
    from models.edits import Reference as Reference
    from models.edits import SetWeights as SetWeights
    from models.edits import Temperature as Temperature
    from models.edits import UsePattern as UsePattern
    from models.encoder import EncoderConfig as EncoderConfig
    from models.inputs.prompt import Prompt as Prompt
    from models.inputs.prompt import in_template as in_template
    from models.inputs.video import Video as Video
    from models.run import load as load
    from models.run import trace as trace
    from models.seq2seq import Seq2SeqConfig as Seq2SeqConfig
    from models.verify import verify as verify
    from models.vit import ViTConfig as ViTConfig
    from viz.export import export as export
    from viz.notebook import explore as explore

_HOMES = {
    "analysis.faithfulness": ("faithfulness",),
    "analysis.flow": ("flow",),
    "analysis.heads": ("heads",),
    "analysis.norms": ("alti", "value_norms"),
    "analysis.relevance": ("explain", "relevance"),
    "analysis.rollout": ("rollout",),
    "analysis.split": ("split",),
    "analysis.view": ("View",),
    "analysis.words": ("joined_tokens", "words_of"),
    "models.decoder": ("DecoderConfig",),
    "models.edits": (
        *("Ablate", "AblateMLP", "Cover", "Cut", "Patch", "Reference", "SetWeights"),
        *("Temperature", "UsePattern"),
    ),
    "models.encoder": ("EncoderConfig",),
    "models.inputs.prompt": ("Prompt", "in_template"),
    "models.inputs.video": ("Video",),
    "models.run": ("load", "trace"),
    "models.seq2seq": ("Seq2SeqConfig",),
    "models.verify": ("verify",),
    "models.vit": ("ViTConfig",),
    "viz.export": ("export",),
    "viz.notebook": ("explore",),
}


def __getattr__(name: str) -> Any:
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"headscope has no {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted(["main", *(name for names in _HOMES.values() for name in names)])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command `headscope`: starts the app, or writes figures. Returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["figure"]:
        from viz.command import main as figure

        return figure(given[1:])
    from start import installed

    return installed(given)


if __name__ == "__main__":
    sys.exit(main())
