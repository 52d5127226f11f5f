"""Distribution columns (docs/inside/distributed.md) on the migrated tables: each has one, and what the scripts for real engines say in
PostgreSQL's own language runs."""

import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "Distributed"
sys.path += [str(FOLDER), str(FOLDER / "engines")]

import distribution
import engine_statements
import partitioning

# Where Citus isn't.
CITUS = """
CREATE FUNCTION pg_temp.create_distributed_table(regclass, text, colocate_with text) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION pg_temp.create_reference_table(regclass) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION pg_temp.citus_add_local_table_to_metadata(regclass) RETURNS void LANGUAGE sql AS '';
"""
UNIQUE_WITHOUT = """
SELECT i.indexrelid::regclass FROM pg_index i
WHERE indisunique AND indrelid = '{table}'::regclass
    AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = i.indexrelid AND attname = '{column}');
"""
KEY_BEGINS = """
SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
WHERE indisprimary AND indrelid = '{table}'::regclass;
"""
FOREIGN_KEYS = "SELECT count(*) FROM pg_constraint WHERE contype = 'f';"


def distributed():
    return [each for each in distribution.tables().values() if each.is_distributed]


def rehearse(stack, statements, question):
    """The answers to a question about each distributed table after the statements, which are undone."""
    asked = [question.format(table=f"{each.schema}.{each.name}", column=each.column) for each in distributed()]
    return stack.sql("\n".join(["BEGIN;", statements, "\\echo asked", *asked, FOREIGN_KEYS, "ROLLBACK;"])).split("asked")[1].split()


def test_each_table_has_a_distribution(stack):
    assert partitioning.migrated_tables(stack.sql) == set(distribution.tables())


def test_no_unique_key_lacks_its_column_after_the_statements_for_citus(stack):
    text = engine_statements.text("citus").replace("CREATE EXTENSION IF NOT EXISTS citus;", CITUS)
    for name in ("create_distributed_table", "create_reference_table", "citus_add_local_table_to_metadata"):
        text = text.replace(f"SELECT {name}(", f"SELECT pg_temp.{name}(")
    *lacking, foreign_keys = rehearse(stack, text, UNIQUE_WITHOUT)
    assert lacking == []
    assert 0 < int(foreign_keys) < int(stack.sql(FOREIGN_KEYS))


def test_each_key_begins_with_its_column_after_the_statements_for_yugabytedb(stack):
    text = engine_statements.text("yugabytedb").replace(") HASH", ")")
    for each in distributed():
        text = text.replace(f"'({each.column})", f"'{each.column}")
    *first, foreign_keys = rehearse(stack, text, KEY_BEGINS)
    assert first == [each.column for each in distributed()]
    assert foreign_keys == stack.sql(FOREIGN_KEYS)
