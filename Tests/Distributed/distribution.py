"""How each table is distributed, as distribution.tsv has it."""

import dataclasses
import pathlib

FILE = pathlib.Path(__file__).with_name("distribution.tsv")
SCHEMAS = ("identity", "profile", "invites")


@dataclasses.dataclass(frozen=True)
class Table:
    schema: str
    name: str
    #: The distribution column; nothing for tables that are not distributed.
    column: str
    #: What the column holds: tables with the same key have their rows of one value together.
    key: str
    #: `distributed`, `reference` or `local`.
    kind: str
    reason: str

    @property
    def is_distributed(self):
        return self.kind == "distributed"


def tables(text=None):
    """All tables by schema and name."""
    found = {}
    for line in (text if text is not None else FILE.read_text()).splitlines():
        if line.startswith("#") or not line.strip():
            continue
        schema, name, column, key, reason = line.split("\t")
        kind = column if column in ("reference", "local") else "distributed"
        if (schema, name) in found:
            raise ValueError(f"{schema}.{name} is listed twice")
        if schema not in SCHEMAS or not reason.endswith(".") or (kind == "distributed") != bool(key):
            raise ValueError(f"a faulty line: {line}")
        found[schema, name] = Table(schema, name, column if kind == "distributed" else "", key, kind, reason)
    return found
