"""Rules for the scripts of pages: no text becomes HTML or code, and nothing of others is loaded."""

import re

_BANNED = {
    r"\b(?:inner|outer)HTML\b|\binsertAdjacentHTML\b|\bdocument\s*\.\s*write|\bcreateContextualFragment\b|\bparseFromString\b":
        "makes HTML of a text: build elements, and set textContent",
    r"\beval\s*\(|\bnew\s+Function\b|\bset(?:Timeout|Interval)\s*\(\s*[\"'`]": "runs a text",
    r"\blocalStorage\b|\bdocument\s*\.\s*cookie\b": "keeps more than this tab needs",
}
#: The part of the JavaScript kit that is for Node alone.
_FOR_NODE = ("Sources/Kits/JavaScript/source/file-store.js", "Sources/Kits/JavaScript/vestibule-node.js")
#: A sample of an app that has a build step.
_BUILT = "Sources/Kits/Samples/Vite/"
_IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["']([^"']+)["']""")


def check(file):
    if file.suffix != ".js" or not file.path.startswith("Sources/"):
        return
    for pattern, reason in _BANNED.items():
        for match in re.finditer(pattern, file.text):
            yield file.fault(match.start(), f"{match.group()}: {reason}")
    for match in _IMPORT.finditer(file.text):
        name = match.group(1)
        is_foreign = file.path.startswith(_BUILT) or (file.path in _FOR_NODE and name.startswith("node:"))
        if not name.startswith(("./", "../")) and not is_foreign:
            yield file.fault(match.start(), f"{name} is no file of ours")
