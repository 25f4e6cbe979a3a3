"""Recipes of models of dates and sentences."""

from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.seq2seq import Seq2SeqConfig
from train.dates import SOURCE, TARGET, Dates
from train.examples import Pointer
from train.loop import Settings
from train.reading import BEGUN, WHOLE, Masked, NextWord
from train.recipe import Recipe

DATES = Recipe(
    title="Dates",
    summary="An encoder–decoder that writes any date as year-month-day: 1 + 1 layers of 4 heads,"
    " width 64.",
    about="A date in one of 30 written forms in, from 1950 to 2049, the same date as 1998-03-03"
    " out, character by character. 3.4.1998 is in April, 4/3/1998 too, and 98-4-3 as well.",
    hint="The cross-attention shows the alignment: while the year is written the decoder looks at"
    " the year, wherever it stands, then at the month, then at the day.",
    task=Dates(),
    config=Seq2SeqConfig(
        source_vocab=len(SOURCE),
        target_vocab=len(TARGET),
        dim=64,
        depth=1,
        heads=4,
        d_k=16,
        d_v=16,
        mlp=128,
        activation="gelu",
        norm="pre",
        positions="learned",
        max_tokens=48,
        dropout=0.0,
        share_source=False,
        share_target=False,
    ),
    settings=Settings(steps=1500, batch=64, rate=2e-3, every=150),
    exams={"written without a mistake": (Dates(), 0.99)},
    pointers=(
        Pointer(
            "March the third",
            "March the third, '98",
            "Cross-attention, head {head}: while it writes the month (03) the decoder gives"
            " {weight} to one letter of “March”. The year is written first, though it comes last.",
            query=6,
            keys=range(5),
            kind="cross",
        ),
        Pointer(
            "Year first",
            "98-4-23",
            "Cross-attention, head {head}: the first digit of the day is found at the end"
            " ({weight}).",
            query=8,
            keys=(5, 6),
            kind="cross",
        ),
        Pointer(
            "Which is the month?",
            "4/11/2031",
            "Cross-attention, head {head}: between strokes the month comes first, and it is found"
            " there ({weight}). Write 4.11.2031, and it is looked for in the middle.",
            query=6,
            keys=(0,),
            kind="cross",
        ),
        Pointer(
            "In full",
            "Friday the 13th of December, 2013",
            "Cross-attention, head {head}: the last digit of the day is read from “13th”"
            " ({weight}), and in no head does “Friday” get more than a trace of this row.",
            query=9,
            keys=range(11, 15),
            kind="cross",
        ),
    ),
)

ABOUT = (
    "Sentences of a small English of our own: a verb has the number of its subject, whatever stands"
    " in between, and a pronoun can mean one noun only. It knows the {words} words of that English"
    " and no others."
)
GRAMMAR = Recipe(
    title="Grammar, masked words",
    summary="An encoder that fills in masked words: 2 layers of 2 heads, width 64.",
    about=ABOUT.format(words=len(WHOLE)) + " Some words are masked, and it tells which they were.",
    hint="Mask a verb, and a head of the second layer looks past nearer nouns to the subject. Mask"
    " the answer to “who or what?”: no single head finds the noun that the pronoun means in every"
    " sentence, it takes several.",
    task=Masked(),
    config=EncoderConfig(
        vocab=len(WHOLE),
        dim=64,
        depth=2,
        heads=2,
        mlp=128,
        norm="pre",
        positions="learned",
        max_tokens=40,
        dropout=0.0,
        padding=0,
        classes=len(WHOLE),
    ),
    settings=Settings(steps=1800, batch=64, rate=2e-3, every=150),
    exams={
        "agreement of the verb": (Masked("agreement"), 0.95),
        "antecedent of the pronoun": (Masked("antecedent"), 0.95),
    },
    pointers=(
        Pointer(
            "The keys … [MASK]",
            "the keys near the cabinet [MASK] dusty .",
            "Layer {layer}, head {head}: the masked verb gives {weight} to its subject “keys”, past"
            " “cabinet”, which is nearer.",
            query=6,
            keys=(2,),
        ),
        Pointer(
            "Too wide",
            "the horse did not cross the street because it was too wide . who or what ? the [MASK]"
            " .",
            "Layer {layer}, head {head}: the masked answer gives {weight} to “street”. Put “tired”"
            " in the place of “wide”, and it is the horse.",
            query=19,
            keys=(7,),
        ),
        Pointer(
            "Too tired",
            "the horse did not cross the street because it was too tired . who or what ? the [MASK]"
            " .",
            "Layer {layer}, head {head}: the masked answer gives {weight} to “horse”: a street is"
            " not tired.",
            query=19,
            keys=(2,),
        ),
        Pointer(
            "He or she?",
            "the king helped the aunt because [MASK] was hungry . who or what ? the aunt .",
            "Layer {layer}, head {head}: the masked pronoun gives {weight} to “aunt” in the answer;"
            " it has to be “she”.",
            query=7,
            keys=(5, 16),
        ),
    ),
)
GRAMMAR_NEXT = Recipe(
    title="Grammar, next word",
    summary="A decoder that tells the next word: 2 layers of 2 heads, width 64.",
    about=ABOUT.format(words=len(BEGUN)) + " At every word it tells which may come next.",
    hint="After “who or what? the” a head of the second layer looks at the noun that the pronoun"
    " means: it is the next word. A verb finds its subject in two steps: a word in between looks at"
    " the subject, and the word before the verb looks at that word.",
    task=NextWord(),
    config=DecoderConfig(
        vocab=len(BEGUN),
        dim=64,
        depth=2,
        heads=2,
        mlp=128,
        positions="learned",
        max_tokens=40,
        dropout=0.0,
    ),
    settings=Settings(steps=1500, batch=64, rate=2e-3, every=150),
    exams={
        "agreement of the verb": (NextWord("agreement"), 0.95),
        "antecedent of the pronoun": (NextWord("antecedent"), 0.95),
    },
    pointers=(
        Pointer(
            "The keys …",
            "the keys near the cabinet",
            "Layer {layer}, head {head}: the “the” in between gives {weight} to the subject “keys”."
            " In the next layer “cabinet”, after which the verb comes, looks at this “the”: so it"
            " is “are”, not “is”.",
            query=4,
            keys=(2,),
            kind="causal",
        ),
        Pointer(
            "Too wide",
            "the dog did not cross the street because it was too wide . who or what ? the",
            "Layer {layer}, head {head}: the last “the” gives {weight} to “street”, the next word."
            " Put “tired” in the place of “wide”, and it is the dog.",
            query=18,
            keys=(7,),
            kind="causal",
        ),
        Pointer(
            "She",
            "the king helped the aunt because she was hungry . who or what ? the",
            "Layer {layer}, head {head}: the last “the” gives {weight} to “aunt”. Write “he”, and"
            " it is the king.",
            query=15,
            keys=(5,),
            kind="causal",
        ),
    ),
)
