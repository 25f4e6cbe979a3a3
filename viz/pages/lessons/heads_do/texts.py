"""The folded texts of the lesson on what heads do (its steps: story.py)."""

from viz.pages.lessons.frame import Try

TEXT = (
    "A map shows where a [[head]] looks, not what it is for. Three questions help: where does it"
    " look on *many* texts, what happens without it, and would the answer change if it looked"
    " elsewhere? This lesson asks them of two small trained networks that come with the app.",
)
NUMBERS = (
    "The first network continues repeats: after “… dream vow dre” comes “a”. These numbers are mean"
    " [[weights]] over the text: on the token just before (**previous**); on the token that"
    " *followed* an earlier copy of this one (**induction**: where to look up how it went on); on"
    " the first token, where heads with nothing to look for often park their weight (an attention"
    " **sink**, Xiao et al. 2024).",
    "Induction takes two heads: one in layer 0 writes into each token what came before it, one in"
    " layer 1 finds the token with the right predecessor (Elhage et al. 2021; Olsson et al. 2022).",
)
ABLATION = (
    "Now remove one head at a time: its values become 0 (**ablation**). The test: random letters"
    " and digits, repeated once; in the second half every next token is predictable. A pattern that"
    " looks important need not be: compare the two heads of layer 1.",
)
EXPLANATION = (
    "Is the token with the most weight the reason for the answer? Here the second network, which"
    " knows a small vocabulary of English, predicts the next word. Each token is hidden from *one*"
    " head at the last position; **change** is how much of the predicted probability moves (total"
    " variation, 0 to 1). The head below gives “near” a weight of 0.91, and hiding it changes next"
    " to nothing. Weight and change often disagree: other heads may carry the same information, the"
    " value may matter little, and the head itself may not matter (Jain and Wallace 2019).",
)
SAME = (
    "And weights need not even be unique. A head returns its weights times the [[value|values]]."
    " With more keys than value features, *other* weights give exactly the same output (Brunner et"
    " al. 2020): here 6 random keys with values of 2 features.",
)
TRIES = (
    Try(
        "A head that matters.",
        "Layer 1, head 1 on the same words: all its weight is on “the”, and 0.75 of the"
        " probability moves without it.",
        {"layer": 1, "head": 1},
    ),
    Try(
        "Half the weight, more change.",
        "Layer 0, head 0 on other words: hiding “near” (0.16) changes more than hiding [BEGIN]"
        " (0.30).",
        {"sentence": "the dog that the boys near the river saw", "layer": 0, "head": 0},
    ),
    Try(
        "Other values, other weights.",
        "The output stays the same to the last digit, however much weight has moved.",
        {"seed": 3},
    ),
)
TAKEAWAYS = (
    "Numbers over many texts suggest a role: previous token, induction, sink.",
    "Ablation tests it. Two heads with the same pattern can differ in how much depends on them.",
    "Weights show where a head reads, not why the network answers as it does: other weights can"
    " give the same output, and the key with the most weight may not matter.",
)
