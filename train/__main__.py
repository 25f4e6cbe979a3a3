"""`python -m train NAME` trains one of the app's models from scratch.

It reports loss, accuracy and remaining time, measures the result on held-out items, and writes the
model's folder only if every target is met.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import torch

from models.catalogue import CHECKPOINTS
from models.run import devices
from train.loop import Progress, train
from train.publish import measured, publish
from train.recipes import RECIPES
from train.store import open_snapshot, save_snapshot

SNAPSHOTS = Path(__file__).parents[1] / "build" / "train"
BAR = 24  # characters


def main(arguments: list[str] | None = None) -> int:
    """Trains, measures and writes a model. Returns the exit status."""
    options = parse(arguments)
    recipe, file = RECIPES[options.name], options.snapshots / f"{options.name}.pt"
    network = recipe.network.to(options.device)
    try:
        start = last = open_snapshot(file) if options.resume else None
        for progress in train(network, recipe.task, recipe.settings, start=start):
            show(options.name, progress)
            if progress.snapshot is not None:
                last = progress.snapshot
                save_snapshot(last, file)
            if progress.problem is not None:
                return complain(progress.problem)
        minutes = (last.seconds / 60, last.processor / 60) if last else (0.0, 0.0)
        measures = measured(network, recipe)
        for each in measures:
            print(
                f"{each.name}: {each.share:.2%} of {each.of:,} held-out items right"
                f" (95 % interval {each.low:.2%} to {each.high:.2%}, aim {each.aim:.1%})"
            )
        print(f"{minutes[0]:.1f} minutes, {minutes[1]:.1f} of CPU time")
        if any(each.share < each.aim for each in measures):
            return complain("a target was missed: nothing is written")
        publish(network, recipe, measures, minutes, options.out / options.name)
        print(f"written to {options.out / options.name}")
    except OSError as error:
        return complain(f"could not be written; the existing files are unchanged: {error}")
    except ValueError as error:
        return complain(str(error))
    return 0


def parse(arguments: list[str] | None) -> Any:
    """The command-line options."""
    parser = argparse.ArgumentParser(prog="python -m train", description=__doc__)
    parser.add_argument("name", choices=list(RECIPES), help="which model")
    parser.add_argument("--out", type=Path, default=CHECKPOINTS, help="parent folder of the model")
    parser.add_argument("--snapshots", type=Path, default=SNAPSHOTS, help="folder of the snapshots")
    parser.add_argument("--device", choices=devices(), default="cpu")
    parser.add_argument("--resume", action="store_true", help="resume from the last snapshot")
    return parser.parse_args(arguments)


def show(name: str, progress: Progress) -> None:
    """Prints a progress bar in a terminal, and a line at every evaluation."""
    done = progress.step * BAR // progress.steps
    line = (
        f"{name} {'█' * done}{'░' * (BAR - done)} {progress.step:,}/{progress.steps:,}"
        f"  loss {progress.loss:.4f}  {clock(progress.left)} left"
    )
    if progress.score is not None:
        print(f"\r{line}  held-out {progress.score.share:.1%}", flush=True)
    elif sys.stdout.isatty():
        print(f"\r{line}   ", end="", flush=True)


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def complain(problem: str) -> int:
    print(f"\n{problem}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    torch.set_num_threads(1)  # for networks this small, more threads only add overhead
    sys.exit(main())
