"""A plugin of pytest: the stacks of Tests/EndToEnd have partitioned tables, and a log with the plan of each statement.

DISTRIBUTION_LOGS names the folder to which the logs are copied.
"""

import json
import os
import pathlib
import shutil

import stack

import distribution
import partitioning

LOGS = pathlib.Path(os.environ["DISTRIBUTION_LOGS"])

SETTINGS = {
    "session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0", "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off", "auto_explain.log_triggers": "on", "auto_explain.log_nested_statements": "on", "auto_explain.log_format": "json",
    "log_statement": "all", "log_min_error_statement": "panic", "logging_collector": "on", "log_destination": "jsonlog",
    "log_filename": "statements", "log_rotation_age": "0", "log_rotation_size": "0", "log_parameter_max_length": "0",
    # Tables of some rows are read whole, whatever the condition. With many rows the planner goes by the index, into the partition of each key.
    "enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off", "enable_memoize": "off", "jit": "off",
    "max_locks_per_transaction": "512", "enable_partition_pruning": "on",
}


class PartitionedStack(stack.Stack):
    """A stack whose tables are partitioned before it serves anybody."""

    _is_partitioned = False

    def start(self, *arguments):
        super().start(*arguments)
        if self._is_partitioned:
            return
        self._is_partitioned = True
        tables = distribution.tables()
        found = partitioning.migrated_tables(self.sql)
        loosened = partitioning.partition(tables.values(), self.sql)
        self.sql("LOAD 'auto_explain';\n" + ";\n".join(f"ALTER SYSTEM SET {name} = '{value}'" for name, value in SETTINGS.items()) + ";")
        (LOGS / "tables.json").write_text(json.dumps({
            "tables": sorted(found), "loosened": [[each.table, each.columns] for each in loosened]}))
        assert super().stop() == 0, self.output
        super().start(*arguments)

    def kill_all(self):
        super().kill_all()
        log = self.folder / "postgres/data/log/statements.json"
        if log.exists():
            shutil.copy(log, LOGS / f"{self.folder.parent.name}.json")


stack.Stack = PartitionedStack
