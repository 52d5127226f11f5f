#!/usr/bin/env python3
"""Builds the documentation site into .build/docs/site. `make docs` calls it.

    build.py [FOLDER]    FOLDER has the built programs, whose --help is a part of the reference; .build/release without it
"""

import pathlib
import re
import shutil
import subprocess
import sys

import checks
import reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build" / "docs"
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+(?:Sources|Tests|proto|docker|README|CONTRIBUTING|SECURITY|CHANGELOG|LICENSE)[^)]*)\)")


def without_links_out(text):
    """A page whose links to files of the repository are names of these files: the site has pages alone."""
    return _LINK.sub(lambda link: f"{link[1]} (`{link[2].lstrip('./')}`)", text)


def write_pages(pages, folder):
    shutil.rmtree(pages, ignore_errors=True)
    for path in sorted((ROOT / "docs").rglob("*")):
        place = path.relative_to(ROOT / "docs")
        if path.is_dir() or place.parts[0] == "site":
            continue
        (pages / place).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            (pages / place).write_text(without_links_out(path.read_text()))
        else:
            shutil.copy(path, pages / place)
    helps = {program: reference.help_of(folder, program) for program in reference.PROGRAMS}
    made = {
        "reference/configuration.md": reference.configuration(helps), "reference/limits.md": reference.limits(helps),
        "reference/commands.md": reference.commands(ROOT, folder), "reference/metrics.md": reference.metrics(ROOT)}
    made["inside/data-model.md"], pictures = reference.data_model(ROOT)
    made |= {f"inside/{name}": picture for name, picture in pictures.items()}
    monitor = pages / "run/monitor.md"
    made["run/monitor.md"] = monitor.read_text().replace("<!-- alerts -->", reference.alerts(ROOT))
    for name, text in made.items():
        (pages / name).write_text(text)


def main(arguments):
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if arguments[:1] != [] and arguments[0].startswith("-") else 2
    folder = pathlib.Path(arguments[0] if arguments else ROOT / ".build" / "release")
    missing = [program for program in reference.PROGRAMS if not (folder / program).is_file()]
    if missing:
        print(f"docs: {folder} has no {', '.join(missing)}; `make build` makes them", file=sys.stderr)
        return 1
    pages, site = BUILD / "pages", BUILD / "site"
    write_pages(pages, folder)
    settings = BUILD / "mkdocs.yml"
    settings.write_text(f"INHERIT: {ROOT}/docs/site/mkdocs.yml\ndocs_dir: {pages}\nsite_dir: {site}\n")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean", "--config-file", str(settings)]
    if subprocess.run(command, cwd=BUILD).returncode != 0:
        return 1
    faults = checks.outside_requests(site)
    for fault in faults:
        print(f"docs: {fault}", file=sys.stderr)
    if not faults:
        print(f"The site is in {site.relative_to(ROOT)}; open {site / 'index.html'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
