"""Texts that models write, by the generation config of a checkpoint, as the library's `generate`
does it; and token by token, with the cache of keys and values of a decoder.

The config says what a text begins and ends with, which tokens are forced or suppressed, and what
may not be repeated. Its rules stay the library's: `generate` itself writes, or it is asked for the
processors that it would change logits by, where a loop of this project makes those.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.decoder import Decoder
from models.files.errors import first_line
from models.structure import evaluating

if TYPE_CHECKING:
    from transformers import GenerationConfig

    from models.model import Model

Reader = Callable[[Int[Tensor, " token"]], Float[Tensor, " vocab"]]

# Whatever the generation config of a checkpoint says.
GREEDY = {"do_sample": False, "num_beams": 1, "num_return_sequences": 1}


@dataclass(frozen=True, eq=False)
class Rules:
    """What a generation config makes of the logits of a decoder.

    Attributes:
        processors: the library's, from ids and logits of a batch to scores.
        ends: ids that end a text.
    """

    processors: Callable[[Tensor, Tensor], Tensor]
    ends: tuple[int, ...]

    def scores(
        self, ids: Int[Tensor, " token"], logits: Float[Tensor, " vocab"]
    ) -> Float[Tensor, " vocab"]:
        """What the token after a text is chosen by: −∞ for one that may not follow."""
        return self.processors(ids[None].to(logits.device), logits[None])[0]


def reader_of(model: "Model") -> Reader:
    """A function that gives the logits after a text, of which it has read the first tokens before.

    Each call is given all tokens so far; only those that are new are worked out.

    Args:
        model: a decoder.

    Raises:
        ValueError: for any other network.
    """
    network: Any = evaluating(model.network)
    is_ours = isinstance(network, Decoder)
    goes_on = can_write(network) and network.can_generate()
    if not is_ours and (not goes_on or network.config.is_encoder_decoder):
        raise ValueError(f"{model.name} is no decoder: expected a model that goes on with a text")
    past: Any = None
    seen = 0

    @torch.no_grad()
    def read(ids: Int[Tensor, " token"]) -> Float[Tensor, " vocab"]:
        nonlocal past, seen
        whole = ids[None].to(model.device)
        if is_ours:
            past = network(whole, past=past, logits_to_keep=1)
            return past.logits[0, -1]
        given = {"input_ids": whole[:, seen:], "attention_mask": torch.ones_like(whole)}
        out = network(**given, past_key_values=past, use_cache=True, return_dict=True)
        past = out.past_key_values
        seen = 0 if past is None else whole.shape[1]
        return out.logits[0, -1]

    return read


def can_write(network: Any) -> bool:
    """Whether a network of transformers goes on with a text."""
    getter = getattr(network, "get_output_embeddings", None)
    return getter is not None and getter() is not None and hasattr(network, "generate")


def rules_of(model: "Model", ids: Int[Tensor, " token"], count: int) -> Rules | None:
    """The rules by which the library would write so many tokens after a text.

    None for a network that states nothing.

    Raises:
        ValueError: for a generation config that it cannot write by.
    """
    network = model.network
    if model.door == "own":
        stated = "{}" if model.prompts is None else model.prompts.generation
        if stated == "{}":
            return None
        from transformers import GPT2Config, GPT2LMHeadModel

        network = GPT2LMHeadModel(GPT2Config(vocab_size=1, n_embd=1, n_head=1, n_layer=0))
        network.generation_config = generation_config(stated)

    def rules(_: Any, input_ids: Tensor, logits_processor: Any, **given: Any) -> Rules:
        return Rules(logits_processor, ends_of(given["generation_config"]))

    whole = ids[None].to(network.device)
    arguments = {"input_ids": whole, "attention_mask": torch.ones_like(whole)}
    return generate(network, arguments, max_new_tokens=count, custom_generate=rules)


def generation_config(settings: str) -> "GenerationConfig":
    """The generation config of settings in JSON."""
    from transformers import GenerationConfig

    from models.inputs.quiet import quiet_transformers

    with quiet_transformers():
        return GenerationConfig(**json.loads(settings))


@torch.no_grad()
def generate(network: Any, arguments: Mapping[str, Any], **settings: Any) -> Any:
    """What `generate` of a network returns, the likeliest token taken each time.

    Args:
        network: of transformers.
        arguments: of its forward.
        settings: that go before those of its generation config.

    Raises:
        ValueError: for a generation config that it cannot write by.
    """
    from transformers import GenerationConfig

    from models.inputs.quiet import quiet_transformers

    custom = {name: settings.pop(name) for name in ("custom_generate",) if name in settings}
    config = GenerationConfig(**{**GREEDY, "return_dict_in_generate": False, **settings})
    with quiet_transformers():
        try:
            return network.generate(**arguments, generation_config=config, **custom)
        except (IndexError, TypeError) as error:  # its processors do not check what they get
            what = first_line(error)
            raise ValueError(f"the generation config cannot be used: {what}") from error


def ends_of(config: Any) -> tuple[int, ...]:
    """The ids that end a text by a generation config."""
    ends = config.eos_token_id
    return tuple(ends) if isinstance(ends, list | tuple) else () if ends is None else (ends,)


def greedily(network: Any) -> str:
    """The word, with what the generation config asks for in its place."""
    config = network.generation_config
    beams = config.num_beams or 1
    other = f"{beams} beams" if beams > 1 else "draws" if config.do_sample else ""
    return f"greedily, without the {other} of its generation config" if other else "greedily"
