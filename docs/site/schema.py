"""The tables of the services, read from the SQL of their migrations. No database is started."""

import dataclasses
import pathlib
import re

import swift_source

SERVICES = {"identity": "Identity", "profile": "Profile", "invites": "Invites"}
MIGRATION = re.compile(r"sql: (?:\[(.*?)\]|(\w+))", re.DOTALL)
PART = re.compile(r"(?:(\w+)\.)?(\w+)")
ADDED = re.compile(r"^ALTER TABLE (\w+) ADD COLUMN (\w[^;]*);", re.MULTILINE)
CREATE = re.compile(r"((?:^--[^\n]*\n)*)^CREATE (UNLOGGED )?TABLE (\w+) \(", re.MULTILINE)
#: A constant within the text of another, on a line of its own.
INTERPOLATION = re.compile(r"^ *\\\((\w+)\.(\w+)\)$", re.MULTILINE)
REFERENCE = re.compile(r"REFERENCES (\w+)")
#: What ends the type of a column.
AFTER_TYPE = re.compile(r" (?:NOT NULL|NULL|DEFAULT|PRIMARY KEY|REFERENCES|CHECK|UNIQUE|GENERATED|CONSTRAINT|COLLATE)\b")
CONSTRAINT = re.compile(r"(?:PRIMARY KEY|CONSTRAINT|UNIQUE|CHECK|FOREIGN KEY|EXCLUDE)\b")


@dataclasses.dataclass(frozen=True)
class Column:
    name: str
    type: str
    is_key: bool
    is_nullable: bool
    references: str  # A table, or nothing.


@dataclasses.dataclass(frozen=True)
class Table:
    name: str
    comment: str
    columns: tuple
    is_unlogged: bool = False
    key: tuple = ()  # The names of the columns of the primary key, in its order.


@dataclasses.dataclass(frozen=True)
class Section:
    """The tables of one constant of SQL, and what its documentation says."""

    name: str
    title: str
    tables: tuple


def sections(service, root):
    """The tables of a service's schema, in the order of its migrations."""
    name = SERVICES[service]
    module = root / f"Sources/{name}Service"
    migrations = (module / f"Migrations/{name}Migrations.swift").read_text(encoding="utf-8")
    own = _constants(module.rglob("*.swift"))
    shared = _constants((root / "Sources").glob("Service*/Store/**/*.swift"))
    found = []
    added = {}
    for parts in MIGRATION.findall(migrations):
        for owner, constant in PART.findall("".join(parts)):
            text = own.get((owner, constant)) or own.get((f"{name}Migrations", constant)) or shared.get((owner, constant))
            if text:
                text = (text[0], INTERPOLATION.sub(lambda part: shared.get(part.groups(), ("", part[0]))[1], text[1]))
            if text and (tables := parse(text[1])):
                title = text[0].split(". ")[0].split(": ")[0].rstrip(".")
                found.append(Section((owner or constant).lower(), title, tables))
            for table, column in ADDED.findall("\n".join(line.strip() for line in text[1].split("\n")) if text else ""):
                added.setdefault(table, []).extend(_columns(column))
    return [dataclasses.replace(section, tables=tuple(
        dataclasses.replace(table, columns=(*table.columns, *added.get(table.name, ()))) for table in section.tables))
        for section in found]


def _constants(paths):
    """Maps (type, name) to (documentation, text)."""
    constants = {}
    for path in sorted(paths):
        source = path.read_text(encoding="utf-8")
        owner = re.search(r"^(?:public |package )?(?:extension|enum|struct) (\w+)", source, re.MULTILINE)
        for owner in re.finditer(r"^(?:public |package )?(?:extension|enum|struct) (\w+)[^\n]*\{\n(.*?)^\}", source, re.MULTILINE | re.DOTALL):
            for name, comment, text in swift_source.text_constants(owner[2]):
                constants[owner[1], name] = (comment, text)
    return constants


def parse(sql):
    """The tables that a text of SQL creates."""
    sql = "\n".join(line.strip() for line in sql.split("\n"))
    return tuple(
        Table(match[3], _comment(match[1]), _columns(body := _parenthesis(sql, match.end())), bool(match[2]), _key(body))
        for match in CREATE.finditer(sql))


def _comment(lines):
    return " ".join(line.removeprefix("--").strip() for line in lines.strip().split("\n")).strip()


def _parenthesis(sql, start):
    """The text from `start` to the parenthesis that closes."""
    depth, quoted = 1, False
    for end in range(start, len(sql)):
        character = sql[end]
        if character == "'":
            quoted = not quoted
        elif not quoted:
            depth += {"(": 1, ")": -1}.get(character, 0)
            if depth == 0:
                return sql[start:end]
    raise ValueError(f"a parenthesis is not closed: {sql[start:start + 60]}")


def _items(body):
    """What commas separate, apart from those in parentheses and texts."""
    depth, quoted, item = 0, False, ""
    for character in re.sub(r"^--[^\n]*\n", "", body, flags=re.MULTILINE):
        if character == "'":
            quoted = not quoted
        elif not quoted:
            depth += {"(": 1, ")": -1}.get(character, 0)
            if character == "," and depth == 0:
                yield " ".join(item.split())
                item = ""
                continue
        item += character
    yield " ".join(item.split())


def _key(body):
    for item in _items(body):
        if match := re.search(r"PRIMARY KEY \(([^)]*)\)", item):
            return tuple(name.strip() for name in match[1].split(","))
        if "PRIMARY KEY" in item:
            return (item.split(" ", 1)[0],)
    return ()


def _columns(body):
    items = [item for item in _items(body) if item]
    key, references = set(), {}
    for item in items:
        if match := re.search(r"PRIMARY KEY \(([^)]*)\)", item):
            key |= {name.strip() for name in match[1].split(",")}
        if match := re.search(r"FOREIGN KEY \(([^)]*)\) REFERENCES (\w+)", item):
            references |= {name.strip(): match[2] for name in match[1].split(",")}
    columns = []
    for item in items:
        if CONSTRAINT.match(item):
            continue
        name, rest = item.split(" ", 1)
        end = AFTER_TYPE.search(rest + " ")
        is_key = name in key or "PRIMARY KEY" in rest
        target = REFERENCE.search(rest)
        columns.append(Column(
            name, rest[:end.start()] if end else rest, is_key, not is_key and "NOT NULL" not in rest,
            target[1] if target else references.get(name, "")))
    return tuple(columns)


if __name__ == "__main__":
    for service in SERVICES:
        for section in sections(service, pathlib.Path(__file__).resolve().parents[2]):
            print(service, section.name, "|", section.title, "|", [table.name for table in section.tables])
