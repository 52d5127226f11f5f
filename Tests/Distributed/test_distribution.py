"""The file of distribution columns against the migrations, and the statements for real engines. No database is started."""

import json
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "docs/site"), str(pathlib.Path(__file__).with_name("engines"))]

import crossings
import distribution
import engine_statements
import explained
import observations
import schema

RUN = ROOT / "Tests/Distributed/engines/run.sh"


def migrated():
    """The tables of all migrations: each with its columns."""
    found = {(service, table.name): table for service in distribution.SCHEMAS for section in schema.sections(service, ROOT)
             for table in section.tables}
    # Which the migrator makes itself.
    return found, {(service, "schema_migrations") for service in distribution.SCHEMAS}


class DistributionTests(unittest.TestCase):
    def test_each_table_is_listed_and_no_other(self):
        found, made = migrated()
        self.assertEqual(set(found) | made, set(distribution.tables()))

    def test_each_distribution_column_is_one_that_is_never_null(self):
        found, _ = migrated()
        for key, table in distribution.tables().items():
            if table.is_distributed:
                column = {each.name: each for each in found[key].columns}.get(table.column)
                self.assertIsNotNone(column, f"{key} has no column {table.column}")
                self.assertFalse(column.is_nullable, f"{key}: {table.column} may be null, which no distribution column may")

    def test_tables_of_one_key_have_columns_of_one_type(self):
        found, _ = migrated()
        types = {}
        for key, table in distribution.tables().items():
            if table.is_distributed:
                column = next(each for each in found[key].columns if each.name == table.column)
                self.assertEqual(types.setdefault((table.schema, table.key), column.type), column.type, f"{key}: {table.column}")

    def test_faulty_lines(self):
        for line in ("identity\ta\tb\tkey\tNo full stop", "identity\ta\tb\t\tNo key.", "identity\ta\treference\tkey\tA key.", "other\ta\tlocal\t\tA."):
            self.assertRaises(ValueError, distribution.tables, line)
        line = "identity\ta\tb\tkey\tA reason."
        self.assertRaises(ValueError, distribution.tables, f"{line}\n{line}")


class EngineTests(unittest.TestCase):
    def test_each_table_has_its_statement_for_each_engine(self):
        for engine in engine_statements.ENGINES:
            text = subprocess.run([RUN, engine, "--print"], capture_output=True, text=True, check=True).stdout
            for table in distribution.tables().values():
                self.assertRegex(text, rf"\b{table.schema}\.{table.name}\b", engine)
                if table.is_distributed:
                    self.assertRegex(text, rf"\b{table.schema}\.{table.name}\b.*\b{table.column}\b", engine)

    def test_the_script_says_first_that_it_was_never_run(self):
        self.assertIn("never run", "".join(RUN.read_text().splitlines()[1:4]))
        self.assertEqual(subprocess.run(["bash", "-n", RUN], check=False).returncode, 0)
        self.assertIn("never run", subprocess.run([RUN, "--help"], capture_output=True, text=True, check=True).stdout)

    def test_wrong_arguments_are_refused(self):
        for arguments in (["oracle", "--print"], ["citus"], ["citus", "--image"], [], ["citus", "--print", "more"]):
            refused = subprocess.run([RUN, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), arguments)


def plan(relation, loops=1, rows=1, **more):
    return {"Node Type": "Index Scan", "Relation Name": relation, "Actual Loops": loops, "Actual Rows": rows, **more}


def seen(*runs):
    """The statements of runs: (plan, context, words that were logged before)."""
    lines = []
    for root, context, *before in runs:
        record = {"user": "vestibule_identity", "session_id": "1"}
        lines += [json.dumps(record | {"message": f"execute a: {word}"}) for word in before]
        lines.append(json.dumps(record | {
            "message": "duration: 1 ms  plan:\n" + json.dumps({"Query Text": "SELECT of a test that stands nowhere", "Plan": root}),
            "context": context}))
    statements = observations.Statements(distribution.tables())
    statements.add(explained.runs(lines, distribution.tables()))
    return statements


class StatementTests(unittest.TestCase):
    """The check itself: what it finds, and what it doesn't."""

    NAME = "SELECT of a test that stands nowhere"

    def faults(self, statements, *listed):
        lines = "\n".join("\t".join(each) for each in listed)
        return list(crossings.faults(statements, crossings.read(lines)))

    def both(self, *plans, **more):
        return {"Node Type": "Append", "Actual Loops": 1, "Actual Rows": 1, "Plans": list(plans), **more}

    def write(self, operation, relation, child):
        return {"Node Type": "ModifyTable", "Operation": operation, "Relation Name": relation, "Actual Loops": 1, "Actual Rows": 0,
                "Plans": [child | {"Parent Relationship": "Outer"}]}

    def test_one_partition_is_one_key(self):
        never = plan("sessions_p2", loops=0)
        self.assertEqual(self.faults(seen((self.both(plan("sessions_p1"), never, plan("session_epoch")), ""))), [])
        # The same value of the same key: these tables have their rows together.
        self.assertEqual(self.faults(seen((self.both(plan("accounts_p1"), plan("user_metadata_p1")), ""))), [])

    def test_two_partitions_and_two_keys_cross(self):
        for root in (self.both(plan("sessions_p1"), plan("sessions_p2")), self.both(plan("sessions_p1"), plan("accounts_p1"))):
            self.assertIn("touches several keys", self.faults(seen((root, "")))[0])
            listed = ("identity", self.NAME, "always", "sessions accounts", "", "For a test.")
            self.assertEqual(self.faults(seen((root, "")), listed), [])

    def test_tables_and_reasons_are_listed(self):
        found = seen((self.both(plan("sessions_p1"), plan("accounts_p2")), ""))
        self.assertIn("not listed: accounts", self.faults(found, ("identity", self.NAME, "always", "sessions", "", "For a test."))[0])
        self.assertIn("without a reason", self.faults(found, ("identity", self.NAME, "always", "sessions accounts", "", ""))[0])

    def test_what_no_longer_crosses_goes_off_the_list(self):
        one = seen(*[(plan("sessions_p1"), "")] * crossings.RUNS_ENOUGH)
        self.assertIn("no longer", self.faults(one, ("identity", self.NAME, "always", "sessions", "", "For a test."))[0])
        self.assertEqual(self.faults(one, ("identity", self.NAME, "sometimes", "sessions", "", "For a test.")), [])

    def test_what_no_statement_is_any_more_goes_off_the_list(self):
        for when, count in (("always", 1), ("sometimes", 1), ("rarely", 0)):
            self.assertEqual(len(self.faults(seen(), ("identity", "gone", when, "sessions", "", "For a test."))), count, when)

    def test_a_statement_that_writes_two_keys_needs_a_transaction(self):
        root = self.write("Update", "sessions_p1", plan("sessions_p1"))
        inner = (self.write("Insert", "security_events", {"Node Type": "Result", "Actual Loops": 1, "Actual Rows": 1}),
                 "PL/pgSQL function tell_of_session() line 1")
        alone = self.faults(seen(inner, (root, "")))
        self.assertIn("keys event, session outside of a transaction", alone[0])
        self.assertEqual(self.faults(seen((plan("sessions_p1"), "", "BEGIN"), inner, (root, ""))), [])
        self.assertEqual(len(self.faults(seen((plan("sessions_p1"), "", "BEGIN", "COMMIT"), inner, (root, "")))), 1)

    def test_rows_that_no_write_reached_are_not_written(self):
        nothing = self.write("Delete", "sessions_p1", plan("sessions_p1", rows=0))
        self.assertEqual(next(iter(seen((nothing, "")).all.values())).writes, set())


if __name__ == "__main__":
    unittest.main()
