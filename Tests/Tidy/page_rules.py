"""Rules for the pages of docs/ and beside the code (`*.docc`): what they name is there, and what they quote is what stands there."""

import re

# A file that a reader is to make is not there: "`path`, new".
_MENTION = re.compile(r"`([\w./+-]+\.(?:swift|c|h|proto|py|sh|sql|md))`(?!, new)")
# A line that is nothing but a path and a colon, and the block of code after it.
_QUOTE = re.compile(r"^`([\w./+-]+)`:\n+```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def check(file, paths, read):
    """Every file that a page names exists, by its path or the end of it; a block behind a path is that file, word for word.

    `paths` are the project's, `read` gives the text of one.
    """
    if file.suffix != ".md" or not (file.path.startswith("docs/") or any(folder.endswith(".docc") for folder in file.folders)):
        return
    for match in _MENTION.finditer(file.text):
        if not _found(match.group(1), paths):
            yield file.fault(match.start(), f"there is no file {match.group(1)}")
    for match in _QUOTE.finditer(file.text):
        path = match.group(1)
        if path in paths and read(path) != match.group(2):
            yield file.fault(match.start(), f"what is quoted of {path} is not what stands there")


def _found(name, paths):
    return any(path == name or path.endswith("/" + name) for path in paths)
