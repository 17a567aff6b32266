"""The words that the page explains: each once, and none that is used is missing."""

from __future__ import annotations

import json
import re
from pathlib import Path

from csd.decoding.methods import METHODS
from csd.paths import ASSETS
from csd.stage import bundle, export
from csd.stage.glossary import glossary, glossary_html

LEVEL_TERMS = ("target", "draft", "Max-Gram")  # of the legend
BADGE_TERMS = ("not lossless", "same distribution")


def test_every_term_is_in_the_glossary():
    """A misspelt term would be plain text on the stage, and a button that says nothing elsewhere."""
    entries = json.loads((ASSETS / "glossary.json").read_text("utf-8"))
    words = [name for entry in entries for name in (entry["word"], *entry.get("also", ()))]
    assert len(words) == len(set(words)), "a word is explained twice"
    scripts = "".join(file.read_text("utf-8") for file in bundle.MODULES.glob("*.js"))
    used = set(re.findall(r'\bterm\("([^"]+)"', scripts))
    assert len(used) >= 10
    used |= set(re.findall(r'term_html\("([^"]+)"\)', Path(export.__file__).read_text("utf-8")))
    assert used | {*METHODS, *LEVEL_TERMS, *BADGE_TERMS, "vertical cascade", "horizontal cascade"} <= set(words)


def test_the_glossary_explains_the_words_of_the_page():
    words = dict(glossary())
    assert {"review", "vertical cascade", "horizontal cascade", "K", "Max-Gram", "prefill"} <= words.keys()
    assert {"tokens per target pass (MAT)", "KV cache", "lenience"} <= words.keys()
    assert all(word and meaning.endswith(".") for word, meaning in words.items())
    assert glossary_html().count("<dt>") == glossary_html().count("<dd>") == len(words)
