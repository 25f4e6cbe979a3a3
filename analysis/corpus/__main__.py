"""`headscope corpus` reads a corpus and writes what every head does over it.

    headscope corpus --model smollm2 --texts books.txt more.jsonl --out run
    cat texts.txt | headscope corpus --model minilm --texts - --out run
    headscope corpus --model dinov2 --images photos --out run --engine ray
    headscope corpus --out run --site public --against other-run

Files end in .txt (a text a line), .jsonl, .csv or .parquet; a folder stands for those in it. A run
that was killed goes on when the same command is given again. Exit status: 0 if it is complete, 1 if
it failed, 2 for arguments that make no sense, 130 if it was interrupted.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from tqdm import tqdm

from analysis.corpus.engines import ENGINES
from analysis.corpus.files import reason_of
from analysis.corpus.plan import LONGEST, PAIRS, SHARD
from analysis.corpus.runs import corpus
from analysis.corpus.watched import Control, Progress, StoppedError, watched

FAILED, MISUSED, INTERRUPTED = 1, 2, 130
NAME = "headscope corpus"  # `python headscope.py corpus` in a checkout
OPTIONS: dict[str, dict[str, Any]] = {  # of `corpus`
    "engine": {"default": "local", "choices": ENGINES},
    "column": {"help": "of .csv, .parquet and .jsonl, the one with the text"},
    "target": {"help": "the one with what an encoder–decoder is to write"},
    "longest": {"type": int, "default": LONGEST, "help": "tokens of a text, at most"},
    "shard": {"type": int, "default": SHARD, "help": "texts between two savings"},
    "pairs": {"type": int, "default": PAIRS, "help": "of tokens, kept of each head"},
    "threads": {"type": int, "default": 0, "help": "of each worker"},
    "device": {"help": "such as cpu or cuda; of the local engine"},
    "about": {"default": "", "help": "what the texts are, for display"},
}


class Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(MISUSED, f"{NAME}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs. Returns the exit status."""
    options = parsed(arguments)
    try:
        folder = read(options) if options.model else options.out
        if options.site:  # the views stand above the analyses, which do not import them
            site = import_module(
                str(__package__).removesuffix("analysis.corpus") + "viz.corpus_site"
            )
            folder = site.write_site(folder, options.site, options.against)
    except (KeyboardInterrupt, StoppedError):
        return complain("interrupted: give the same command to go on", INTERRUPTED)
    except (OSError, ValueError) as error:
        return complain(error, FAILED)
    sys.stdout.write(f"{folder}\n")
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, which belong together."""
    formatter = argparse.RawDescriptionHelpFormatter
    parser = Parser(NAME, description=__doc__, formatter_class=formatter)
    parser.add_argument("--model", help="catalogue name, folder or hub id")
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--texts", nargs="+", help="files, folders, or - for standard input")
    given.add_argument("--images", nargs="+", help="pictures, or folders of them")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--site", type=Path, help="write static files of the run there")
    parser.add_argument("--against", type=Path, help="a second run, which the site compares")
    for name, about in OPTIONS.items():
        parser.add_argument(f"--{name}", **about)
    parser.add_argument("--watched", action="store_true", help="report in a file, for a page")
    options = parser.parse_args(arguments)
    if bool(options.model) != bool(options.texts or options.images):
        parser.error("expected --model together with --texts or --images")
    if not options.model and not options.site:
        parser.error("expected --model and what it reads, or --site for a run that is there")
    if options.against and not options.site:
        parser.error("--against: expected --site too, whose page compares the runs")
    return options


def read(options: argparse.Namespace) -> Path:
    """Reads the corpus; returns the folder of the run."""
    sources = [Path(each) for each in options.texts or options.images]
    if options.watched and hasattr(os, "nice"):
        os.nice(10)  # other processes of this machine go first
    settings = {name: getattr(options, name) for name in OPTIONS}
    with watched(options.out) if options.watched else nullcontext(bar()) as control:
        return corpus(options.model, sources, options.out, control=control, **settings)


def bar() -> Control:
    """Draws progress as a bar, in a terminal."""
    progress_bar = tqdm(desc=NAME, unit=" texts", disable=None)

    def control(progress: Progress) -> None:
        if progress.total is not None:
            progress_bar.total = progress.total
            progress_bar.update(progress.done - progress_bar.n)

    return control


def complain(problem: object, status: int) -> int:
    """One line on standard error; returns the exit status."""
    sys.stderr.write(f"{NAME}: {reason_of(problem)}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
