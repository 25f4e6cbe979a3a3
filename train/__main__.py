"""`python -m train NAME` trains one of the app's models from scratch.

It reports loss, accuracy and remaining time, measures the result on held-out items, and writes the
model's folder only if every target is met.
"""

import argparse
import sys
from pathlib import Path
from time import perf_counter, process_time

import torch
from torch import nn
from tqdm import tqdm

from models.card import Measure
from models.catalogue import CHECKPOINTS
from train.loop import fit, held_out
from train.publish import measured, publish
from train.recipes import RECIPES, Recipe


def main(arguments: list[str] | None = None) -> int:
    """Trains, measures and writes a model. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m train", description=__doc__)
    parser.add_argument("name", choices=list(RECIPES), help="which model")
    parser.add_argument("--out", type=Path, default=CHECKPOINTS, help="parent folder of the model")
    options = parser.parse_args(arguments)
    recipe, folder = RECIPES[options.name], options.out / options.name
    network, began = recipe.network, (perf_counter(), process_time())
    problem = "a target was missed: nothing is written"
    try:
        run(network, recipe, options.name)
        measures = measured(network, recipe)
        wall, processor = (perf_counter() - began[0]) / 60, (process_time() - began[1]) / 60
        report(measures, wall, processor)
        if all(each.share >= each.aim for each in measures):
            publish(network, recipe, measures, (wall, processor), folder)
            print(f"written to {folder}")
            return 0
    except OSError as error:
        problem = f"could not be written; the existing files are unchanged: {error}"
    except ValueError as error:
        problem = str(error)
    print(f"\n{problem}", file=sys.stderr)
    return 1


def run(network: nn.Module, recipe: Recipe, name: str) -> None:
    """Trains with a progress bar in a terminal, and a line at every evaluation."""
    task, settings = recipe.task, recipe.settings
    with tqdm(total=settings.steps, desc=name, disable=None) as bar:
        for step, loss in fit(network, task, settings):
            bar.update()
            if step % settings.every == 0 or step == settings.steps:
                share = held_out(network, task, settings).share
                done = f"{name} {step:,}/{settings.steps:,}"
                bar.write(f"{done}  loss {loss:.4f}  held-out {share:.1%}")


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
