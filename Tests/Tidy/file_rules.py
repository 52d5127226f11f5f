"""Rules for files of every kind: names, lengths, words, links."""

import os
import re

from source_text import Fault

#: The most lines of a Swift file in Sources.
SOURCE_LINES_MAX = 350
LINES_MAX = {".swift": 400, ".py": 400, ".c": 600, ".h": 600, ".cc": 600, ".cpp": 600, ".hpp": 600}
# A longer file says why in its first comment: "Long because …".
LONG_REASON = re.compile(r"Long because \S")
FIRST_COMMENT_LINES = 10

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
HOME = re.compile(r"(?<![\w.-])/(root|home/\w[\w.-]*|Users/\w[\w.-]*)/")
VAGUE_NAME = re.compile(r"(Manager|Helpers?|Utils?|Utilities|Misc)\.\w+$")
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|!\[[^\]\n]*\]\(([^)\s]+)\)")


def check_paths(paths):
    """No two paths, and no two folders, that differ only in case; no spaces."""
    seen = {}
    for path in paths:
        if re.search(r"\s", path):
            yield Fault(path, 1, "a path has no spaces")
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            prefix = "/".join(parts[:count])
            other = seen.setdefault(prefix.lower(), prefix)
            if other != prefix:
                yield Fault(path, 1, f"differs from {other} only in case")


def check_text(file):
    """Length, unfinished work, private paths, vague names."""
    limit = LINES_MAX.get(file.suffix)
    if file.path.startswith("Sources/") and file.suffix == ".swift":
        limit = SOURCE_LINES_MAX
    count = file.text.count("\n")
    if limit and count > limit and not file.is_generated:
        head = "\n".join(file.lines[:FIRST_COMMENT_LINES])
        if not LONG_REASON.search(head):
            yield Fault(
                file.path, 1,
                f"{count} lines; {file.suffix} files have at most {limit}, or say first \"Long because …\"")
    if VAGUE_NAME.search(file.path) and not file.is_generated:
        yield Fault(file.path, 1, "a file is named for its main type; this name says nothing")
    # This folder spells out what it looks for.
    if file.is_generated or file.path.startswith("Tests/Tidy/"):
        return
    for match in UNFINISHED.finditer(file.text):
        yield file.fault(match.start(), f"unfinished: {match.group()}")
    for match in HOME.finditer(file.text):
        yield file.fault(match.start(), f"a path of one person's machine: {match.group()}…")


def check_links(file, root):
    """Links of Markdown pages to files and headings of the project lead somewhere."""
    if file.suffix != ".md":
        return
    prose = _blank_code_blocks(file.text)
    for match in LINK.finditer(prose):
        target = match.group(1) or match.group(2)
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        path, _, anchor = target.partition("#")
        base = os.path.dirname(file.path)
        linked = os.path.normpath(os.path.join(base, path)) if path else file.path
        absolute = os.path.join(root, linked)
        if linked.startswith("..") or not os.path.exists(absolute):
            yield file.fault(match.start(), f"link to {target}: there is no {linked}")
        elif anchor and linked.endswith(".md"):
            with open(absolute, encoding="utf-8") as page:
                if anchor not in _anchors(page.read()):
                    yield file.fault(match.start(), f"link to {target}: {linked} has no such heading")


def _blank_code_blocks(text):
    return re.sub(
        r"^```.*?^```", lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.MULTILINE | re.DOTALL)


def _anchors(text):
    """The anchors that GitHub gives to headings."""
    anchors = set()
    for heading in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", _blank_code_blocks(text), flags=re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        base = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        anchor, number = base, 0
        while anchor in anchors:
            number += 1
            anchor = f"{base}-{number}"
        anchors.add(anchor)
    return anchors
