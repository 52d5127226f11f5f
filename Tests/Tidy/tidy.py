#!/usr/bin/env python3
"""Checks the style rules that a program can check. `make tidy` and CI run it; it needs Python 3.9 and git.

    tidy.py [root]

Prints a line for each fault, and fails if there is one. Every rule stands, with its reason, in a file beside this one,
and has a test in test_tidy.py.
"""

import os
import subprocess
import sys

import c_rules
import decoder_rules
import error_rules
import file_rules
import import_rules
import include_rules
import language_rules
import migration_rules
import page_rules
import proto_rules
import script_rules
import service_rules
import swift_rules
from source_text import SourceFile

BYTES_MAX = 2_000_000  # Anything larger is data.


def project_paths(root):
    """What is committed or could be: ignored files are nobody's business."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True)
    paths = sorted(set(listing.stdout.decode().split("\0")) - {""})
    return [path for path in paths if os.path.isfile(os.path.join(root, path))]


def read(root, path):
    """The file's text; None for what is no text."""
    absolute = os.path.join(root, path)
    if os.path.islink(absolute) or os.path.getsize(absolute) > BYTES_MAX:
        return None
    with open(absolute, "rb") as file:
        content = file.read()
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def check_file(file, root):
    yield from file_rules.check_text(file)
    yield from file_rules.check_links(file, root)
    yield from c_rules.check(file)
    yield from swift_rules.check(file)
    yield from decoder_rules.check(file)
    yield from import_rules.check(file)
    yield from migration_rules.check(file)
    yield from proto_rules.check(file)
    yield from script_rules.check(file)


def main(arguments):
    root = os.path.abspath(arguments[0] if arguments else os.path.join(os.path.dirname(__file__), "..", ".."))
    paths = project_paths(root)
    faults = list(file_rules.check_paths(paths))
    faults += service_rules.check(paths, lambda path: read(root, path))
    layer = {}
    swift = []
    prose = []
    for path in paths:
        text = read(root, path)
        if text is not None:
            file = SourceFile(path, text)
            faults += check_file(file, root)
            if file.is_swift:
                swift.append(file)
            if language_rules.counted(file):
                prose.append(file)
            faults += page_rules.check(file, paths, lambda quoted: read(root, quoted))
            if path.startswith(include_rules.LAYER) and path.endswith((".c", ".h")):
                layer[path] = text
    faults += include_rules.check(layer)
    faults += decoder_rules.check_fuzzer(swift)
    faults += language_rules.check(prose)
    if error_rules.TABLE in paths:
        faults += error_rules.check(swift, read(root, error_rules.TABLE))
    for fault in faults:
        print(fault)
    print(f"tidy: {len(paths)} files, {len(faults)} faults", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
