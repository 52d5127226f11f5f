"""The rule about migrations fires on what it forbids and is silent on what it allows."""

import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import migration_rules  # noqa: E402
from test_tidy import messages  # noqa: E402


class MigrationRuleTests(unittest.TestCase):
    PATH = "Sources/InvitesService/Migrations/NewTables.swift"

    def faults(self, sql, path=PATH):
        return messages(migration_rules.check, path, f'let sql = """\n    {sql}\n    """\n')

    def test_what_has_all_rows_read(self):
        for sql in (
                "ALTER TABLE a ADD COLUMN b int CHECK (b > 0);", "ALTER TABLE a\n ADD COLUMN c int,\n ADD COLUMN b int CHECK (b IN (1, 2));",
                "ALTER TABLE a ADD COLUMN b uuid REFERENCES c;", "alter table only a add b int check (b > 0)",
                "ALTER TABLE a ADD CONSTRAINT b CHECK (c > 0);", "ALTER TABLE a ADD CHECK (c > 0);",
                "ALTER TABLE a ADD CONSTRAINT b FOREIGN KEY (c) REFERENCES d (c);"):
            self.assertEqual(len(self.faults(sql)), 1, sql)
        self.assertEqual(len(self.faults("ALTER TABLE a ADD COLUMN b int CHECK (b > 0), ADD COLUMN c int CHECK (c > 0);")), 2)
        one_line = messages(migration_rules.check, self.PATH, 'let sql = "ALTER TABLE a ADD COLUMN b int CHECK (b > 0)"\n')
        self.assertEqual(len(one_line), 1)

    def test_what_does_not(self):
        for sql in (
                "ALTER TABLE a ADD CONSTRAINT b CHECK (c IN (1, 2)) NOT VALID;",
                "ALTER TABLE a DROP CONSTRAINT b, ADD CONSTRAINT b FOREIGN KEY (c) REFERENCES d NOT VALID;",
                "CREATE TABLE a (b int CHECK (b > 0), c uuid REFERENCES d);", "ALTER TABLE a ADD COLUMN checked int;",
                "ALTER TABLE a ADD COLUMN b int, -- CHECK (b > 0)\n ADD COLUMN c int;", "ALTER TABLE a ADD CONSTRAINT b UNIQUE (c);"):
            self.assertEqual(self.faults(sql), [], sql)
        self.assertEqual(self.faults("ALTER TABLE a ADD COLUMN b int CHECK (b > 0);", "Tests/PostgresTests/A.swift"), [])


class MinorVersionTests(unittest.TestCase):
    ROOT = pathlib.Path(__file__).resolve().parents[2]

    def test_the_list_has_the_versions_of_the_changelog_and_the_next_one(self):
        source = (self.ROOT / "Sources/Postgres/MinorVersion.swift").read_text()
        line = re.search(r"static let all = \[(.*)\]", source).group(1)
        known = re.findall(r"MinorVersion\((\d+), (\d+)\)", line)
        released = re.findall(r"^## (\d+)\.(\d+)\.\d+ ", (self.ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
        released = list(dict.fromkeys(reversed(released)))
        self.assertTrue(released)
        self.assertIn(known, (released, released + known[-1:]), "MinorVersion.all lacks a version of the changelog, or has one too many")
