"""The process of `models.confined`: answers on standard output what comes on standard input.

It is run by its path and imports nothing of this project: it starts in a tenth of a second.
"""

import os
import pickle
import sys
from collections import OrderedDict
from importlib import import_module
from typing import Any

SECONDS = {"convert": 5}  # of the processor, for a job
OTHERS = 2
MEMORY = 2**29  # bytes beyond what the process takes before a job
KEPT = 2  # tokenizers
UNKNOWN = "unknown"  # the answer for a tokenizer that is not kept any more
NEEDED = {
    "render": "transformers.utils.chat_template_utils",
    "convert": "transformers.models.auto.tokenization_auto",
}
_kept: OrderedDict[str, Any] = OrderedDict()


def load(key: str, text: str) -> None:
    from tokenizers import Tokenizer

    while len(_kept) >= KEPT:
        _kept.popitem(last=False)
    _kept[key] = Tokenizer.from_str(text)
    _kept[key].no_truncation()
    _kept[key].no_padding()


def encode(key: str, text: str, pair: str | None) -> Any:
    return _kept[key].encode(text, pair) if key in _kept else UNKNOWN


def decode(key: str, ids: list[int], without_special: bool) -> str:
    if key not in _kept:
        return UNKNOWN
    return _kept[key].decode(ids, skip_special_tokens=without_special)


def convert(folder: str) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False
    )
    if fast := getattr(tokenizer, "backend_tokenizer", None):
        fast.to_str()


def render(template: str, message: dict[str, Any], tokens: dict[str, Any]) -> str:
    from transformers.utils.chat_template_utils import render_jinja_template

    (text,), _ = render_jinja_template(
        [[message]], chat_template=template, add_generation_prompt=True, **tokens
    )
    return text


JOBS = {job.__name__: job for job in (load, encode, decode, convert, render)}


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library may print
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    while True:
        try:
            name, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if name in NEEDED:
            import_module(NEEDED[name])
        limit(SECONDS.get(name, OTHERS), MEMORY)
        try:
            answer = "", JOBS[name](*arguments)
        except BaseException as error:  # a panic of the tokenizers library is no Exception
            lines = str(error).strip().splitlines() or [type(error).__name__]
            answer = lines[0][:160], None
            if isinstance(error, MemoryError):
                return  # which is what too much memory looks like elsewhere
        limit(None, None)
        pickle.dump(answer, answers)
        answers.flush()


def limit(seconds: int | None, memory: int | None) -> None:
    """Limits what this process takes from now on, where the system can; None lifts it."""
    try:
        import resource

        used, unlimited = os.times(), resource.RLIM_INFINITY
        cpu = unlimited if seconds is None else int(used.user + used.system) + 1 + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, unlimited))
        size = unlimited
        if memory is not None:
            with open("/proc/self/statm", encoding="ascii") as file:
                size = int(file.read().split()[0]) * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (size, unlimited))
    except (ImportError, OSError, ValueError):
        return


if __name__ == "__main__":
    main()
