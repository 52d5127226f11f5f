"""What pages of the site are made of, read from Swift sources without a compiler."""

import html
import re

#: A constant of several lines of text, with the documentation before it.
TEXT_CONSTANT = re.compile(
    r"(?P<comment>(?:^[ ]*///[^\n]*\n)*)^[ ]*(?:public |private |package |fileprivate )?static (?:let|var) (?P<name>\w+)(?:: String)? = "
    r"(?:#*)\"\"\"\n(?P<text>.*?)\n[ ]*\"\"\"", re.MULTILINE | re.DOTALL)
LITERALS = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"")


def documentation(comment):
    """The text of `///` lines, up to the first empty one, in one line."""
    lines = [line.strip().removeprefix("///").strip() for line in comment.strip().split("\n")]
    return " ".join(" ".join(lines[:lines.index("")] if "" in lines else lines).split())


def text_constants(source):
    """(name, documentation, text) of each constant of several lines."""
    return [(match["name"], documentation(match["comment"]), match["text"]) for match in TEXT_CONSTANT.finditer(source)]


def joined_literals(expression):
    """The text of `"a" + "b"`; empty for another expression."""
    return "".join(literal.replace("\\\"", "\"") for literal in LITERALS.findall(expression))


def cell(text):
    """Text for a cell of a Markdown table."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()).replace("|", "\\|"))
    return "".join(part if index % 2 else part.replace("<", "&lt;").replace("*", "\\*").replace("__", "\\_\\_")
                   for index, part in enumerate(parts))


def name(text):
    """A name or a value as code, which may be broken into lines behind its underscores, dots, slashes and commas."""
    return "<code>" + re.sub(r"([_./,])(?=[A-Za-z])", r"\1<wbr>", html.escape(text, quote=False)) + "</code>"


def table(titles, rows):
    """A Markdown table; the cells are Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
