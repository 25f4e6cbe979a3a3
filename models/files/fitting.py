"""Whether a config.json fits the weights beside it, found before a network is built from it."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from models.files.errors import CheckpointError, first_line
from models.files.folder import CONFIG, Folder
from models.seeding import Undrawn

MAX_SIZE = 2**31
# Settings that configs of the library count up to before anything is built.
COUNTED = re.compile(
    r"(.*_)?(layers|n_layer|depths?|n_points|feature_levels)|first_k_dense_replace"
)
MOST_COUNTED, MOST_LABELS = 512, 2**20
SHARED = 4  # places at most of a tensor in a file: encoder, decoder and both ends of T5
SPARE_TENSORS, SPARE_NUMBERS = 2**12, 2**26  # that a network computes itself: masks, angles
SPARE_WEIGHTS = 2**20  # that a file may lack: poolers
MOST_NAMED = 3
MAKERS = frozenset(
    {torch.empty, torch.zeros, torch.ones, torch.full, torch.randint}
    | {torch.arange, torch.linspace, torch.logspace, torch.eye, torch.randperm}
    | {torch.hann_window, torch.hamming_window, torch.tril_indices, torch.triu_indices}
)


def read_config(folder: Folder) -> dict[str, Any] | None:
    """The contents of config.json; None if it is missing.

    Raises:
        CheckpointError: for a file that cannot be read, or states a number that no model has.
    """
    settings = folder.json(CONFIG)
    for key, value in _numbers(settings, CONFIG):
        most = MOST_LABELS if key == "num_labels" else MAX_SIZE
        most = MOST_COUNTED if COUNTED.fullmatch(key) else most
        if abs(value) > most:
            raise CheckpointError(f"{key}: expected at most {most:,}, received {_short(value)}")
    return settings


def check_fit(
    state: Mapping[str, Tensor], make: Callable[[], nn.Module], settings: Mapping[str, Any]
) -> None:
    """Builds a network without memory, and stops where it outgrows its weights.

    Args:
        state: the weights.
        make: builds the network.
        settings: of config.json, for the error.

    Raises:
        CheckpointError: if it has more tensors or numbers than the weights can fill.
    """
    held = sum(tensor.numel() for tensor in state.values())
    tensors, numbers = SHARED * len(state) + SPARE_TENSORS, SHARED * held
    try:
        with torch.device("meta"), Undrawn(), _Limits(tensors, numbers + SPARE_NUMBERS):
            network = make()
        if sum(each.numel() for each in network.parameters()) > numbers + SPARE_WEIGHTS:
            raise _OutgrownError
    except _OutgrownError as error:
        axes = {axis for tensor in state.values() for axis in tensor.shape}
        sizes = {key: value for key, value in _numbers(settings, "") if value not in axes}
        largest = sorted(sizes, key=lambda key: -sizes[key])[:MOST_NAMED]
        suspects = ", ".join(f"{key} is {_short(sizes[key])}" for key in largest)
        raise CheckpointError(
            f"{CONFIG} describes a larger network than the weights, which hold {held:,} numbers in"
            f" {len(state):,} tensors: {suspects or 'download both again'}"
        ) from error
    except Exception as error:  # each network checks its settings in its own way, or not at all
        raise CheckpointError(f"{CONFIG} describes no network: {first_line(error)}") from error


class _OutgrownError(Exception):
    """A network is larger than its weights."""


class _Limits(TorchFunctionMode):
    """Counts the tensors that are made inside, and their numbers, before they take memory."""

    def __init__(self, tensors: int, numbers: int) -> None:
        super().__init__()
        self.tensors, self.numbers = tensors, numbers

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func in (torch.rand, torch.randn):  # drawing without memory imports a compiler
            func = torch.empty
            kwargs.pop("generator", None)
        if func in MAKERS:
            self.tensors -= 1
            self.numbers -= func(*args, **{**kwargs, "device": "meta"}).numel()
            if min(self.tensors, self.numbers) < 0:
                raise _OutgrownError
        return func(*args, **kwargs)


def _numbers(value: Any, name: str) -> Iterable[tuple[str, int]]:
    """Whole numbers of nested settings, by the name they stand under."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _numbers(part, str(key))
    elif isinstance(value, list):
        for part in value:
            yield from _numbers(part, name)
    elif isinstance(value, int):
        yield name, value


def _short(value: int) -> str:
    return f"{value:,}" if abs(value) < 10**18 else "more than 10^18"
