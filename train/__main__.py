"""`python -m train NAME` trains one of the app's models from scratch.

It reports loss, accuracy and remaining time, measures the result on held-out items, and writes the
model's folder only if every target is met.
"""

import argparse
import sys
from pathlib import Path

import torch
from tqdm import tqdm

from models.card import Measure
from models.catalogue import CHECKPOINTS
from train.loop import Training
from train.publish import measured, publish
from train.recipes import RECIPES

SNAPSHOTS = Path(__file__).parents[1] / "build" / "train"


def main(arguments: list[str] | None = None) -> int:
    """Trains, measures and writes a model. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m train", description=__doc__)
    parser.add_argument("name", choices=list(RECIPES), help="which model")
    parser.add_argument("--out", type=Path, default=CHECKPOINTS, help="parent folder of the model")
    parser.add_argument("--snapshots", type=Path, default=SNAPSHOTS, help="folder of the snapshots")
    parser.add_argument("--resume", action="store_true", help="resume from the last snapshot")
    options = parser.parse_args(arguments)
    recipe, file = RECIPES[options.name], options.snapshots / f"{options.name}.pt"
    training = Training(recipe.network, recipe.task, recipe.settings)
    problem = "a target was missed: nothing is written"
    try:
        if options.resume:
            training.resume(file)
        run(training, options.name, file)
        measures = measured(training.network, recipe)
        wall, processor = (seconds / 60 for seconds in training.seconds)
        report(measures, wall, processor)
        if all(each.share >= each.aim for each in measures):
            folder = options.out / options.name
            publish(training.network, recipe, measures, (wall, processor), folder)
            print(f"written to {folder}")
            return 0
    except OSError as error:
        problem = f"could not be written; the existing files are unchanged: {error}"
    except ValueError as error:
        problem = str(error)
    print(f"\n{problem}", file=sys.stderr)
    return 1


def run(training: Training, name: str, file: Path) -> None:
    """Trains with a progress bar in a terminal, and a line and a snapshot at every evaluation."""
    settings = training.settings
    with tqdm(total=settings.steps, initial=training.step, desc=name, disable=None) as bar:
        for loss in training.run():
            bar.update()
            if training.step % settings.every == 0 or training.step == settings.steps:
                training.save(file)
                done = f"{name} {training.step:,}/{settings.steps:,}"
                bar.write(f"{done}  loss {loss:.4f}  held-out {training.score().share:.1%}")


def report(measures: tuple[Measure, ...], wall: float, processor: float) -> None:
    """Prints how well a network does, and the minutes that it took."""
    for each in measures:
        print(
            f"{each.name}: {each.share:.2%} of {each.of:,} held-out items right"
            f" (95 % interval {each.low:.2%} to {each.high:.2%}, aim {each.aim:.1%})"
        )
    print(f"{wall:.1f} minutes, {processor:.1f} of CPU time")


if __name__ == "__main__":
    torch.set_num_threads(1)  # for networks this small, more threads only add overhead
    sys.exit(main())
