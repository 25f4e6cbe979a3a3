"""The sentences of a text by Unicode's rules, and the tokens of each.

UAX #29, default sentence boundaries, rules SB1 to SB998. They need no dictionary: "Mr. Smith" is
two sentences.
"""

from bisect import bisect_right

import regex

from analysis.words import Group, text_numbers, texts_of
from models.trace import Tokens

IGNORED = r"[\p{SB=Extend}\p{SB=Format}]*+"  # SB5: marks belong to the character before them
ENDS = r"\p{SB=ATerm}\p{SB=STerm}"
BREAKS = r"\r\p{SB=LF}\p{SB=Sep}"
LINE_END = rf"(?:\r\n|[{BREAKS}])"  # SB3, SB4
CLOSING = rf"(?:\p{{SB=Close}}{IGNORED})*+(?P<spaces>\p{{SB=Sp}}{IGNORED})*+"  # SB9, SB10
LOWER_FOLLOWS = rf"[^\p{{SB=OLetter}}\p{{SB=Upper}}\p{{SB=Lower}}{BREAKS}{ENDS}]*+\p{{SB=Lower}}"
ABBREVIATED = rf"(?<=[\p{{SB=Upper}}\p{{SB=Lower}}]{IGNORED}\p{{SB=ATerm}}{IGNORED})\p{{SB=Upper}}"
FULL_STOP = (
    rf"\p{{SB=ATerm}}{IGNORED}(?!\p{{SB=Numeric}})(?!{ABBREVIATED})"  # SB6, SB7
    rf"{CLOSING}(?!{LOWER_FOLLOWS})"  # SB8
)
OTHER_END = rf"\p{{SB=STerm}}{IGNORED}{CLOSING}"
# SB8a, SB11
END = rf"(?:{FULL_STOP}|{OTHER_END})(?![\p{{SB=SContinue}}{ENDS}]){LINE_END}?+"
BOUNDARY = regex.compile(rf"{END}|{LINE_END}")


def boundaries(text: str) -> list[int]:
    """The positions behind the last character of each sentence."""
    return [match.end() for match in BOUNDARY.finditer(text)]


def sentences_of(tokens: Tokens) -> tuple[Group, ...]:
    """The tokens of each sentence, in order; every token belongs to exactly one sentence.

    A token belongs to the sentence of its first visible character. Special tokens, and tokens that
    did not come from a text, stay alone.
    """
    texts, numbers = texts_of(tokens), text_numbers(tokens)
    ends = {number: boundaries(text) for number, text in texts.items()}
    groups: list[list[int]] = []
    before = None
    for place, span in enumerate(tokens.spans):
        number = numbers[place]
        sentence = None
        if span is not None and not tokens.special[place]:
            piece = texts[number][slice(*span)]
            start = span[0] + (len(piece) - len(piece.lstrip())) % max(1, len(piece))
            sentence = number, bisect_right(ends[number], start)
        if sentence is not None and sentence == before:
            groups[-1].append(place)
        else:
            groups.append([place])
        before = sentence
    return tuple(tuple(group) for group in groups)
