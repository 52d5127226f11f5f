"""The rule about turns of phrase fires on what it forbids and is silent on what it allows."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import language_rules  # noqa: E402
import tidy  # noqa: E402
from source_text import SourceFile  # noqa: E402


def faults(limits=None, **files):
    sources = [SourceFile(path.replace("__", "/") + ".md", text) for path, text in files.items()]
    return [fault.message for fault in language_rules.check([file for file in sources if language_rules.counted(file)], limits or {})]


class LanguageRuleTests(unittest.TestCase):
    def test_clean_pages_have_none(self):
        for turn in ("Whoever asks", "one who asks", "it is told twice", "a log tells of it", "bytes of chance"):
            self.assertEqual(len(faults({"docs": 1}, docs__start=turn)), 1, turn)
        self.assertEqual(faults(docs__start="The server rejects the request. Tell the user why."), [])

    def test_a_folder_keeps_its_limit(self):
        page = {"Sources__Models__page": "whoever\nwhoever"}
        self.assertEqual(faults({"Sources/Models": 2}, **page), [])
        self.assertIn("at most 1", faults({"Sources/Models": 1}, **page)[0])

    def test_limits_are_what_there_is(self):
        """A change that removes turns lowers the limit, so that they don't come back."""
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        texts = ((path, tidy.read(root, path)) for path in tidy.project_paths(root))
        files = [SourceFile(path, text) for path, text in texts if text is not None]
        self.assertEqual(language_rules.count(files), language_rules.LIMITS)

    def test_where_folders_end(self):
        for path, folder in (("Sources/A/B/c.swift", "Sources/A"), ("Tests/x.py", "Tests"), ("docker/a/b.yml", "docker"), ("a.md", ".")):
            self.assertEqual(language_rules.folder_of(path), folder)
