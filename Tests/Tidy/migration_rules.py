"""A migration reads no table that it locks.

`ADD COLUMN … CHECK`, `ADD COLUMN … REFERENCES` and a constraint that is added as valid have PostgreSQL look at every row while nobody else
may read the table: a quarter of a second for two million members, and linear. A constraint is added as `ADD CONSTRAINT … NOT VALID`; the
migrator validates it afterwards, while others read and write (`Sources/Postgres/Migrator.swift`).
"""

import re

_STRING = re.compile(r'"""(.*?)"""|"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
_ALTER = re.compile(r"\bALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?([\w.\"]+)\s+([^;]*)", re.IGNORECASE)
_SQL_COMMENT = re.compile(r"--[^\n]*")
_COLUMN = re.compile(r"^ADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(\w+)\s", re.IGNORECASE)
_CONSTRAINT = re.compile(r"^ADD\s+(?:CONSTRAINT\s+(\w+)\s+)?(CHECK|FOREIGN\s+KEY)\b", re.IGNORECASE)
_NO_COLUMN = {"constraint", "check", "foreign", "unique", "primary", "exclude"}
_READS = re.compile(r"\b(CHECK\s*\(|REFERENCES\b)", re.IGNORECASE)
_NOT_VALID = re.compile(r"\bNOT\s+VALID\b", re.IGNORECASE)

def check(file):
    if not file.is_swift or file.is_generated or file.folders[:1] != ["Sources"] or "Migrations" not in file.folders:
        return
    for string in _STRING.finditer(file.text):
        sql = _SQL_COMMENT.sub(lambda comment: " " * len(comment.group()), string.group())
        for statement in _ALTER.finditer(sql):
            for offset, clause in _clauses(statement.group(2)):
                name = _reading(clause)
                if name:
                    place = string.start() + statement.start(2) + offset
                    yield file.fault(place, f"{statement.group(1)}.{name} has all rows read under a lock: ADD CONSTRAINT … NOT VALID")


def _reading(clause):
    """What a clause adds that has all rows read, by its name; None for a clause that doesn't."""
    constraint = _CONSTRAINT.match(clause)
    if constraint:
        return None if _NOT_VALID.search(clause) else constraint.group(1) or constraint.group(2).lower()
    column = _COLUMN.match(clause)
    if column and column.group(1).lower() not in _NO_COLUMN and _READS.search(clause):
        return column.group(1)
    return None


def _clauses(text):
    """The parts between commas that stand in no parentheses, each with its offset."""
    depth, start = 0, 0
    for index, letter in enumerate(text + ","):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            part = text[start:index]
            yield start + len(part) - len(part.lstrip()), part.strip()
            start = index + 1
