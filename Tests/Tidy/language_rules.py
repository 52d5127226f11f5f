"""Turns of phrase that readers had to read twice, such as "whoever" or "what is told", do not come back.

README.md, CONTRIBUTING.md and the first pages of docs/ have none. Elsewhere each folder may have as many as it had when it was last cleaned; a change
that removes some lowers the limit. CONTRIBUTING.md says what to write instead.
"""

import re

from source_text import Fault

TURNS = re.compile(
    r"\b(whoever|one who|those who|that which|what is told|(?:is|are|was|were|be|been|being) told|tells? of|comes? to be|of chance)\b",
    re.IGNORECASE)
#: Files that show the turns, to say what is better.
EXEMPT = {"CONTRIBUTING.md", "CHANGELOG.md"}
CLEAN = ("README.md", "docs/start.md", "docs/features.md")
SUFFIXES = (".swift", ".c", ".h", ".md", ".py", ".proto", ".sh", ".json", ".yaml", ".yml")

#: The most turns in a folder. Lower a number when you have removed some; never raise one.
LIMITS = {
    "Sources/IdentityService": 1, "Sources/InvitesService": 2, "proto": 1,
}


def folder_of(path):
    """The folder that a file is counted in: `Sources/IdentityService`, `Tests/EndToEnd`, `docker`, or the root."""
    parts = path.split("/")
    return "/".join(parts[:2] if parts[0] in ("Sources", "Tests", "docs") and len(parts) > 2 else parts[:1]) if len(parts) > 1 else "."


def count(files):
    """How many turns each folder has."""
    counts = {}
    for file in files:
        if counted(file):
            found = len(TURNS.findall(file.text))
            if found:
                folder = folder_of(file.path)
                counts[folder] = counts.get(folder, 0) + found
    return counts


def counted(file):
    return (file.path.endswith(SUFFIXES) and not file.is_generated and file.path not in EXEMPT
            and not file.path.startswith("Tests/Tidy/"))


def check(files, limits=None):
    """Turns where none may be, and folders with more than they had."""
    limits = LIMITS if limits is None else limits
    for file in files:
        if file.path.startswith(CLEAN) and file.path not in EXEMPT:
            for match in TURNS.finditer(file.text):
                yield file.fault(match.start(), f'"{match.group()}" needs two readings; see CONTRIBUTING.md')
    counts = count(files)
    for folder in sorted({folder_of(file.path) for file in files if counted(file)}):
        found, limit = counts.get(folder, 0), limits.get(folder, 0)
        if found > limit:
            yield Fault(folder, 1, f"{found} turns that need two readings, at most {limit}; see CONTRIBUTING.md")
