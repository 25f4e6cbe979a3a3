"""The quiz; its page is `viz.pages.lessons.quiz`."""

from viz.lessons.story import Lesson, Misreading, Plan

LESSON = Lesson(
    name="quiz",
    place=160,
    title="Quiz",
    icon="quiz",
    line="Sums, ideas, real attention maps, and coding exercises.",
    parts=(),
    needs=("heads", "block", "decoder", "vision"),
    minutes=30,
    takeaways=(
        "Score, softmax, weighted sum: attention is three steps that fit on paper.",
        "The exercises together build a whole transformer, and a vision transformer at the end.",
    ),
    code=(
        "models.attention.scores.Dot",
        "models.lessons.scaling.softened",
        "models.blocks.standardised",
    ),
    misreading=Misreading(
        "A map shows why a network answers.",
        "It shows where a head looks.",
    ),
    plan=Plan(
        aim="To find out what has stayed: sums, ideas, and reading real maps.",
        show="One question of each kind together, with another seed; the rest in pairs. The print"
        " view is the hand-out, and “Show all answers” its solution.",
        ask="Which question took longest, and what was missing?",
    ),
)
