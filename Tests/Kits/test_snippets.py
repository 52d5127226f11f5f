"""Each snippet of a page is cut from a sample, which another test compiles or runs.

In a page, a fenced block after the line `<!-- cut: path#name -->` equals the lines of that file between one with `cut: name` and the next
with `cut end`, both in a comment of the file's language, without the indentation that they share.
"""

import pathlib
import re
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^( *)<!-- cut: ([^#\s]+)#([\w-]+) -->\n(?:\s*\n)?\1```\w*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^ *<!-- cut: ", re.MULTILINE)
#: Pages whose snippets are all cut.
PAGES_OF_KITS = re.compile(r"kit-.*\.md|verify-tokens-.*\.md")
FENCE = re.compile(r"^ *```(swift|kotlin|kts|gradle|python|javascript|js|jsx|typescript|ts|html|xml)$", re.MULTILINE)


def cut(path, name):
    """The lines of a file with that name."""
    lines = (ROOT / path).read_text().split("\n")
    begins = [number for number, line in enumerate(lines) if re.search(rf"(//|#|<!--|/\*) cut: {re.escape(name)}\b(?![-\w])", line)]
    assert len(begins) == 1, f"{path} has {len(begins)} times `cut: {name}`"
    ends = [number for number, line in enumerate(lines) if re.search(r"(//|#|<!--|/\*) cut end\b", line) and number > begins[0]]
    assert ends, f"{path} has no `cut end` after `cut: {name}`"
    return textwrap.dedent("\n".join(lines[begins[0] + 1:ends[0]])).strip("\n") + "\n"


def blocks(text):
    """(path, name, snippet) of each block that is cut."""
    return [(path, name, textwrap.dedent(snippet)) for _, path, name, snippet in BLOCK.findall(text)]


PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if MARK.search(page.read_text()) or PAGES_OF_KITS.fullmatch(page.name))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_snippets_are_those_of_the_samples(page):
    text = page.read_text()
    found = blocks(text)
    assert len(found) == len(MARK.findall(text)), "a mark is not followed by a fenced block"
    for path, name, snippet in found:
        assert snippet == cut(path, name), f"{page.name}: the snippet is not {path}#{name}"
    if PAGES_OF_KITS.fullmatch(page.name):
        assert len(found) == len(FENCE.findall(text)), "a snippet is not cut from a sample"


def test_there_are_pages():
    assert PAGES


def test_a_snippet_that_differs_is_found(tmp_path):
    sample = tmp_path / "sample.swift"
    sample.write_text("struct A {\n    // cut: one\n    let a = 1\n        let b = 2\n    // cut end\n}\n")
    relative = pathlib.Path("..", *[".."] * (len(ROOT.parts) - 2), *sample.parts[1:])
    assert cut(relative, "one") == "let a = 1\n    let b = 2\n"
    text = "<!-- cut: sample.swift#one -->\n```swift\nlet a = 1\n    let b = 3\n```\n"
    assert blocks(text) == [("sample.swift", "one", "let a = 1\n    let b = 3\n")]
