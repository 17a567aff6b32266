"""What the paper's model assumes, beside its curves: in words, and in formulas (MathML) that browsers set."""

from __future__ import annotations

import re

_SYMBOL = re.compile(r"[A-Za-zαφ]′?|\d+|[-+=(),…]")


def _math(*parts: str) -> str:
    """A row of MathML from text such as "1-α", with a letter for each variable, and from markup."""
    return "".join(part if part[0] == "<" else "".join(map(_symbol, _SYMBOL.findall(part))) for part in parts)


def _symbol(text: str) -> str:
    if text[0].isalpha():
        return f"<mi>{text}</mi>"
    return f"<mn>{text}</mn>" if text.isdigit() else f'<mo stretchy="false">{text.replace("-", "−")}</mo>'


def _fraction(above: str, below: str) -> str:
    return f"<mfrac><mrow>{_math(above)}</mrow><mrow>{_math(below)}</mrow></mfrac>"


def _power(base: str, exponent: str) -> str:
    return f"<msup><mrow>{_math(base)}</mrow><mrow>{_math(exponent)}</mrow></msup>"


def _index(letter: str, index: str) -> str:
    return f"<msub>{_math(letter)}{_math(index)}</msub>"


def _words(text: str) -> str:
    return f"<mtext>{text}</mtext>"


def _law(name: str, about: str, *formulas: str) -> str:
    rows = "".join(f'<math display="block">{formula}</math>' for formula in formulas)
    return f'<section class="law"><h4>{name}</h4>{rows}<p>{about}</p></section>'


_SPEEDUP = _math(
    _words("speed-up"),
    "=",
    _fraction(_words("tokens of a step"), _words("time of a step")),
)
_SPECULATIVE = _fraction(_math("1-", _power("α", "k+1")), "(1-α)(1+ck)")
_VERTICAL = _fraction(
    _math("1-α", _power("φ", "n")), _math("(1-α)(1+n", _index("c", "1"), "+nk", _index("c", "2"), ")")
)
_SURVIVES = _math("φ=1-(1-α)", _fraction(_math("1-", _power("(αα′)", "k+1")), "1-αα′"))
_HORIZONTAL = _fraction(
    _math("1+", _index("α", "1"), "+", _index("α", "1"), _index("α", "2"), "+…"),
    _math("1+", _index("c", "1"), "+", _index("c", "2"), "+…"),
)

FORMULAS = {  # by the name of the method whose speed-up it is
    "speculative": _SPECULATIVE,
    "prompt lookup": _SPECULATIVE,
    "vertical cascade": _VERTICAL,
    "horizontal cascade": _HORIZONTAL,
}
_LAWS = (
    _law(
        "What all of them count",
        "α is the share of a guesser's tokens that are accepted; c is the time of one of its runs, in runs of the big "
        "model. Each guess is taken to be right or wrong by itself, a check to cost one run, and all else nothing. In "
        "a text, wrong guesses come in clusters, and long checks cost more: so measured speed-ups differ.",
        _SPEEDUP,
    ),
    _law(
        "Speculative decoding",
        "One draft guesses k tokens (Leviathan et al., theorem 3.8).",
        _SPECULATIVE,
    ),
    _law(
        "Vertical cascade",
        "The draft runs n times. Each run checks k tokens of a smaller draft, and accepts the share α′ of them "
        "(theorem 4.3).",
        _VERTICAL,
        _SURVIVES,
    ),
    _law(
        "Horizontal cascade",
        "Each position of the block has the α and the c of its own drafter (theorem 4.5). For both cascades together, "
        "with any K, the page follows the plan run by run.",
        _HORIZONTAL,
    ),
)
ASSUMPTIONS = f'<div class="laws">{"".join(_LAWS)}</div>'
