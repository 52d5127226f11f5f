"""Reads a log of auto_explain: which keys each statement touched."""

import dataclasses
import json
import re

import partitioning

PARTITION = re.compile(r"(\w+)_p\d+$")
REMAINDER = re.compile(r"_p(\d+)$")
LOGGED = re.compile(r"(?:statement|execute [^:]*): (.*)", re.DOTALL)
FUNCTION = re.compile(r"PL/pgSQL function (\w+)\(")
USER = re.compile(r"vestibule_(identity|profile|invites)$")
BEGINS, ENDS = ("BEGIN", "START TRANSACTION"), ("COMMIT", "ROLLBACK", "END", "ABORT")


@dataclasses.dataclass
class Run:
    """One run of a statement."""

    schema: str
    text: str
    #: The trigger or function that ran it, `foreign key`, or nothing for one of the service itself.
    within: str
    is_in_transaction: bool
    #: Each table that the plan has: the remainders of the partitions that were executed. None stands for a row that met another.
    touched: dict
    #: Tables that were written.
    written: set
    #: What triggers and functions within it ran.
    nested: list


def runs(lines, tables):
    """The runs of a log, of the services' own statements and of those within them, which come first."""
    in_transaction, waiting = {}, {}
    for line in lines:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue  # Cut by a kill of the server.
        user = USER.match(record.get("user", ""))
        if not user:
            continue
        session, message = record["session_id"], record["message"]
        logged = LOGGED.match(message)
        if logged:
            word = logged[1].lstrip().upper()
            if word.startswith(BEGINS):
                in_transaction[session] = True
            elif word.startswith(ENDS) and not word.startswith("ROLLBACK TO"):
                in_transaction[session] = False
            # What an error left.
            waiting.pop(session, None)
        elif " plan:\n" in message:
            run = _run(user[1], json.loads(message.split(" plan:\n", 1)[1]), record.get("context", ""), in_transaction.get(session, False),
                       tables)
            if run.within:
                waiting.setdefault(session, []).append(run)
            else:
                run.nested = waiting.pop(session, [])
            yield run


def _run(schema, explained, context, is_in_transaction, tables):
    text = explained["Query Text"]
    run = Run(schema, text, _within(text, context), is_in_transaction, {}, set(), [])
    _walk(explained["Plan"], run, tables)
    for trigger in explained.get("Triggers", []):
        base = PARTITION.match(trigger["Relation"])
        if base and trigger["Trigger Name"] == partitioning.PLACED_NAME and trigger["Calls"]:
            run.touched.setdefault(base[1], set()).add(_remainder(trigger["Relation"]))
            run.touched[base[1]].discard(None)
    return run


def _within(text, context):
    if context and "OPERATOR(pg_catalog." in text:
        return "foreign key"
    found = FUNCTION.search(context)
    return found[1] if found else "function" if context else ""


def _remainder(relation):
    return int(REMAINDER.search(relation)[1])


def _walk(node, run, tables):
    relation = node.get("Relation Name")
    if relation:
        base = PARTITION.match(relation)
        name = base[1] if base else relation
        touched = run.touched.setdefault(name, set())
        is_write = node["Node Type"] == "ModifyTable"
        if is_write and _is_written(node):
            run.written.add(name)
            if node["Operation"] == "Insert" and not touched:
                touched.add(None)
        elif not is_write and node["Actual Loops"] > 0:
            touched.add(_remainder(relation) if base and _is_reached(node, tables[run.schema, name].column) else None)
    for child in node.get("Plans", []):
        _walk(child, run, tables)


def _is_reached(node, column):
    """Whether a scan that was executed looked for a row of its partition. The plans of prepared statements look for keys of an array, which
    the statement names, in each partition: only those with rows are counted."""
    names_keys = f"({column} = ANY ($" in node.get("Index Cond", "") + node.get("Recheck Cond", "") + node.get("Filter", "")
    return node["Actual Rows"] > 0 or not names_keys


def _is_written(node):
    """Whether a row reached a node that writes."""
    return any(child["Actual Loops"] > 0 and child["Actual Rows"] > 0 for child in node.get("Plans", [])
               if child.get("Parent Relationship") in ("Outer", "Member"))
