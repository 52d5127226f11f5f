"""What counts as code, as a comment and as a token."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import count_lines  # noqa: E402


class CountLinesTests(unittest.TestCase):
    def test_blank_lines_and_comments_are_no_code(self):
        text = "/// Says hello.\n\nfunc hello() { // to all\n    /* not\n       yet */\n    print(\"hello // you\")\n}\n"
        counted = count_lines.count("Sources/A/A.swift", text, "Swift")
        self.assertEqual((counted.lines, counted.code, counted.comments), (7, 3, 3))
        # func hello () { print ( hello // you ) }; quotes are of the string.
        joined = count_lines.count("Sources/A/A.swift", text.replace("\n    print", " print").replace("\n}", " }"), "Swift")
        self.assertEqual(joined.tokens, counted.tokens)
        self.assertLess(joined.code, counted.code + 1)

    def test_scripts_have_comments_of_their_own(self):
        counted = count_lines.count("a.sh", "#!/usr/bin/env bash\n# Why.\necho a # b\n", "shell")
        self.assertEqual((counted.code, counted.comments), (1, 2))
        self.assertEqual(count_lines.language_of(".ci/run", "#!/usr/bin/env bash\n"), "shell")
        self.assertIsNone(count_lines.language_of("Makefile", "all:\n"))

    def test_generated_code_stands_apart(self):
        self.assertEqual(count_lines.group_of("Sources/API/Generated/A.swift", "Swift"), "generated")
        self.assertEqual(count_lines.group_of("Sources/API/A.swift", "Swift"), "Sources, Swift")
        self.assertEqual(count_lines.group_of("Package.swift", "Swift"), "other, Swift")

    def test_a_commit_is_counted_as_the_work_tree_is(self):
        with tempfile.TemporaryDirectory() as root:
            def git(*arguments):
                subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments], cwd=root, check=True,
                               capture_output=True)
            os.makedirs(os.path.join(root, "Sources", "A"))
            for name in ("A", "B"):
                with open(os.path.join(root, "Sources", "A", name + ".swift"), "w") as file:
                    file.write(f"let {name} = \"ü\"\n\n// {name}\n")
            git("init", "-q")
            git("add", ".")
            git("commit", "-qm", "a")
            committed = count_lines.totals(root, "HEAD", with_modules=True)
            self.assertEqual(committed, count_lines.totals(root, None, with_modules=True))
            self.assertEqual((committed["Sources by hand"].files, committed["  A"].code), (2, 2))


if __name__ == "__main__":
    unittest.main()
