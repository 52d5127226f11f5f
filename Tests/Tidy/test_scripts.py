"""The rules for scripts of pages."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import script_rules  # noqa: E402
from source_text import SourceFile  # noqa: E402


class ScriptRuleTests(unittest.TestCase):
    def check(self, code, path="Sources/WebPages/Files/a.js"):
        return list(script_rules.check(SourceFile(path, code)))

    def test_what_makes_html_or_code_of_a_text(self):
        for code in ("a.innerHTML = b", "a.insertAdjacentHTML('x', b)", "document.write(a)", "eval(a)", "new Function(a)",
                     "setTimeout('a()')", "localStorage.a = b", "document.cookie", 'import "https://cdn.example/a.js"',
                     "await import('a')"):
            self.assertEqual(len(self.check(code)), 1, code)

    def test_what_does_not(self):
        for code in ("a.textContent = b", "setTimeout(() => a(), 1)", 'import { a } from "./a.js"', "sessionStorage.a = b"):
            self.assertEqual(self.check(code), [], code)
        self.assertEqual(self.check("a.innerHTML = b", "Tests/a.js"), [])
