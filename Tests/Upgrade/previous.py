"""The version before this one: its programs, built from its commit in a folder of its own and kept there."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = "0.9.0"
_RELEASE = re.compile(r"^## (\S+) - \S+\n\nCommit ([0-9a-f]{40})\.", re.MULTILINE)


def commit(version=VERSION):
    """The commit of a version, as the changelog names it."""
    found = dict(_RELEASE.findall((ROOT / "CHANGELOG.md").read_text()))
    return found[version]


def build(version=VERSION):
    """Builds a version's programs for release, unless they are there; returns their folder. The first time takes as long as `make build`."""
    source = ROOT / ".build/upgrade" / version
    binaries = source / ".build/release"
    if not (source / ".git").exists():
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
        subprocess.run(["git", "worktree", "add", "--detach", source, commit(version)], cwd=ROOT, check=True)
    if not (source / ".built").exists():
        resolved = ROOT / "Package.resolved"
        # The packages of the same versions; those that they need in turn as they are here.
        if resolved.exists() and not (source / "Package.resolved").exists():
            (source / "Package.resolved").write_bytes(resolved.read_bytes())
        subprocess.run(["make", "--no-print-directory", "build"], cwd=source, check=True)
        (source / ".built").touch()
    return binaries
