"""Makes each distributed table of a migrated database one that is partitioned by the hash of its distribution column.

What PostgreSQL allows is kept: defaults, checks, all triggers, all foreign keys. A unique key without the column becomes an index that is
not unique, since no partitioned table can have it.
"""

import dataclasses
import json

PARTITIONS = 8

#: Does nothing. A plan doesn't say into which partition a row went; the calls of this trigger do.
PLACED_NAME = "placed"
PLACED = f"CREATE FUNCTION public.{PLACED_NAME}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"

CATALOG = """
SELECT json_build_object(
    'owner', pg_get_userbyid(c.relowner),
    'grants', (SELECT json_agg(format('GRANT %s ON {table} TO %I', privileges, grantee)) FROM (
        SELECT string_agg(privilege_type, ', ') AS privileges, pg_get_userbyid(grantee) AS grantee
        FROM aclexplode(c.relacl) WHERE grantee <> 0 AND grantee <> c.relowner GROUP BY grantee) rights),
    'indexes', (SELECT json_agg(json_build_object('name', i.indexrelid::regclass::text, 'sql', pg_get_indexdef(i.indexrelid),
            'is_unique', i.indisunique, 'is_primary', i.indisprimary,
            'columns', (SELECT json_agg(a.attname) FROM pg_attribute a WHERE a.attrelid = i.indexrelid)))
        FROM pg_index i WHERE i.indrelid = c.oid),
    'triggers', (SELECT json_agg(pg_get_triggerdef(t.oid)) FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
) FROM pg_class c WHERE c.oid = '{table}'::regclass
"""

FOREIGN_KEYS = """
SELECT json_agg(json_build_object('table', conrelid::regclass::text, 'name', conname, 'sql', pg_get_constraintdef(oid)))
FROM pg_constraint WHERE contype = 'f' AND connamespace::regnamespace::text = ANY ('{{identity,profile,invites}}')
"""

TABLES = """
SELECT json_agg(json_build_array(relnamespace::regnamespace::text, relname)) FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace::regnamespace::text = ANY ('{identity,profile,invites}')
"""


@dataclasses.dataclass(frozen=True)
class Loosened:
    """A unique key that a partitioned table can't have."""

    table: str
    columns: tuple


def migrated_tables(sql):
    """(schema, name) of all tables of a database. `sql` runs a statement and returns its text."""
    return {tuple(each) for each in json.loads(sql(TABLES))}


def partition(tables, sql):
    """Partitions a database in one transaction; returns the unique keys that were loosened."""
    foreign_keys = json.loads(sql(FOREIGN_KEYS.replace("{{", "{").replace("}}", "}")))
    script = ["BEGIN", "SET client_min_messages = warning", PLACED]
    script += [f"ALTER TABLE {key['table']} DROP CONSTRAINT {key['name']}" for key in foreign_keys]
    loosened = []
    for table in tables:
        if table.is_distributed:
            name = f"{table.schema}.{table.name}"
            catalog = json.loads(sql(CATALOG.replace("{table}", name)))
            script += _partition(table, name, catalog, loosened)
    script += [f"ALTER TABLE {key['table']} ADD CONSTRAINT {key['name']} {key['sql']}" for key in foreign_keys]
    sql(";\n".join([*script, "COMMIT"]) + ";")
    return loosened


def _partition(table, name, catalog, loosened):
    before = f"{table.name}_before"
    yield f"SET search_path = {table.schema}"
    yield f"ALTER TABLE {name} RENAME TO {before}"
    yield (f"CREATE TABLE {name} (LIKE {before} INCLUDING ALL EXCLUDING INDEXES EXCLUDING STATISTICS) "
           f"PARTITION BY HASH ({table.column})")
    for number in range(PARTITIONS):
        yield (f"CREATE TABLE {name}_p{number} PARTITION OF {name} "
               f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})")
    yield f"ALTER TABLE {name} OWNER TO {catalog['owner']}"
    for number in range(PARTITIONS):
        yield f"ALTER TABLE {name}_p{number} OWNER TO {catalog['owner']}"
    identity = f"{table.schema}.{before}"
    yield f"INSERT INTO {name} OVERRIDING SYSTEM VALUE SELECT * FROM {identity}"
    yield (f"DO $$ DECLARE own record; BEGIN FOR own IN SELECT attname, pg_get_serial_sequence('{identity}', attname) AS old FROM pg_attribute "
           f"WHERE attrelid = '{identity}'::regclass AND attidentity <> '' LOOP "
           f"PERFORM setval(pg_get_serial_sequence('{name}', own.attname), nextval(own.old)); END LOOP; END $$")
    # A sequence that a column owns would go with the old table.
    yield (f"DO $$ DECLARE own record; BEGIN FOR own IN SELECT d.objid::regclass::text AS sequence, a.attname FROM pg_depend d "
           f"JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid "
           f"WHERE d.refobjid = '{identity}'::regclass AND d.deptype = 'a' AND d.classid = 'pg_class'::regclass "
           f"AND EXISTS (SELECT FROM pg_class WHERE oid = d.objid AND relkind = 'S') LOOP "
           f"EXECUTE format('ALTER SEQUENCE %s OWNED BY {name}.%I', own.sequence, own.attname); END LOOP; END $$")
    yield f"DROP TABLE {identity}"
    yield from (grant.replace("{table}", name) for grant in catalog["grants"] or [])
    for index in catalog["indexes"] or []:
        sql = index["sql"]
        if index["is_unique"] and table.column not in index["columns"]:
            sql = sql.replace("CREATE UNIQUE INDEX", "CREATE INDEX")
            loosened.append(Loosened(name, tuple(index["columns"])))
        yield sql
    yield from catalog["triggers"] or []
    yield f"CREATE TRIGGER {PLACED_NAME} AFTER INSERT ON {name} FOR EACH ROW EXECUTE FUNCTION public.{PLACED_NAME}()"
