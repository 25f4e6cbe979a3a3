"""What a model writes, or is given to read in its place: the answer to a prompt, or the target of
the decoder of an encoder–decoder. It is written greedily (see models/inputs/generation.py)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.inputs.generation import ends_of, generate, greedily
from models.inputs.named import forward_arguments, refusing_shapes
from models.inputs.sequences import InputSequence, ModelInputs, check_ids, padded_ids, read_texts
from models.structure import check_eval
from models.text import Tokenizer, Tokens, tokens_of_ids

if TYPE_CHECKING:
    from models.model import Model

TEXT, BEGUN = "input_ids", "decoder_input_ids"
SOUND = ("input_features", "input_values")
# What further tokens are in arguments that tell of each token: text that the model writes.
TYPES = ("token_type_ids", "mm_token_type_ids")
WRITTEN = {"paligemma": 1}  # the type of written tokens, where that is not 0
EXTRA_TOKENS = 16  # a model may write this many tokens more than it read
SPOKEN_TOKENS = 224  # longest generated transcript: half of Whisper's positions


def _written(
    model: "Model", arguments: Mapping[str, Any], **options: Any
) -> tuple[list[list[int]], str]:
    """What a model writes: the ids of each item without its end, or the last that has no room, and
    a note."""
    check_eval(model.network)
    with refusing_shapes(model, arguments):
        out = generate(model.network, arguments, return_dict_in_generate=True, **options)
    ids, ends = out.sequences, ends_of(model.network.generation_config)
    begun = int(model.network.config.is_encoder_decoder)  # tokens that it begins with
    if not begun:
        prompt = arguments[TEXT]
        returned = ids[:, : prompt.shape[1]].equal(prompt)  # by some, as well
        ids = ids[:, prompt.shape[1] :] if returned else ids
    rows, cut = [], False
    for row in ids.tolist():
        end = next((place for place, id in enumerate(row) if place >= begun and id in ends), None)
        cut |= end is None
        rows.append(row[: len(row) - 1 if end is None else end])
    note = f"by the model, {greedily(model.network)}"
    return rows, f"{note}; cut off after {max(map(len, rows)) - begun} tokens" if cut else note


# --- answers ------------------------------------------------------------------------------------


def add_answer(model: "Model", inputs: ModelInputs, target: Any, most: int) -> str | None:
    """Puts an answer behind the ids of a prompt.

    Args:
        model: that writes.
        inputs: of the prompt; its arguments are changed.
        target: a text, ids, or None for what the model writes.
        most: the most tokens that it writes.

    Returns:
        A note on what the model wrote; None for a given answer.

    Raises:
        ValueError: for an answer in a form that is not known, or several prompts.
    """
    items, count = inputs.arguments[TEXT].shape
    if items != 1:
        raise ValueError(f"prompt: expected one, received {items}")
    arguments, note = inputs.arguments, None
    if target is None:
        room = model.limit - count
        if room < 1:
            raise ValueError(
                f"{model.name} reads at most {model.limit} tokens: no room for an answer"
            )
        given = {name: value for name, value in arguments.items() if value is not None}
        given.setdefault("attention_mask", torch.ones_like(arguments[TEXT]))
        if "logits_to_keep" in forward_arguments(model.network):
            given["logits_to_keep"] = 1
        most = min(most, room) + 1
        (ids,), note = _written(model, given, max_new_tokens=most)
        note = f"answer: written {note}"
    elif isinstance(target, Tensor):
        ids = target.flatten().tolist()
    elif isinstance(target, str) and model.tokenizer is not None:
        tokens = model.tokenizer.encode(target)
        flags = zip(tokens.ids, tokens.special, tokens.spans, strict=True)
        ids = [id for id, special, span in flags if span is not None or not special]
    else:
        raise ValueError(f"target: expected a text or ids, received {type(target).__name__}")
    family = model.network.config.model_type
    _lengthen(arguments, torch.tensor([ids], dtype=torch.long, device=model.device), family)
    return note


def _lengthen(arguments: dict[str, Any], ids: Tensor, family: str) -> None:
    """Adds an answer to the arguments that tell of each token."""
    kind = WRITTEN.get(family, 0)
    for name, value in (("attention_mask", 1), *((name, kind) for name in TYPES)):
        each = arguments.get(name)
        if isinstance(each, Tensor) and each.ndim == 2:
            arguments[name] = torch.cat([each, each.new_full(ids.shape, value)], dim=1)
    crossed = arguments.get("cross_attention_mask")
    if isinstance(crossed, Tensor):
        last = crossed[:, -1:].expand(-1, ids.shape[1], *crossed.shape[2:])
        arguments["cross_attention_mask"] = torch.cat([crossed, last], dim=1)
    arguments[TEXT] = torch.cat([arguments[TEXT], ids], dim=1)


# --- targets ------------------------------------------------------------------------------------


def add_target(model: "Model", inputs: ModelInputs, target: Any, most: int | None = None) -> None:
    """Adds the decoder's input: the start token, then the target without its end.

    Ids lose their last one. A text loses the end symbol that the tokenizer adds, and nothing where
    it adds none: the last row then tells what follows the last word. Without a target the model
    writes one, of at most so many tokens.
    """
    if BEGUN in inputs.arguments:
        if target is not None:
            raise ValueError(f"target: expected none beside {BEGUN}")
        return
    begin = _begin(model)
    if target is None:
        rows, note = _written_target(model, inputs, most)
        inputs.notes = (*inputs.notes, note)
        _add_tokens(model, inputs, [_started(model, row[0], row[1:]) for row in rows])
        return
    if isinstance(target, Tensor):
        whole = [tokens_of_ids(row, model.tokenizer)[:-1] for row in target.tolist()]
    else:
        texts = read_texts(model.name, target, target_reader(model))
        begin = _begin_of(model, texts[0], begin)
        whole = [item[:-1] if item.special[-1] else item for item in texts]
    first = _started(model, begin)
    tokens = [first + (item[1:] if item.ids[:1] == (begin,) else item) for item in whole]
    if len(tokens) != inputs.items:
        raise ValueError(f"target: expected {inputs.items} items, received {len(tokens)}")
    _add_tokens(model, inputs, tokens)


def _written_target(
    model: "Model", inputs: ModelInputs, most: int | None
) -> tuple[list[list[int]], str]:
    """What an encoder–decoder writes, begin included, and a note."""
    network: Any = model.network
    if network.get_output_embeddings() is None or not network.can_generate():
        raise ValueError(f"{model.name} has no language-model head to generate with: pass a target")
    source = inputs.arguments.get(TEXT)
    heard = any(name in inputs.arguments for name in SOUND)
    length = SPOKEN_TOKENS if heard else EXTRA_TOKENS + (0 if source is None else source.shape[1])
    positions = getattr(network.config, "max_target_positions", None)
    limits = [model.limit, *([positions] if isinstance(positions, int) else [])]
    # the start token, and one that is written and not read any more
    length = min(*(each - 1 for each in limits), length if most is None else most)
    options: dict[str, Any] = {"max_length": length + 2}
    options["force_unique_generate_call"] = True  # of Whisper: to return what it begins with
    if model.targets is not None and model.language:
        code = model.targets.id(model.language)
        (item,) = read_texts(model.name, model.language, model.target_tokenizer)
        begins = _begin_of(model, item, -1) == code
        options["decoder_start_token_id" if begins else "forced_bos_token_id"] = code
    rows, note = _written(model, inputs.arguments, **options)
    return rows, f"target: generated {note}"


def _add_tokens(model: "Model", inputs: ModelInputs, tokens: Sequence[Tokens]) -> None:
    """Adds tokens that the decoder reads, one entry per item."""
    ids, padding = padded_ids(model, tokens)
    check_ids(model, ids, "target")
    inputs.arguments[BEGUN] = ids
    if padding is not None:
        inputs.arguments["decoder_attention_mask"] = (~padding).long()
    inputs.sequences["target"] = InputSequence(tuple(tokens), ids.shape[1])


def target_reader(model: "Model") -> Tokenizer | None:
    """What reads the targets of a model; None for one that reads ids alone.

    Raises:
        ValueError: for a translator that is not told which of its languages a target is in.
    """
    targets = model.targets
    if model.target_tokenizer is not None or targets is None:
        return model.target_tokenizer or model.tokenizer
    config = getattr(model.network, "generation_config", None)  # without a head there is none
    names = ("forced_bos_token_id", "decoder_start_token_id")
    begins = (getattr(config, name, None) for name in names)
    code = targets.stated or next(filter(None, map(targets.code, begins)), "")
    if targets.codes and not code:
        raise ValueError(
            f"target: choose its language, of which {model.name} writes {len(targets.codes)}; in"
            f" Python, model.into({targets.codes[0]!r})"
        )
    return targets.reader(code)


def _started(model: "Model", begin: int, ids: Sequence[int] = ()) -> Tokens:
    """The start token and what follows it, labelled."""
    code = "" if model.targets is None else model.targets.code(begin)
    first = Tokens.of_ids([begin], {begin: code or "<begin>"})
    return first + tokens_of_ids(ids, model.tokenizer) if ids else first


def _begin_of(model: "Model", target: Tokens, begin: int) -> int:
    """The start token of a target in a language, which may be the code of that language."""
    shift = getattr(model.network, "prepare_decoder_input_ids_from_labels", None)
    if not model.languages or shift is None:
        return begin
    return int(shift(labels=torch.tensor([target.ids], device=model.device))[0, 0])


def _begin(model: "Model") -> int:
    whole = model.network.config
    for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"):
        for config in (whole, whole.get_text_config(decoder=True)):
            if isinstance(getattr(config, name, None), int):
                return getattr(config, name)
    raise ValueError(
        f"{model.name} states no decoder start token: pass a dict with decoder_input_ids"
    )
