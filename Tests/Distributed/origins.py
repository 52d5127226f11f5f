"""Finds the Swift function that a statement comes from, which is its name in crossings.tsv."""

import collections
import functools
import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources"
SERVICES = {"identity": "IdentityService", "profile": "ProfileService", "invites": "InvitesService"}
SHARED = ("ServiceStore", "ServiceModels", "Postgres")
DECLARATION = re.compile(r"^\s*(?:@\w+ )*(?:(?:public|private|fileprivate|static|package|mutating|nonisolated|nonisolated\(\w+\)) )*"
                         r"(?:func|let|var) (\w+)(?=.*(?:\(|=|\{))")
SHORTEST = 12


def _skeleton(line):
    """A line without its parameters and interpolations."""
    line = re.sub(r"--.*", "", line)
    out, depth, index = [], 0, 0
    while index < len(line):
        if depth == 0 and line.startswith("\\(", index):
            depth, index = 1, index + 2
            out.append("?")
        elif depth:
            depth += {"(": 1, ")": -1}.get(line[index], 0)
            index += 1
        else:
            out.append(line[index])
            index += 1
    return " ".join(re.sub(r"\$\d+", "?", "".join(out)).split())


@functools.cache
def _index(schema):
    """Maps a line of SQL to the functions that have it."""
    found = collections.defaultdict(set)
    for folder in (SERVICES[schema], *SHARED):
        for path in sorted((SOURCES / folder).rglob("*.swift")):
            if "Migrations" in path.parts:
                continue
            owner, indentation = "", 0
            for line in path.read_text().splitlines():
                declared = DECLARATION.match(line)
                spaces = len(line) - len(line.lstrip())
                if declared and (spaces <= 4):
                    owner, indentation = declared[1], spaces
                text = line.strip()
                literal = re.search(r'"((?:[A-Z]{4,} |\w).*)"', text)
                for each in {_skeleton(text), _skeleton(literal[1]) if literal else ""}:
                    if len(each) >= SHORTEST:
                        found[each].add(f"{path.stem}.{owner}" if owner else path.stem)
    return found


def _with_more_between(schema, lines):
    """The functions of lines of which an interpolation gave more than a parameter."""
    for source, owners in _index(schema).items():
        if source.count("?") and len(source.replace("?", "")) >= SHORTEST * 2:
            pattern = re.compile(".+".join(map(re.escape, source.split("?"))))
            if any(pattern.fullmatch(line) for line in lines):
                yield from owners


@functools.cache
def origin(schema, text):
    """`File.function` of a statement with its lines; its beginning if no source has its lines."""
    scores = collections.Counter()
    lines = [_skeleton(line) for line in text.split("\n")]
    for place, line in enumerate(lines):
        owners = _index(schema).get(line, ())
        for owner in owners:
            # The beginning says more than what many share.
            scores[owner] += (3 if place == 0 else 1) / len(owners)
    if not scores:
        scores.update(_with_more_between(schema, lines))
    if not scores:
        return lines[0][:60]
    best = max(scores.values())
    return min(owner for owner, score in scores.items() if score == best)
