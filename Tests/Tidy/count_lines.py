#!/usr/bin/env python3
"""Counts what the project is made of: lines, lines of code, lines of comments, and tokens. `make lines` calls it.

    count_lines.py [--at REVISION] [--against REVISION] [--modules]

    --at        counts that commit instead of the work tree
    --against   shows each number of that commit beside the one of now
    --modules   a row for each module of Sources, too

Blank lines and lines with nothing but a comment are no code. A token is a word, a number, a string, or a run of operators,
so that neither longer lines nor fewer comments make the code look smaller. Generated code stands apart.
"""

import argparse
import os
import re
import subprocess
import sys
from collections import namedtuple

from source_text import SourceFile

LANGUAGES = {
    ".swift": "Swift", ".c": "C", ".h": "C", ".cc": "C", ".cpp": "C", ".hpp": "C",
    ".py": "Python", ".sh": "shell", ".proto": "proto", ".sql": "SQL", ".ts": "JavaScript", ".js": "JavaScript", ".mjs": "JavaScript",
}
SCRIPTS = re.compile(r"^#!.*\b(bash|sh|python3?)\b")
TOKEN = re.compile(r"\w+|[^\w\s]+")
LINE_WIDTH_MAX = 120

# `longest` is the longest file's lines, `wide` the lines that are over the width.
Count = namedtuple("Count", "files lines code comments tokens longest wide", defaults=(0,) * 7)


def plus(first, second):
    return Count(*(a + b for a, b in zip(first, second)))._replace(longest=max(first.longest, second.longest))


def language_of(path, text):
    known = LANGUAGES.get(os.path.splitext(path)[1])
    if known or "." in os.path.basename(path):
        return known
    script = SCRIPTS.match(text)
    return None if not script else "Python" if script.group(1).startswith("python") else "shell"


def count(path, text, language):
    """The counts of one file."""
    lines = text.splitlines()
    if language in ("Swift", "C", "proto", "JavaScript"):
        code, comments, strings = (part.splitlines() for part in SourceFile(path, text).parts)
    else:
        comments = [line if line.lstrip().startswith(("#", "--")) else "" for line in lines]
        code = ["" if comment else line for line, comment in zip(lines, comments)]
        strings = [""] * len(lines)
    rows = list(zip(code, comments, strings))
    return Count(
        files=1,
        lines=len(lines),
        code=sum(1 for code, _, string in rows if code.strip() or string.strip()),
        comments=sum(1 for code, comment, string in rows if comment.strip() and not code.strip() and not string.strip()),
        # A literal counts by its words: a statement of SQL is no smaller than the Swift around it.
        tokens=sum(len(TOKEN.findall(code)) + len(TOKEN.findall(string)) for code, _, string in rows),
        longest=len(lines),
        wide=sum(1 for line in lines if len(line) > LINE_WIDTH_MAX),
    )


def group_of(path, language):
    folders = path.split("/")[:-1]
    if "Generated" in folders:
        return "generated"
    area = folders[0] if folders and folders[0] in ("Sources", "Tests") else "other"
    return f"{area}, {language}"


def files_of(root, revision):
    """(path, text) of each file that is committed, or in the work tree without a revision."""
    if revision is None:
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    else:
        command = ["git", "ls-tree", "-r", "-z", "--name-only", revision]
    listing = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout.decode()
    paths = sorted(set(listing.split("\0")) - {""})
    if revision is None:
        for path in paths:
            absolute = os.path.join(root, path)
            if os.path.isfile(absolute) and not os.path.islink(absolute):
                with open(absolute, "rb") as file:
                    yield path, file.read().decode("utf-8", "replace")
        return
    objects = "".join(f"{revision}:{path}\n" for path in paths)
    batch = subprocess.run(["git", "cat-file", "--batch"], cwd=root, check=True, capture_output=True, input=objects.encode()).stdout
    position = 0
    for path in paths:
        end = batch.index(b"\n", position)
        header = batch[position:end].split()
        size = int(header[2])
        yield path, batch[end + 1: end + 1 + size].decode("utf-8", "replace")
        position = end + 1 + size + 1


def totals(root, revision, with_modules):
    groups = {}

    def add(name, counted):
        groups[name] = plus(groups.get(name, Count()), counted)

    for path, text in files_of(root, revision):
        language = language_of(path, text)
        if language is None:
            continue
        counted = count(path, text, language)
        group = group_of(path, language)
        add(group, counted)
        if group in ("Sources, Swift", "Sources, C"):
            add("Sources by hand", counted)
            if with_modules:
                add("  " + "/".join(path.split("/")[1:2]), counted)
    return groups


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at", metavar="REVISION")
    parser.add_argument("--against", metavar="REVISION")
    parser.add_argument("--modules", action="store_true")
    options = parser.parse_args(arguments)
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    now = totals(root, options.at, options.modules)
    before = totals(root, options.against, options.modules) if options.against else {}
    names = sorted(set(now) | set(before), key=lambda name: (name != "Sources by hand", name.startswith(" "), name))
    width = max(len(name) for name in names)
    cell = 16 if before else 9
    print(" " * width + "".join(column.rjust(cell) for column in Count._fields))
    for name in names:
        after, earlier = now.get(name, Count()), before.get(name, Count())
        cells = [f"{a} → {b}" if before and a != b else str(b) for a, b in zip(earlier, after)]
        print(name.ljust(width) + "".join(text.rjust(cell) for text in cells))


if __name__ == "__main__":
    main(sys.argv[1:])
