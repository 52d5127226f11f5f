"""The parts of the page about distributed engines: how each table is distributed, and which statements touch several keys."""

import sys

from swift_source import cell, name as code, table


def _read(root):
    folder = str(root / "Tests/Distributed")
    if folder not in sys.path:
        sys.path.append(folder)
    import crossings
    import distribution

    return distribution.tables(), crossings.read()


def tables(root, schema):
    """The tables of a schema with their distribution columns."""
    rows = [[code(each.name), code(each.column) if each.is_distributed else each.kind, each.key, cell(each.reason)]
            for each in _read(root)[0].values() if each.schema == schema]
    return table(["table", "column", "key", "why"], rows)


def statements(root, _):
    """The statements that touch several keys, by their reasons; those with most statements come last."""
    reasons = {}
    for each in _read(root)[1].values():
        reasons.setdefault(each.reason, []).append(each)
    parts = []
    for reason, listed in sorted(reasons.items(), key=lambda pair: len(pair[1])):
        rows = [[each.schema, code(each.name), ", ".join(map(code, sorted(each.tables))), "each run" if each.when == "always" else "some runs",
                 ", ".join(sorted(each.writes)) or "-"] for each in listed]
        parts.append(f"**{reason}**\n\n" + table(["schema", "statement of", "tables", "several keys in", "written at once"], rows))
    return "\n".join(parts)
