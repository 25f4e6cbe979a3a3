"""Hooks of one thread, while passes of others run on the same network."""

from threading import Thread
from typing import Any

import torch
from torch import nn

from models.structure import of_this_thread


def test_a_hook_that_is_removed_in_the_pass_of_another_thread_is_skipped() -> None:
    network, given, seen = nn.Linear(3, 5), torch.ones(1, 3), []

    def note(module: nn.Module, args: tuple, kwargs: dict[str, Any], output: Any) -> None:
        seen.append((args, kwargs, output))

    first = network.register_forward_hook(lambda *_: second.remove())
    second = network.register_forward_hook(of_this_thread(note), with_kwargs=True)
    results: list[torch.Tensor] = []
    other = Thread(target=lambda: results.append(network(given)))  # second is removed in its pass
    other.start()
    other.join()
    assert (len(results), seen) == (1, [])
    first.remove()
    network.register_forward_hook(of_this_thread(note), with_kwargs=True)
    output = network(given)
    assert [args for args, _, _ in seen] == [(given,)]
    assert seen[0][2] is output
