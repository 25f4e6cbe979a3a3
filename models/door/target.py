"""What the decoder of a library's encoder–decoder reads: given, or written by the model itself."""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.door.inputs import IMAGE, SOUND, TEXT, Given, batch, check_ids, read, takes_of
from models.door.streams import text_stream
from models.text import Tokens

if TYPE_CHECKING:
    from models.loading import Model

MORE = 16  # a model may write this many tokens more than it read


def add_target(model: "Model", found: Given, target: Any) -> None:
    """The decoder's side: begin, then the target without its last token."""
    if "decoder_input_ids" in found.arguments:
        if target is not None:
            raise ValueError("target: expected none beside decoder_input_ids")
        return
    begin = _begin(model)
    if target is None:
        ids, note = written(model, found, begin)
        found.notes = (*found.notes, note)
        found.arguments["decoder_input_ids"] = ids
        found.streams["target"] = text_stream("target", ids, None, worded(model, ids, begin))
        return
    first = Tokens.of_ids([begin], {begin: "<begin>"})
    if isinstance(target, Tensor):
        whole = tuple(Tokens.of_ids(row) for row in target.tolist())
    else:
        whole = read(model, target)
    tokens = tuple(first + item[:-1] for item in whole)
    if len(tokens) != found.items:
        raise ValueError(f"target: expected {found.items} items, received {len(tokens)}")
    ids, shown, _ = batch(model, tokens)
    check_ids(model, ids)
    found.arguments["decoder_input_ids"] = ids
    if shown is not None:
        found.arguments["decoder_attention_mask"] = shown
    found.streams["target"] = text_stream("target", ids, shown, tokens)


def worded(model: "Model", ids: Tensor, begin: int) -> tuple[Tokens, ...]:
    """What the model wrote, as text where its tokenizer can say it; () where it has none."""
    words = getattr(model.tokenizer, "spelled", None)
    if words is None:
        return ()
    return tuple(
        Tokens.of_ids([begin], {begin: "<begin>"}) + words(row[1:]) for row in ids.tolist()
    )


def _begin(model: "Model") -> int:
    whole = model.network.config
    for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"):
        for config in (whole, whole.get_text_config(decoder=True)):
            if isinstance(getattr(config, name, None), int):
                return getattr(config, name)
    raise ValueError(f"{model.name} does not say what its decoder begins with: give it a dict")


@torch.no_grad()
def written(model: "Model", found: Given, begin: int) -> tuple[Tensor, str]:
    """What the model writes itself, begin included, and a note that says so."""
    network, ends = model.network, model.network.config.eos_token_id
    if network.get_output_embeddings() is None:
        raise ValueError(f"{model.name} has no head to write with: give it a target")
    read_ids = found.arguments.get(TEXT)
    limit = min(model.limit - 1, MORE + (0 if read_ids is None else read_ids.shape[1]))
    inside = {n: v for n, v in found.arguments.items() if n not in (TEXT, IMAGE, *SOUND)}
    takes = takes_of(network.get_encoder())
    mine = {n: v for n, v in found.arguments.items() if n in takes or n in (TEXT, IMAGE, *SOUND)}
    inside["encoder_outputs"] = network.get_encoder()(**mine, return_dict=True)
    ids = torch.full((found.items, 1), begin, device=model.device)
    over = torch.zeros(found.items, dtype=torch.bool, device=model.device)
    stops = torch.tensor(ends if isinstance(ends, list) else [-1 if ends is None else ends])
    for _ in range(limit):
        out = network(**inside, decoder_input_ids=ids, use_cache=False, return_dict=True)
        chosen = out.logits[:, -1].argmax(-1)
        over |= torch.isin(chosen, stops.to(model.device))
        if over.all():
            break
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    note = "target: written by the model itself, the likeliest token at each step"
    return ids, note if over.all() else f"{note}; cut after {limit} tokens, where it had not ended"
