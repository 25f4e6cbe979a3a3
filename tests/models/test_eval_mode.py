"""Networks in training mode, traced and run by several threads at once."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

from models.encoder import Encoder, EncoderConfig
from models.eval_mode import without_dropout
from models.run import trace
from tests.models.architectures import ARCHITECTURES

IDS = torch.tensor([[3, 4, 5, 6, 7, 8, 9]])
SIZES: dict[str, Any] = {"hidden_size": 30, "num_hidden_layers": 2, "num_attention_heads": 3}
WAIT = 60.0  # seconds; a thread that is not reached by then fails the test


def own() -> nn.Module:
    return Encoder(EncoderConfig(vocab=53, dim=30, depth=2, heads=3, mlp=37, dropout=0.5, seed=5))


def library() -> nn.Module:
    torch.manual_seed(5)
    config = transformers.BertConfig(
        vocab_size=53, intermediate_size=37, hidden_dropout_prob=0.5, **SIZES
    )
    return transformers.BertModel(config)


def second_inside_while_first_ends(
    part: nn.Module, run: Callable[[], Tensor]
) -> tuple[Tensor, Tensor]:
    """Runs twice: the second pass is under way when the first ends.

    Args:
        part: of the network, called first.
        run: one pass.
    """
    entered = {name: threading.Event() for name in ("first", "second")}
    ended, found = threading.Event(), {}

    def hold(*_: Any) -> None:
        name = threading.current_thread().name
        entered[name].set()
        awaited = entered["second"] if name == "first" else ended
        assert awaited.wait(WAIT)

    def first() -> None:
        found["first"] = run()
        ended.set()

    def second() -> None:
        assert entered["first"].wait(WAIT)
        found["second"] = run()

    hook = part.register_forward_pre_hook(hold)
    jobs = [threading.Thread(target=first, name="first")]
    jobs.append(threading.Thread(target=second, name="second"))
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    hook.remove()
    return found["first"], found["second"]


@pytest.mark.parametrize("make", [own, library])
def test_traces_of_a_model_in_training_mode_have_no_dropout(make: Callable[[], nn.Module]) -> None:
    network = make().eval()
    expected = trace(network, IDS).output.values
    network.train()
    next(network.children()).eval()
    modes = [part.training for part in network.modules()]
    embedding = next(part for part in network.modules() if isinstance(part, nn.Embedding))
    found = second_inside_while_first_ends(embedding, lambda: trace(network, IDS).output.values)
    assert all(values.equal(expected) for values in found)
    assert [part.training for part in network.modules()] == modes


def test_networks_that_share_a_part() -> None:
    """A part stays in eval mode until the last pass through it ends, through whichever network."""
    shared = nn.Dropout(0.5)
    one, other = nn.Sequential(nn.Identity(), shared).train(), nn.Sequential(shared).train()
    first, second = without_dropout(other), without_dropout(one)
    first.__enter__()
    second.__enter__()
    assert not any(part.training for part in (one, other, shared))
    first.__exit__(None, None, None)
    assert (one.training, other.training, shared.training) == (False, True, False)
    second.__exit__(None, None, None)
    assert all(part.training for part in (one, other, shared))


def test_a_pass_that_fails_restores_the_mode() -> None:
    network = own().train()
    with pytest.raises(ValueError, match="ids"):
        trace(network, torch.tensor([[99]]))
    with pytest.raises(RuntimeError, match="stop"), without_dropout(network):
        raise RuntimeError("stop")
    assert all(part.training for part in network.modules())


def test_a_target_is_generated_without_dropout() -> None:
    network: Any = next(each for each in ARCHITECTURES if each.name == "BART").build()
    expected = trace(network.eval(), IDS).target_tokens
    for _ in range(3):
        assert trace(network.train(), IDS).target_tokens == expected
