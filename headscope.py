"""Headscope in one import: `import headscope as hs`, then hs.load, hs.trace, hs.heads, …

The names are those of `models`, `analysis` and `viz`, each imported when it is first used. The
command `headscope` starts the app; `headscope figure` writes figures and `headscope corpus` reads a
corpus, from a shell.
"""

import ast
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.alignment import align as align
    from analysis.alike import alike as alike
    from analysis.attribution import logit_attribution as logit_attribution
    from analysis.blame import blame as blame
    from analysis.corpus.opened import open_corpus as open_corpus
    from analysis.corpus.runs import corpus as corpus
    from analysis.effects import Divergence as Divergence
    from analysis.effects import Logit as Logit
    from analysis.effects import Loss as Loss
    from analysis.faithfulness import faithfulness as faithfulness
    from analysis.flow import flow as flow
    from analysis.generation import continue_text as continue_text
    from analysis.heads import heads as heads
    from analysis.lens import jacobian_lens as jacobian_lens
    from analysis.lens import logit_lens as logit_lens
    from analysis.norms import alti as alti
    from analysis.norms import value_norms as value_norms
    from analysis.outputs import predict as predict
    from analysis.relevance import explain as explain
    from analysis.relevance import relevance as relevance
    from analysis.rollout import rollout as rollout
    from analysis.split import split as split
    from analysis.sweep import state_sweep as state_sweep
    from analysis.sweep import sweep as sweep
    from analysis.view import View as View
    from analysis.words import joined_tokens as joined_tokens
    from analysis.words import words_of as words_of
    from models.averaged import averaged as averaged
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
    from models.given import from_weights as from_weights
    from models.inputs.prompt import Prompt as Prompt
    from models.inputs.prompt import in_template as in_template
    from models.inputs.video import Video as Video
    from models.layer import AttentionLayerConfig as AttentionLayerConfig
    from models.output import Sampling as Sampling
    from models.run import load as load
    from models.run import trace as trace
    from models.seq2seq import Seq2SeqConfig as Seq2SeqConfig
    from models.smallest import SmallestConfig as SmallestConfig
    from models.ssru import TranslatorConfig as TranslatorConfig
    from models.vector_encoder import VectorEncoderConfig as VectorEncoderConfig
    from models.verify import verify as verify
    from models.vit import ViTConfig as ViTConfig
    from viz.export import export as export
    from viz.export import figure as figure
    from viz.notebook import explore as explore

_HOMES = {  # the names above, and the modules that they are imported from
    alias.name: node.module
    for node in ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8")))
    if isinstance(node, ast.ImportFrom) and node.module
    for alias in node.names
    if alias.asname == alias.name
}
_GONE = {  # names of earlier versions, and what to do instead
    "Drop": "leave the token out of the text, or hide it as a key with Cut(None, None, None, key)",
    "Evict": "hide the keys that the cache would drop with Cut(None, None, query, key)",
    "SetGate": "Ablate(layer, head) does what a closed gate does",
    "SetPositions": "reorder the text, or build a network with EncoderConfig(positions='none')",
    "Swap": "swap the words in the text",
    "decompx": "alti(t) follows contributions through all layers",
    "write_on": "continue_text(model, text, count) takes its place",
}


def __getattr__(name: str) -> Any:
    from models.files.errors import needs

    if name == "__version__":
        return import_module("viz").__version__
    if name in _GONE:
        raise AttributeError(f"headscope has no {name!r} any more: {_GONE[name]}")
    home = _HOMES.get(name)
    with needs("notebook"):  # what else a module imports comes with the library
        value = _edit(name) if home is None else getattr(import_module(home), name)
    if value is None:
        raise AttributeError(f"headscope has no {name!r}")
    globals()[name] = value
    return value


def _edit(name: str) -> type | None:
    """An edit that only its file names; see CONTRIBUTING."""
    if name.startswith("_"):
        return None
    from models.edits.text import kinds

    return kinds().get(name)


def __dir__() -> list[str]:
    return sorted(["main", *_HOMES])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command `headscope`: starts the app, writes figures, reads a corpus; the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["figure"]:
        from viz.command import main as figure

        return figure(given[1:])
    if given[:1] == ["corpus"]:
        from analysis.corpus.__main__ import main as corpus

        return corpus(given[1:])
    if given == ["--version"]:
        sys.stdout.write(f"headscope {__getattr__('__version__')}\n")
        return 0
    if find_spec("streamlit") is None:
        sys.stderr.write("headscope: the app needs pip install 'headscope[app]'\n")
        return 2
    from start import installed

    return installed(given)


if __name__ == "__main__":
    sys.exit(main())
