"""Pages reach the site with links that lead somewhere in it, and with lists as GitHub reads them."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "site"))

import markdown_text  # noqa: E402
import repository_pages  # noqa: E402


class BuildTests(unittest.TestCase):
    def test_warnings_fail_the_build(self):
        """With --quiet mkdocs drops warnings before --strict counts them."""
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "site", "build.sh")
        with open(script, encoding="utf-8") as file:
            command = next(line for line in file if "bin/mkdocs\" build" in line)
        self.assertIn("--strict", command)
        self.assertNotIn("--quiet", command)


class LinkTests(unittest.TestCase):
    PAGES = {"SECURITY.md": "project/security.md", "Sources/A/A.docc/B.md": "modules/B.md"}
    FILES = {"docs/run/a.md", "docs/parts.svg", "docs/site/mkdocs.yml", "Sources/A/One.swift", *PAGES}

    def rewrite(self, text, source="docs/run/b.md"):
        return repository_pages.rewrite(text, source, self.PAGES, self.FILES.__contains__, lambda path: "The B")

    def test_links_to_pages(self):
        self.assertEqual(self.rewrite("[a](a.md#b) [s](../../SECURITY.md)"), "[a](a.md#b) [s](../project/security.md)")
        self.assertEqual(self.rewrite("[a](docs/run/a.md) ![p](docs/parts.svg)", "SECURITY.md"), "[a](../run/a.md) ![p](../parts.svg)")
        self.assertEqual(self.rewrite("[b](https://example.com) [c](#c)"), "[b](https://example.com) [c](#c)")

    def test_links_to_other_files_become_their_paths(self):
        self.assertEqual(self.rewrite("[one](../../Sources/A/One.swift)"), "one (`Sources/A/One.swift`)")
        self.assertEqual(self.rewrite("[`One.swift`](../../Sources/A/One.swift)"), "`Sources/A/One.swift`")
        self.assertEqual(self.rewrite("[x](../site/mkdocs.yml)"), "x (`docs/site/mkdocs.yml`)")

    def test_links_to_nothing_stay_for_the_check(self):
        self.assertEqual(self.rewrite("[x](gone.md) `[x](../../SECURITY.md)`"), "[x](gone.md) `[x](../../SECURITY.md)`")

    def test_links_of_docc(self):
        self.assertEqual(self.rewrite("<doc:B> ``Type/member``", "SECURITY.md"), "[The B](../modules/B.md) `Type/member`")
        self.assertEqual(self.rewrite("```swift\nlet a\n```"), "```swift\nlet a\n```")

    def test_every_page_has_a_place_of_its_own(self):
        places = list(repository_pages.repository_pages().values())
        self.assertEqual(len(places), len(set(places)))
        self.assertIn("modules/SessionVerifier.md", places)


class ListTests(unittest.TestCase):
    def test_the_content_of_items_is_indented_by_four(self):
        self.assertEqual(markdown_text.reindent("- a\n  b\n  - c\n\n  d\n\ne"), "- a\n    b\n    - c\n\n    d\n\ne")
        self.assertEqual(markdown_text.reindent("1. a\n   b\n\n   ```\n   - c\n     d\n   ```\n2. e"),
                         "1. a\n    b\n\n    ```\n    - c\n      d\n    ```\n\n2. e")

    def test_items_of_several_paragraphs_are_apart(self):
        self.assertEqual(markdown_text.reindent("1. a\n\n   b\n   c\n2. d\n3. e"), "1. a\n\n    b\n    c\n\n2. d\n3. e")

    def test_a_list_behind_a_paragraph_has_an_empty_line_before_it(self):
        self.assertEqual(markdown_text.reindent("a\n- b\n- c"), "a\n\n- b\n- c")
        self.assertEqual(markdown_text.reindent("in the year\n2026. And so on"), "in the year\n2026. And so on")

    def test_code_stays_as_it_is(self):
        text = "```\n- a\n  b\n```\n\n| a |\n| --- |\n| b |"
        self.assertEqual(markdown_text.reindent(text), text)


if __name__ == "__main__":
    unittest.main()
