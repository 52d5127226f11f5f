"""The parts of pages that are made when the site is built: <!-- generated: metrics --> stands for one."""

import re

import alerts
import distribution_page
import fixed_limits
import metrics
import program_help
import schema_pictures
from swift_source import cell, table

MARK = re.compile(r"^<!-- generated: (\w+)(?: (\w+))? -->$", re.MULTILINE)
MISSING = "*Not in this build of the site: the programs were not built. Run `make build`, then `make docs`.*\n"
TARGET = re.compile(r"^([a-z0-9-]+):.*?## (.*)$", re.MULTILINE)


def make_targets(root):
    """The commands that `make` lists."""
    found = TARGET.findall((root / "Makefile").read_text(encoding="utf-8"))
    return table(["command", "what it does"], [[f"`make {name}`", cell(words)] for name, words in found])


#: Parts that are made from the sources, and parts that need the programs. Each takes the word behind its name.
OF_SOURCES = {
    "alerts": lambda root, _: alerts.page(root),
    "metrics": lambda root, _: metrics.page(root),
    "targets": lambda root, _: make_targets(root),
    "limits": lambda root, whose: fixed_limits.page(root, outer=whose == "outer"),
    "distribution": distribution_page.tables,
    "crossings": distribution_page.statements,
    "schema": lambda root, service: schema_pictures.data_model(service, root),
}
OF_PROGRAMS = {
    "configuration": lambda programs, program: program_help.configuration(program, programs),
    "commands": lambda programs, program: program_help.commands(program, programs),
    "bounds": lambda programs, _: program_help.limits(programs),
}


def expand(text, root, programs):
    """The text with each part in the place of its mark. An unknown mark is an error."""
    def part(match):
        name, word = match.groups()
        if name in OF_SOURCES:
            return OF_SOURCES[name](root, word)
        return OF_PROGRAMS[name](programs, word) if programs else MISSING if name in OF_PROGRAMS else _unknown(name)

    return MARK.sub(part, text)


def _unknown(name):
    raise ValueError(f"unknown part of a page: {name}")


def marks(text):
    """The names of the parts that a page has."""
    return [match[1] for match in MARK.finditer(text)]
