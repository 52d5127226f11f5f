"""What the site says of metrics, tables, limits, alerts, keys and commands is all that there is of them."""

import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))

import alerts  # noqa: E402
import fixed_limits  # noqa: E402
import generated  # noqa: E402
import metrics  # noqa: E402
import program_help  # noqa: E402
import schema  # noqa: E402
import schema_pictures  # noqa: E402
import swift_source  # noqa: E402

#: Names in the sources that look like metrics: channels of LISTEN.
CHANNELS = {"vestibule_identity_revocations", "vestibule_invites_group_events", "vestibule_backup"}


class MetricTests(unittest.TestCase):
    def test_every_metric_is_found(self):
        found = metrics.families(ROOT)
        self.assertEqual(metrics.names(ROOT) - CHANNELS, set(found))
        self.assertEqual([name for name, (_, _, words) in found.items() if not words], [])

    def test_alerts_and_dashboard_name_metrics_that_there_are(self):
        found = set(metrics.families(ROOT))
        for path in ("docker/prometheus/alerts.yaml", "docker/grafana/vestibule.json"):
            names = re.findall(r"\b(?:vestibule|process)_[a-z_]+", (ROOT / path).read_text())
            self.assertEqual({re.sub(r"_(bucket|sum|count)$", "", name) for name in names} - found, set(), path)

    def test_how_metrics_are_registered(self):
        source = '''
            let a = CounterFamily(
                "vestibule_a_total",
                help: "First "
                    + "and second.",
                labels: ["outcome"]
            )
            text.times("vestibule_b_seconds", help: "Third.", [])
            text.family(program.name, .gauge, help: "Fourth.", [])
            var name: StaticString {
                switch self {
                case .x: "vestibule_x_keys"
                case .y: "vestibule_y_keys"
                }
            }
        '''
        self.assertEqual(list(metrics._of(source)), [
            ("vestibule_a_total", "counter", "First and second."), ("vestibule_b_seconds", "histogram", "Third."),
            ("vestibule_x_keys", "gauge", "Fourth."), ("vestibule_y_keys", "gauge", "Fourth.")])


class SchemaTests(unittest.TestCase):
    def tables(self, service):
        return [table for section in schema.sections(service, ROOT) for table in section.tables]

    def test_every_table_is_found(self):
        for service, name in schema.SERVICES.items():
            folder = ROOT / f"Sources/{name}Service/Migrations"
            created = [table for path in folder.glob("*.swift")
                       for table in re.findall(r"CREATE (?:UNLOGGED )?TABLE (\w+)", path.read_text())]
            found = [table.name for table in self.tables(service)]
            self.assertEqual(set(created) - set(found), set())
            self.assertEqual(len(found), len(set(found)))
            self.assertIn("quotas", found)

    def test_columns_of_later_migrations_are_found(self):
        sessions = next(table for table in self.tables("identity") if table.name == "sessions")
        self.assertIn("scope", [column.name for column in sessions.columns])

    def test_references_lead_to_tables_of_the_schema(self):
        for service in schema.SERVICES:
            names = {table.name for table in self.tables(service)}
            for table in self.tables(service):
                self.assertTrue(table.columns, table.name)
                self.assertEqual({column.references for column in table.columns} - names - {""}, set(), table.name)

    def test_what_is_read_of_a_table(self):
        table, = schema.parse("""
            -- What it holds,
            -- in two lines.
            CREATE UNLOGGED TABLE members (
                group_id uuid NOT NULL REFERENCES groups ON DELETE CASCADE,
                -- A comment, with a comma.
                phone text CHECK (phone ~ '^[1-9][0-9]{3,14}$'),
                kinds text[] NOT NULL DEFAULT '{a,b}',
                PRIMARY KEY (group_id, phone),
                CONSTRAINT one CHECK (phone IS NOT NULL)
            );
            """)
        self.assertEqual((table.name, table.comment, table.is_unlogged), ("members", "What it holds, in two lines.", True))
        self.assertEqual(table.columns, (
            schema.Column("group_id", "uuid", True, False, "groups"), schema.Column("phone", "text", True, False, ""),
            schema.Column("kinds", "text[]", False, False, "")))

    def test_pictures_are_svg_with_every_column(self):
        places = set()
        for place, picture in schema_pictures.pictures(ROOT):
            places.add(place)
            ElementTree.fromstring(picture)
        self.assertEqual(len(places), sum(len(schema.sections(service, ROOT)) for service in schema.SERVICES))
        table = schema.Table("a", "", (schema.Column("b", "text", True, False, ""), schema.Column("c", "a<b>", False, True, "z")))
        drawn = ElementTree.fromstring(schema_pictures.draw([table]))
        words = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(words, ["a", "b", "text", "c", "a<b>? → z"])


class LimitTests(unittest.TestCase):
    def test_limits_with_their_types_and_values(self):
        found = {(owner, name): (module, value) for module, owner, name, value, _ in fixed_limits.limits(ROOT)}
        self.assertEqual(found["DisplayName", "charactersMax"], ("Models", "50"))
        self.assertEqual(found["ProvidersFile", "bytesMax"], ("IdentityService", "262,144"))
        self.assertGreater(len(found), 200)

    def test_alerts(self):
        count = (ROOT / "docker/prometheus/alerts.yaml").read_text().count("- alert: ")
        self.assertEqual(alerts.page(ROOT).count("\n"), count + 2)


class ProgramTests(unittest.TestCase):
    COMMAND = {
        "commandName": "identity", "discussion":
            "CONFIGURATION: environment variables.\n\nVESTIBULE_IDENTITY_LISTEN (host:port; default 127.0.0.1:7001)\n  Where it\nlistens."
            "\n\nVESTIBULE_A_MAX (1 to 9; default 3)\n  How many.\n\nVESTIBULE_B or VESTIBULE_B_FILE (secret; optional)\n  A <secret>.",
        "subcommands": [
            {"commandName": "serve", "abstract": "Serve."}, {"commandName": "help", "abstract": "Help."},
            {"commandName": "account", "subcommands": [{"commandName": "find", "abstract": "Find.", "arguments": [
                {"kind": "positional", "valueName": "who", "isOptional": True}]}]}]}

    def programs(self, folder):
        for name in program_help.PROGRAMS:
            path = pathlib.Path(folder) / name
            path.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps({'command': self.COMMAND})}\nEND\n")
            path.chmod(0o755)
        return pathlib.Path(folder)

    def test_keys(self):
        self.assertEqual(list(program_help.keys(self.COMMAND)), [
            ("VESTIBULE_IDENTITY_LISTEN", "host:port", "default 127.0.0.1:7001", "Where it listens."),
            ("VESTIBULE_A_MAX", "1 to 9", "default 3", "How many."),
            ("VESTIBULE_B or VESTIBULE_B_FILE", "secret", "optional", "A <secret>.")])

    @unittest.mock.patch.object(program_help, "TIMEOUT_SECONDS", 60)
    def test_tables_of_a_program(self):
        with tempfile.TemporaryDirectory() as folder:
            programs = self.programs(folder)
            text = program_help.configuration("identity", programs)
            self.assertEqual(re.findall(r"^### (.*)$", text, re.MULTILINE), ["Of identity", "Shared with other programs"])
            self.assertIn("| <code>127.0.0.1:7001</code> | Where it listens. |", text)
            self.assertIn("| secret | optional | A &lt;secret>. |", text)
            self.assertIn(f"| {', '.join(program_help.PROGRAMS)} | 1 to 9 | <code>3</code> | How many. |", program_help.limits(programs))
            self.assertEqual(program_help.commands("identity", programs).split("\n")[2:4], [
                "| `identity serve` | Serve. |", "| `identity account find [<who>]` | Find. |"])

    def test_the_folder_of_programs(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ):
            os.environ.pop("DOCS_PROGRAMS", None)
            root = pathlib.Path(folder)
            self.assertIsNone(program_help.folder(root))
            (root / ".build/debug").mkdir(parents=True)
            self.programs(root / ".build/debug")
            self.assertEqual(program_help.folder(root), root / ".build/debug")


class PartTests(unittest.TestCase):
    def test_pages_have_known_parts_alone_and_each_part_is_in_a_page(self):
        texts = [path.read_text() for path in (ROOT / "docs").rglob("*.md")]
        named = {name for text in texts for name in generated.marks(text)}
        self.assertEqual(named, set(generated.OF_SOURCES) | set(generated.OF_PROGRAMS))
        for program in program_help.PROGRAMS:
            self.assertEqual(sum(f"<!-- generated: configuration {program} -->" in text for text in texts), 1, program)

    def test_parts_take_the_place_of_their_marks(self):
        self.assertIn("| `make docs` |", generated.expand("a\n\n<!-- generated: targets -->\n\nb", ROOT, None))
        self.assertIn("not built", generated.expand("<!-- generated: bounds -->", ROOT, None))
        self.assertRaises(ValueError, generated.expand, "<!-- generated: other -->", ROOT, None)

    def test_cells_keep_their_text(self):
        self.assertEqual(swift_source.cell("a | b\n<c> `<d>` *"), "a \\| b &lt;c> `<d>` \\*")
        self.assertEqual(swift_source.name("A_B.c"), "<code>A_<wbr>B.<wbr>c</code>")
        self.assertEqual(swift_source.name("https://a/<b>"), "<code>https://<wbr>a/&lt;b&gt;</code>")


if __name__ == "__main__":
    unittest.main()
