"""The statements that a real engine needs after the migrations, made from distribution.tsv. None was ever run on one.

    python3 engine_statements.py citus|cockroachdb|yugabytedb|postgresql
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "Tests/Distributed"), str(ROOT / "docs/site")]

import distribution
import schema

#: Types whose values grow with time here: UUIDs of version 7, and counters. Others are hashes already, or spread by themselves.
GROWING = ("uuid", "bigint", "smallint")

#: Where a unique key lacks the distribution column: a primary key gets it in front, another becomes an index. Foreign keys to tables of
#: other keys are dropped, all others stay.
CITUS = """\
CREATE EXTENSION IF NOT EXISTS citus;
-- The triggers write rows of other shards.
SET citus.enable_unsafe_triggers = on;
SET citus.multi_shard_modify_mode = 'sequential';
CREATE FUNCTION pg_temp.drop_foreign_key(source regclass, target regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE key name;
BEGIN
    FOR key IN SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid = source AND confrelid = target LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', source, key);
    END LOOP;
END $$;
CREATE FUNCTION pg_temp.widen_keys(source regclass, distributed name) RETURNS void LANGUAGE plpgsql AS $$
DECLARE key record;
BEGIN
    FOR key IN
        SELECT c.relname, i.indisprimary, pg_get_indexdef(i.indexrelid) AS sql, conname,
            (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = i.indexrelid) AS columns
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid LEFT JOIN pg_constraint ON conindid = i.indexrelid AND contype IN ('p', 'u')
        WHERE i.indrelid = source AND i.indisunique
            AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = i.indexrelid AND attname = distributed)
    LOOP
        IF key.conname IS NULL THEN EXECUTE format('DROP INDEX %s.%I', (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = source), key.relname);
        ELSE EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', source, key.conname);
        END IF;
        IF key.indisprimary THEN EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (%I, %s)', source, distributed, key.columns);
        ELSE EXECUTE replace(key.sql, 'CREATE UNIQUE INDEX', 'CREATE INDEX');
        END IF;
    END LOOP;
END $$;
"""

#: A primary key that begins with another column gets the distribution column in front; foreign keys to the table stay.
YUGABYTEDB = """\
CREATE FUNCTION pg_temp.shard_by(source regclass, sql text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE key record; keys text[] = '{}'; each text;
BEGIN
    FOR key IN SELECT conrelid::regclass AS own, conname, pg_get_constraintdef(oid) AS sql FROM pg_constraint
        WHERE contype = 'f' AND confrelid = source
    LOOP
        keys = keys || format('ALTER TABLE %s ADD CONSTRAINT %I %s', key.own, key.conname, key.sql);
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', key.own, key.conname);
    END LOOP;
    FOR key IN SELECT conname FROM pg_constraint WHERE contype = 'p' AND conrelid = source LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', source, key.conname);
    END LOOP;
    EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (%s)', source, sql);
    FOREACH each IN ARRAY keys LOOP EXECUTE each; END LOOP;
END $$;
"""


def _migrated():
    return {(service, table.name): table for service in distribution.SCHEMAS for section in schema.sections(service, ROOT)
            for table in section.tables}


def citus(tables, migrated):
    yield CITUS.rstrip()
    for key, table in tables.items():
        targets = {each.references for each in migrated[key].columns if each.references} if key in migrated else set()
        for target in sorted(targets):
            other = tables[table.schema, target]
            column = next(each for each in migrated[key].columns if each.references == target)
            is_together = other.kind == "reference" or table.key == other.key and (
                column.name == table.column or table.column in {each.name for each in migrated[key].columns if each.references == target})
            if not is_together:
                yield f"SELECT pg_temp.drop_foreign_key('{table.schema}.{table.name}', '{table.schema}.{target}');"
    first = {}
    order = {"reference": 0, "distributed": 1, "local": 2}
    for table in sorted(tables.values(), key=lambda each: order[each.kind]):
        name = f"{table.schema}.{table.name}"
        if table.kind == "reference":
            yield f"SELECT create_reference_table('{name}');"
        elif table.kind == "local":
            yield f"SELECT citus_add_local_table_to_metadata('{name}');"
        else:
            yield f"SELECT pg_temp.widen_keys('{name}', '{table.column}');"
            together = first.setdefault((table.schema, table.key), name)
            yield (f"SELECT create_distributed_table('{name}', '{table.column}', "
                   f"colocate_with => '{'none' if together == name else together}');")


def cockroachdb(tables, migrated):
    """Secondary keys are global there, so a primary key need not have the distribution column. A hash covers a whole key: rows that are
    read by the beginning of theirs keep the order of it, and spread as users and groups do that are there already."""
    for key, table in tables.items():
        name = f"{table.schema}.{table.name}"
        if not table.is_distributed:
            yield f"-- {name}: {table.kind}; small, and stays as it is."
            continue
        types = {each.name: each.type for each in migrated[key].columns}
        before = migrated[key].key
        if len(before) == 1 and types[before[0]] in GROWING or types[table.column] == "bigint":
            yield f"ALTER TABLE {name} ALTER PRIMARY KEY USING COLUMNS ({', '.join(before)}) USING HASH;" + ("" if table.column in before else f" -- {table.column} has an index")
        elif before[0] != table.column:
            after = [table.column, *(each for each in before if each != table.column)]
            yield f"ALTER TABLE {name} ALTER PRIMARY KEY USING COLUMNS ({', '.join(after)});"
        else:
            yield f"-- {name}: its key begins with {table.column}, which spreads by itself."


def yugabytedb(tables, migrated):
    yield YUGABYTEDB.rstrip()
    for key, table in tables.items():
        name = f"{table.schema}.{table.name}"
        if not table.is_distributed:
            yield f"-- {name}: {table.kind}; small, and stays as it is."
            continue
        before = migrated[key].key
        rest = [each for each in before if each != table.column]
        if before[0] == table.column:
            yield f"-- {name}: sharded by the hash of {table.column}, the first column of its key."
        else:
            yield f"SELECT pg_temp.shard_by('{name}', '{', '.join([f'({table.column}) HASH', *rest])}');"


def postgresql(tables, _):
    """The control: the same run on PostgreSQL itself, which needs nothing."""
    for table in tables.values():
        yield f"-- {table.schema}.{table.name}: not distributed" + (f" by {table.column}." if table.is_distributed else ".")


ENGINES = {"citus": citus, "cockroachdb": cockroachdb, "yugabytedb": yugabytedb, "postgresql": postgresql}


def text(engine):
    return "\n".join(ENGINES[engine](distribution.tables(), _migrated())) + "\n"


if __name__ == "__main__":
    print(text(sys.argv[1]), end="")
