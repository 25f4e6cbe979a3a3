"""GGUF files to ordinary checkpoint folders, by the library's own reading."""

from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import torch
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from models.files.errors import CheckpointError
from models.inputs.quiet import quiet_transformers


def write_gguf(file: Path, folder: Path) -> dict[str, Tensor]:
    """Writes config and tokenizer of a GGUF file into a folder.

    Digits are split one by one, as llama.cpp does for the "smollm" vocabulary; the library leaves
    this step out.

    Returns:
        The weights, in float32, under the library's names.

    Raises:
        CheckpointError: for a file that cannot be read.
    """
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
    return loaded["tensors"]
