"""SmolLM2: a GGUF file of 4-bit weights, which the library reads."""

from collections.abc import Mapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import torch
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from models.files.errors import CheckpointError
from models.inputs.quiet import quiet_transformers
from models.loading.packages.writing import write_weights


def write(files: Mapping[str, Path], folder: Path) -> None:
    """Writes the model as an ordinary folder; see `models.loading.packages`.

    Digits are split one by one, as llama.cpp does for the "smollm" vocabulary; the library leaves
    this step out.
    """
    (file,) = files.values()
    try:
        with quiet_transformers(), redirect_stderr(StringIO()):  # a bar that cannot be disabled
            config = AutoConfig.from_pretrained(file.parent, gguf_file=file.name)
            tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
            with torch.device("meta"):
                network = AutoModelForCausalLM.from_config(config)
            loaded = load_gguf_checkpoint(str(file), return_tensors=True, model_to_load=network)
    except Exception as error:  # a damaged file can make the library raise anything
        raise CheckpointError(
            f"unreadable checkpoint: {file.name} is damaged ({error!s:.80}): fetch it again"
        ) from error
    config.architectures = [type(network).__name__]
    config.save_pretrained(folder)
    backend = tokenizer.backend_tokenizer
    digits, levels = Digits(individual_digits=True), ByteLevel(add_prefix_space=False)
    backend.pre_tokenizer = Sequence([digits, levels])
    tokenizer.save_pretrained(folder)
    write_weights(folder, loaded["tensors"])
