"""Turns Markdown as GitHub reads it into Markdown as Python-Markdown reads it."""

import re

FENCE = re.compile(r"```+|~~~+")
ITEM = re.compile(r"(?:[-*+]|(\d{1,3})[.)]) +(?=\S)")
INDENT = 4  # How far Python-Markdown wants the content of a list item indented.


def reindent(text):
    """Indents the content of list items by four, and puts an empty line between a paragraph and a list, and between an item of several
    paragraphs and the next one."""
    lines = []
    contents = []  # The column at which the content of each open list item begins.
    fence = None
    previous = ""
    is_loose = False  # Whether the item that is open has several paragraphs.
    for line in text.split("\n"):
        words = line.lstrip(" ")
        column = len(line) - len(words)
        if fence:
            fence = None if words.strip() == fence else fence
            lines.append(_shifted(words, column, contents))
            previous = words if fence else ""
            continue
        opening, item = FENCE.match(words), _item(words, contents, previous)
        if words and (opening or item or not previous):
            if item and lines and lines[-1] and (is_loose or not contents):
                lines.append("")
            is_loose = bool(contents) and not item and (is_loose or not previous)
            while contents and column < contents[-1]:
                contents.pop()
        lines.append(_shifted(words, column, contents))
        if opening:
            fence = opening.group()
        if item:
            contents.append(column + len(item.group()))
        previous = words
    return "\n".join(lines)


def _item(words, contents, previous):
    """The marker of a list item; a number that is not 1 begins no list in the middle of a paragraph."""
    item = ITEM.match(words)
    return item if item and (contents or not previous or item.group(1) in (None, "1")) else None


def _shifted(words, column, contents):
    if not words:
        return ""
    return " " * (INDENT * len(contents) + max(0, column - (contents[-1] if contents else 0))) + words
