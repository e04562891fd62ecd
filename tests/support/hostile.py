"""Strings that try to act on a terminal, a pull request, a spreadsheet or a file system; for every sink and widget."""

from __future__ import annotations

import re
import unicodedata

DRAWN_FORMATS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
EMOJI_JOINED = re.compile("(?<=[^\x00-\u2000])\u200d(?=[^\x00-\u2000])")
# Line ends are the format's own; anything else below a blank, and C1, is live on some terminal.
LIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

HOSTILE: dict[str, str] = {
    "markup closing nothing": "hello [/foo] tail",
    "markup with an action": "[@click=app.quit]press[/]",
    "markup left open": "see [bold",
    "markup that is speech": "[noise] um [assistant interrupts]",
    "markup behind a backslash": "C:\\dir\\[x]\\",
    "clipboard write": "A\x1b]52;c;cHduZWQ=\x07B",
    "clipboard write ended by ST": "A\x1b]52;c;cHduZWQ=\x1b\\B",
    "screen wipe": "A\x1b[2J\x1b[HB",
    "screen wipe in C1": "A\x9b2JB",
    "window title": "A\x1b]0;title\x07B",
    "link": "A\x1b]8;;http://evil.example/\x1b\\text\x1b]8;;\x1b\\B",
    "colour": "A\x1b[31mred",
    "backspaces over a word": "secret\b\b\b\b\b\bhidden",
    "null and delete": "A\x00B\x7fC",
    "tabs": "A\tB\tC",
    "line ends of every kind": "one\ntwo\rthree\r\nfour\x0bfive\x0csix\x85seven\u2028eight\u2029nine",
    "bidi override": "user \u202eevil\u202c \u2066isolated\u2069 end\u061c",
    "zero width": "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg",
    "fillers that look like nothing": "a\u3164b\u115fc\uffa0d\u180ee\u034ff",
    "tags that spell a word": "x\U000e0001\U000e0068\U000e0069\U000e007f",
    "variation selectors that spell a word": "x\ufe00\ufe01\ufe02\U000e0100\U000e0101",
    "a tower of marks": "Z" + "\u0301" * 60 + "algo",
    "surrogates": "lone \ud800 and \udfff end",
    "noncharacters": "a\ufffeb\uffffc\ufdd0d\U0001ffffe",
    "wide": "日本語テスト 한국어",
    "emoji": "ok 👍🏽 fam 👨‍👩‍👧 flag 🇺🇸 heart ❤️ keycap 1️⃣",
    "table cells": "a|b||c\\|d",
    "code": "``` `x` ```` ~~~",
    "html": "<img src=x onerror=alert(1)> </details><h1>x",
    "an open comment": "x <!-- y",
    "mention and reference": "@someone fixes #12, GH-12 and a/b#3",
    "links": "[text](http://evil.example) ![x](http://evil.example/i.png) www.evil.example https://evil.example",
    "emphasis": "**bold** _it_ __b__ ~~gone~~ *x*",
    "heading": "# heading",
    "list": "- item",
    "numbered list": "1. item",
    "rule": "---",
    "quote": "> quoted",
    "entity": "&lt;b&gt; &#64;someone &amp;",
    "mathematics": "$x$ and $$y$$",
    "formula": '=HYPERLINK("http://evil.example")',
    "formula with a sign": "+1+1",
    "formula with a minus": "-2+3",
    "formula with at": "@SUM(A1)",
    "formula behind a tab": "\t=1+1",
    "formula behind a return": "\r=1+1",
    "way up": "../../x",
    "option": "-rf",
    "annotation": "::error::x",
    "quotes": "\"a\" 'b' `c`; DROP TABLE flow; --",
    "graph languages": 'a"]; b --> c; subgraph end\\N <b>x</b>',
    "nothing": "",
    "blanks": "   ",
}


def unsafe(text: str) -> list[str]:
    """Return what must not reach a display, by the Unicode tables and not by the code's own lists."""
    without_emoji_joiners = EMOJI_JOINED.sub("", text)
    return [
        f"U+{ord(character):04X}"
        for character in dict.fromkeys(without_emoji_joiners)
        if (unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"))
        or (unicodedata.category(character) == "Cf" and character not in DRAWN_FORMATS)
        or character in FILLERS
        or 0xE0000 <= ord(character) <= 0xE0FFF
        or ord(character) & 0xFFFE == 0xFFFE
    ]
