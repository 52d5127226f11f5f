"""What is known of each statement from all of its runs."""

import collections
import dataclasses

import origins


@dataclasses.dataclass
class Statement:
    schema: str
    name: str
    #: Whether a trigger, a function or a foreign key runs it.
    is_within: bool
    runs: int = 0
    #: Runs that touched several keys.
    crossing_runs: int = 0
    #: Tables that a run reached, but for reference and local ones.
    tables: set = dataclasses.field(default_factory=set)
    #: The keys that one run wrote outside of an explicit transaction, triggers included, where they were several.
    writes: set = dataclasses.field(default_factory=set)

    @property
    def crosses(self):
        return self.crossing_runs > 0


class Statements:
    """All statements, by schema and name."""

    def __init__(self, tables):
        self.all = {}
        self._tables = tables

    def add(self, runs):
        for run in runs:
            # A function that a statement calls by name belongs to it as a trigger does.
            name = f"{run.within}()" if run.within else origins.origin(run.schema, run.text)
            statement = self.all.setdefault((run.schema, name), Statement(run.schema, name, bool(run.within)))
            self._add(run, statement)

    def _add(self, run, statement):
        keys = collections.defaultdict(set)
        for name, remainders in run.touched.items():
            table = self._tables.get((run.schema, name))
            if table and table.is_distributed and remainders:
                keys[table.key] |= remainders - {None}
                statement.tables.add(name)
        statement.runs += 1
        statement.crossing_runs += len(keys) > 1 or any(len(each) > 1 for each in keys.values())
        if not run.is_in_transaction and not run.within:
            written = {name for each in (run, *run.nested) for name in each.written}
            keys_written = {self._tables[run.schema, name].key for name in written if (run.schema, name) in self._tables} - {""}
            if len(keys_written) > 1:
                statement.writes |= keys_written
