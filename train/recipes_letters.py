"""Recipes of models of letters: reversal and induction."""

from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from train.examples import Pointer
from train.induction import SIGNS, Induction
from train.loop import Settings
from train.recipe import Recipe
from train.sequences import LETTERS, Rearrange

REVERSE = Recipe(
    title="Reverse",
    summary="An encoder that writes letters backwards: 2 layers of one head, width 64.",
    about="Letters in, the same letters backwards out, for 4 to 12 of them.",
    hint="The last layer is an anti-diagonal: every place looks at the place it must copy, as far"
    " from the end as it is from the beginning. The layer before finds out where the end is.",
    task=Rearrange("reverse"),
    config=EncoderConfig(
        vocab=len(LETTERS),
        dim=64,
        depth=2,
        heads=1,
        mlp=128,
        norm="pre",
        max_tokens=16,
        dropout=0.0,
        padding=0,
        classes=len(LETTERS),
    ),
    settings=Settings(steps=600, batch=64, rate=5e-3, every=100),
    exams={"reversed without a mistake": (Rearrange("reverse"), 0.995)},
    pointers=(
        Pointer(
            "Backwards",
            "stream",
            "Layer {layer}, head {head}: “s” gives {weight} of its attention to “m”, the letter"
            " that has to stand in its place. Every letter does so: an anti-diagonal.",
            query=0,
            keys=(5,),
        ),
        Pointer(
            "The middle",
            "level",
            "Layer {layer}, head {head}: the middle one of five letters stays where it is, and"
            " “v” looks at itself ({weight}).",
            query=2,
            keys=(2,),
        ),
        Pointer(
            "Twelve letters",
            "aaaaaabbbbbb",
            "Layer {layer}, head {head}: all letters of a half are equal, and still each looks at"
            " its own mirror image (the first at the last: {weight}). It goes by place alone.",
            query=0,
            keys=(11,),
        ),
    ),
)

INDUCTION = Recipe(
    title="Induction",
    summary="A decoder that notices what comes again: 2 layers of 2 heads, width 64.",
    about="Letters and digits in, what comes next out. At a random place some of them come again,"
    " and from the second one on it can be known how they go on.",
    hint="Two heads work together. One in the first layer looks at the sign before (a line just"
    " under the diagonal). One in the second looks for where the present sign stood before, and"
    " attends to what came after it there: the induction head. It starts where a repeat starts.",
    task=Induction(),
    config=DecoderConfig(
        vocab=len(SIGNS),
        dim=64,
        depth=2,
        heads=2,
        mlp=128,
        positions="rotary",
        max_tokens=64,
        dropout=0.0,
    ),
    settings=Settings(steps=1000, batch=64, rate=3e-3, every=100),
    exams={"repeats continued without a mistake": (Induction(), 0.99)},
    pointers=(
        Pointer(
            "junk dream … junk",
            "junk dream vow junk",
            "Layer {layer}, head {head}: the last “k” gives {weight} of its attention to the “d”"
            " behind the first “k”, and that is what comes next.",
            query=16,
            keys=(5,),
            kind="causal",
        ),
        Pointer(
            "One back",
            "wizardfomwiz",
            "Layer {layer}, head {head}: every sign looks at the one before it (“f” at “d”:"
            " {weight}). So each knows what it follows, which the next layer needs.",
            query=7,
            keys=(6,),
            kind="causal",
        ),
        Pointer(
            "A number again",
            "3141 is not 27 but 3141",
            "Layer {layer}, head {head}: 1 came twice, once before 4 and once before a letter. The"
            " second “4” looks behind the first one ({weight}); look what the last “1” does.",
            query=17,
            keys=(4,),
            kind="causal",
        ),
    ),
)
