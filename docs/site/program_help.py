#!/usr/bin/env python3
"""What the programs say of themselves: their keys of configuration and their commands, from --help as JSON.

    program_help.py   prints nothing, and fails if the programs were not built
"""

import json
import os
import pathlib
import re
import subprocess
import sys

from swift_source import cell, name as code, table

PROGRAMS = ("gateway", "identity", "profile", "invites", "simulator", "vestibule")
#: Where the programs may lie below the root, the best first.
FOLDERS = (".build/release", ".build/debug")
TIMEOUT_SECONDS = 30

KEY = re.compile(r"^([A-Z][A-Z0-9_]+(?: or [A-Z][A-Z0-9_]+)?) \((.*)\)$")
LIMITED = re.compile(r"^(?:duration, )?(\S+ to \S+)$")
#: Titles of the parts of a program's keys, and how the keys of each begin; of several the first counts.
PARTS = (("Traces", ("OTEL_",)), ("Shared with other programs", ("VESTIBULE_",)), ("Proxies", ("",)))


def folder(root):
    """The folder of the built programs; None if there is none. DOCS_PROGRAMS names another."""
    places = [os.environ["DOCS_PROGRAMS"]] if os.environ.get("DOCS_PROGRAMS") else [root / place for place in FOLDERS]
    return next((pathlib.Path(place) for place in places if all((pathlib.Path(place) / name).exists() for name in PROGRAMS)), None)


def help_of(program, programs):
    """The program's root command."""
    output = subprocess.run(
        [programs / program, "--experimental-dump-help"], check=True, capture_output=True, timeout=TIMEOUT_SECONDS, env={})
    return json.loads(output.stdout)["command"]


def keys(command):
    """(name, kind, default, help) of each key in a command's text. The default of a key without one is `required` or empty."""
    for block in command.get("discussion", "").split("\n\n"):
        head, _, words = block.partition("\n")
        match = KEY.match(head)
        if match:
            kind, _, default = match[2].rpartition("; ")
            yield match[1], kind, default, " ".join(words.split())


def _serving(program, programs):
    """The command that reads the program's keys: its root, or for the console the command of vestibule's that serves it."""
    if program != "console":
        return help_of(program, programs)
    return next(each for each in help_of("vestibule", programs)["subcommands"] if each["commandName"] == program)


def configuration(program, programs):
    """A table for each part of the program's keys."""
    own = f"VESTIBULE_{'RUN' if program == 'vestibule' else program.upper()}_"
    parts = {f"Of {program}": []} | {title: [] for title in ("Shared with other programs", "Traces", "Proxies")}
    for name, kind, default, words in keys(_serving(program, programs)):
        title = f"Of {program}" if name.startswith(own) else next(
            title for title, starts in PARTS if name.startswith(starts))
        names = "<br>".join(code(part) for part in name.split(" or "))
        parts[title].append([names, cell(kind), _default(default), cell(words)])
    return "\n".join(
        f"### {title}\n\n{table(['key', 'value', 'default', 'meaning'], rows)}" for title, rows in parts.items() if rows)


def _default(text):
    value = text.removeprefix("default").strip()
    return value if text in ("optional", "required") else code(value) if value else "empty"


def limits(programs):
    """The keys that have a least and a greatest value, each once."""
    found = {}
    for program in PROGRAMS:
        for name, kind, default, words in keys(help_of(program, programs)):
            match = LIMITED.match(kind)
            if match:
                found.setdefault(name, ([], match[1], default, words))[0].append(program)
    rows = [[code(name), ", ".join(users), bounds, _default(default), cell(words)]
            for name, (users, bounds, default, words) in sorted(found.items()) if not name.startswith("OTEL_")]
    return table(["key", "programs", "bounds", "default", "meaning"], rows)


def commands(program, programs):
    """A table of the program's commands, with those below them."""
    rows = [[f"`{name}`", cell(words)] for name, words in _commands(help_of(program, programs), "")]
    return table(["command", "what it does"], rows)


def _commands(command, above):
    for child in command.get("subcommands", []):
        name = f"{above}{command['commandName']} {child['commandName']}"
        if child["commandName"] == "help" or not child.get("shouldDisplay", True):
            continue
        if not child.get("subcommands"):
            yield f"{name}{_arguments(child)}", child.get("abstract", "")
        yield from _commands(child, f"{above}{command['commandName']} ")


def _arguments(command):
    words = ""
    for argument in command.get("arguments", []):
        if argument["kind"] == "positional" and argument.get("shouldDisplay", True):
            name = f"<{argument.get('valueName', '')}>" + ("…" if argument.get("isRepeating") else "")
            words += f" [{name}]" if argument.get("isOptional") else f" {name}"
    return words


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    if folder(pathlib.Path(__file__).resolve().parents[2]) is None:
        sys.exit(f"docs: there are no programs in {' or '.join(FOLDERS)}; `make build` builds them")
