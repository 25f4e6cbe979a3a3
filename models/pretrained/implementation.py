"""Switches the attention implementation of transformers configs for the duration of a trace.

The public `PreTrainedModel.set_attn_implementation` writes one name to a whole model and cannot
restore different ones per config, nor count overlapping traces. This file, and no other, writes the
private field behind it; it refuses any version of transformers it was not tested with.

Attention over packed sequences (the images of a batch, or their windows, one after another) is
called once per sequence, unless the name says that the implementation takes the boundaries of the
sequences as an argument: a name with "flash" in it. Such configs get `PACKED`, so that one block
is one call here too.
"""

from collections.abc import Container, Sequence
from threading import Lock

import transformers
from transformers import PretrainedConfig
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

NAME = "headscope"
EAGER = "eager"  # of layers that compute their weights themselves, and return them with it
PACKED = "headscope_flash"  # for packed sequences: the boundaries come as an argument
TESTED = ("5.22.", "5.23.", "5.24.")  # versions of transformers whose configs work this way
_lock = Lock()


class TracedName(str):
    """A name of our attention in a config; remembers the name it replaced.

    Attributes:
        previous: the name before the first of the running traces.
        traces: how many traces use the config now.
    """

    __slots__ = ("previous", "traces")
    previous: str | None
    traces: int


def count_traces(
    configs: Sequence[PretrainedConfig],
    change: int,
    packed: Container[int] = (),
    name: str = NAME,
) -> None:
    """Adds to the running traces of each config; at zero its previous name is restored.

    Args:
        configs: of the network.
        change: 1 or −1.
        packed: ids of the configs of attention over packed sequences.
        name: of the implementation of the others while traces run.

    Raises:
        RuntimeError: for a version of transformers that was not tested.
    """
    if not transformers.__version__.startswith(TESTED):
        raise RuntimeError(
            f"tracing is tested with transformers {', '.join(f'{each}x' for each in TESTED)},"
            f" received {transformers.__version__}"
        )
    with _lock:
        for config in configs:
            traced = config._attn_implementation_internal
            if not isinstance(traced, TracedName):
                ours = TracedName(PACKED if id(config) in packed else name)
                ours.previous, ours.traces = traced, 0
                traced = config._attn_implementation_internal = ours
            traced.traces += change
            if not traced.traces:
                config._attn_implementation_internal = traced.previous


def untraced_implementation(config: PretrainedConfig | None) -> str | None:
    """The name a config has when nothing traces."""
    name = getattr(config, "_attn_implementation_internal", None)
    if isinstance(name, TracedName):
        return name.previous
    return None if name in (NAME, PACKED) else name  # a copy of a traced config forgets the name


def check_standard(configs: Sequence[PretrainedConfig]) -> None:
    """Raises ValueError for attention that is not the library's: nothing says what it computes."""
    for config in configs:
        name = untraced_implementation(config)
        for kind, functions in (
            ("attention", ALL_ATTENTION_FUNCTIONS),
            ("mask", ALL_MASK_ATTENTION_FUNCTIONS),
        ):
            function = functions.get(name or "sdpa")
            function = getattr(function, "func", function)  # of a functools.partial
            where = str(getattr(function, "__module__", "transformers"))
            if function is not None and where.partition(".")[0] != "transformers":
                raise ValueError(
                    f"the model's {kind} {name!r} is registered by {where}, not by transformers:"
                    " weights computed without it would be wrong. Choose the library's own with"
                    " set_attn_implementation('sdpa')"
                )
