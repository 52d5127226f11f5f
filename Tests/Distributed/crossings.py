"""The statements that may touch several keys, and why: crossings.tsv."""

import dataclasses
import pathlib

FILE = pathlib.Path(__file__).with_name("crossings.tsv")
#: A statement of which each run should meet several keys, and that ran this often without: by chance two keys are in one partition.
RUNS_ENOUGH = 3
#: `sometimes`: where the keys of what comes together may be one. `rarely`: and whether it runs at all is a matter of time.
WHEN = ("always", "sometimes", "rarely")
HEAD = """\
# Statements that touch several keys: schema, the function that has the statement (or the trigger's, or the foreign keys'), whether each run
# does (always, sometimes, rarely: may not run at all), the tables, the keys of tables that it writes outside of a transaction where they
# differ, reason.
"""


@dataclasses.dataclass
class Crossing:
    schema: str
    name: str
    #: One of `WHEN`.
    when: str
    tables: frozenset
    writes: frozenset
    reason: str


def read(text=None):
    found = {}
    for line in (text if text is not None else FILE.read_text() if FILE.exists() else "").splitlines():
        if line.startswith("#"):
            continue
        schema, name, when, tables, writes, reason = line.split("\t")
        if (schema, name) in found or when not in WHEN:
            raise ValueError(f"a faulty line, or one that is there twice: {line}")
        found[schema, name] = Crossing(schema, name, when, frozenset(tables.split()), frozenset(writes.split()), reason)
    return found


def faults(statements, listed):
    """What differs between the statements that were seen and the list, in words."""
    for key, statement in sorted(statements.all.items()):
        entry = listed.get(key)
        name = f"{statement.schema}: {statement.name}"
        if entry is None:
            if statement.crosses:
                yield (f"{name} touches several keys ({', '.join(sorted(statement.tables))}) in {statement.crossing_runs} of {statement.runs} "
                       "runs: keep it within one, or list it with its reason (--write)")
            if statement.writes:
                yield f"{name} writes tables of the keys {', '.join(sorted(statement.writes))} outside of a transaction, and is not listed"
            continue
        if not entry.reason:
            yield f"{name} is listed without a reason"
        if more := statement.tables - entry.tables:
            yield f"{name} touches tables that are not listed: {', '.join(sorted(more))}"
        if more := statement.writes - entry.writes:
            yield f"{name} writes outside of a transaction what is not listed: {', '.join(sorted(more))}"
        is_enough = entry.when == "always" and statement.runs >= RUNS_ENOUGH
        if is_enough and entry.writes and not statement.writes:
            yield f"{name} no longer writes several keys outside of a transaction: take them off the list"
        if is_enough and not statement.crosses:
            yield f"{name} no longer touches several keys: take it off the list"
    for key in sorted(key for key, entry in listed.items() if key not in statements.all and entry.when != "rarely"):
        yield f"{key[0]}: {key[1]} is listed, and no statement is its"


def write(statements, before):
    lines = []
    for key, statement in sorted(statements.all.items()):
        if not statement.crosses and not statement.writes:
            continue
        old = before.get(key)
        tables = statement.tables | (old.tables if old else set())
        when = old.when if old and old.when != "always" else "sometimes" if statement.crossing_runs < statement.runs else "always"
        lines.append("\t".join([statement.schema, statement.name, when, " ".join(sorted(tables)),
                                " ".join(sorted(statement.writes | (old.writes if old else set()))), old.reason if old else ""]))
    FILE.write_text(HEAD + "\n".join(lines) + "\n")
