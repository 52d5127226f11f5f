"""The builder of the documentation site: what it makes of sources, and what it refuses."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import build  # noqa: E402
import checks  # noqa: E402
import reference  # noqa: E402


class OutsideRequestTests(unittest.TestCase):
    def faults(self, text, name="a.html"):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / name).write_text(text)
            return checks.outside_requests(pathlib.Path(folder))

    def test_what_loads_from_elsewhere(self):
        for text in ('<script src="https://cdn.example/x.js"></script>', '<link rel="stylesheet" href="//fonts.example/a.css">',
                     '<img src="http://a.example/x.png">', '<p style="background: url(https://a.example/x)">',
                     '<link rel="preconnect" href="https://fonts.example">', '<img srcset="https://a.example/x.png 2x">'):
            self.assertEqual(len(self.faults(text)), 1, text)
        self.assertEqual(len(self.faults("a{background:url('https://a.example/x')}", "a.css")), 1)
        self.assertEqual(len(self.faults('@import "//a.example/x.css";', "a.css")), 1)

    def test_what_a_reader_follows(self):
        text = '<a href="https://a.example">a</a><link rel="canonical" href="https://b.example"><img src="x.svg"><script src="a.js">'
        self.assertEqual(self.faults(text), [])


class ReferenceTests(unittest.TestCase):
    HELP = """OVERVIEW: A program.

CONFIGURATION: environment variables.

VESTIBULE_A_B or VESTIBULE_A_B_FILE (secret; optional)
  A text that is
wrapped (here).

VESTIBULE_A_LIMIT (1 to 9 (of ten); default 4)
  How many | at most.

USAGE: program
"""

    def test_keys_of_a_program(self):
        self.assertEqual(list(reference.keys(self.HELP)), [
            ("VESTIBULE_A_B or VESTIBULE_A_B_FILE", "secret; optional", "A text that is wrapped (here)."),
            ("VESTIBULE_A_LIMIT", "1 to 9 (of ten); default 4", "How many | at most.")])
        page = reference.limits({"a": self.HELP})
        self.assertIn("| How many \\| at most. | 1 to 9 (of ten); default 4 | `VESTIBULE_A_LIMIT` |", page)
        self.assertNotIn("VESTIBULE_A_B", page)

    def test_every_table_is_in_the_pictures(self):
        for service, least in (("identity", 25), ("profile", 5), ("invites", 8)):
            schema = dict(reference.tables(ROOT, service))
            text = "".join(path.read_text() for path in (ROOT / f"Sources/{service.capitalize()}Service/Migrations").glob("*.swift"))
            self.assertEqual(len(schema), text.count("CREATE TABLE "), service)
            self.assertGreaterEqual(len(schema), least)
            picture = reference.picture(schema.items())
            for table, columns in schema.items():
                self.assertIn(f">{table}<", picture)
                self.assertTrue(columns, table)

    def test_metrics_have_words(self):
        page = reference.metrics(ROOT)
        self.assertIn("| `vestibule_identity_refreshes_total` | counter | Refresh tokens", page)
        self.assertGreater(page.count("\n| `vestibule_"), 80)

    def test_every_alert_has_a_severity_and_a_summary(self):
        rows = reference.alerts(ROOT).split("\n")[2:-1]
        self.assertEqual(len(rows), (ROOT / "docker/prometheus/alerts.yaml").read_text().count("- alert:"))
        for row in rows:
            self.assertRegex(row, r"^\| `\w+` \| (page|ticket) \| \S.* \|$")

    def test_links_out_of_the_site_become_names(self):
        text = "[The API](../../Sources/A/A.docc/A.md) and [a page](../run/b.md), [README](../README.md)"
        self.assertEqual(build.without_links_out(text), "The API (`Sources/A/A.docc/A.md`) and [a page](../run/b.md), README (`README.md`)")


if __name__ == "__main__":
    unittest.main()
