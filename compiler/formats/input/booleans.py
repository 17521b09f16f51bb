"""boolean: what begins true, false, yes, no, on and off, where it can be nothing else; 1 and 0."""

from __future__ import annotations

from compiler.formats.input.refusal import BLANKS, invalid

WORDS = {
    "true": (1, "true"),
    "false": (1, "false"),
    "yes": (1, "true"),
    "no": (1, "false"),  # their least length
    "on": (2, "true"),
    "off": (2, "false"),
    "1": (1, "true"),
    "0": (1, "false"),
}


def read(text: str) -> str:
    """true or false."""
    bare = text.strip(BLANKS).lower()
    for word, (least, value) in WORDS.items():
        if len(bare) >= least and word.startswith(bare):
            return value
    raise invalid("boolean", text, hint="Write true or false.")
