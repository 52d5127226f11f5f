"""The metrics of the programs, read from the sources that register them."""

import re

from swift_source import cell, joined_literals, name as code, table

#: A family: how it is made, its name, perhaps its type, and its help of one or several literals.
FAMILY = re.compile(
    r"(?P<make>\w+)\(\s*(?P<name>\"[a-z_]+\"|\w+(?:\.\w+)?),\s*(?:\.(?P<type>counter|gauge),\s*)?"
    r"help:\s*(?P<help>\"(?:[^\"\\\n]|\\.)*\"(?:\s*\+ \"(?:[^\"\\\n]|\\.)*\")*)")
#: A name that a switch gives, for each program one.
NAME_CASE = re.compile(r"var (\w+): StaticString \{\s*switch self \{(.*?)\n\s*\}\s*\}", re.DOTALL)
NAME = re.compile(r"\"((?:vestibule|process)_[a-z_]+)\"")
TYPES = {"CounterFamily": "counter", "times": "histogram"}
#: Which programs have the metrics of a folder of sources. Of a metric in several, the last counts.
OWNERS = (
    ("Sources/GatewayService/", "gateway"), ("Sources/IdentityService/", "identity"), ("Sources/ProfileService/", "profile"),
    ("Sources/InvitesService/", "invites"), ("Sources/Backup/", "vestibule backup follow"), ("Sources/KeyRings/", "identity, profile, invites"),
    ("Sources/ServiceStore/", "identity, profile, invites"), ("Sources/ServiceKit/", "all programs"))


def families(root):
    """{name: (owner, type, help)} of every metric."""
    found = {}
    for path in sorted((root / "Sources").rglob("*.swift")):
        place = path.relative_to(root).as_posix()
        owner = next((owner for folder, owner in OWNERS if place.startswith(folder)), None)
        if owner:
            for name, kind, words in _of(path.read_text(encoding="utf-8")):
                if name not in found or _rank(owner) > _rank(found[name][0]):
                    found[name] = (owner, kind, words)
    return found


def _rank(owner):
    return max(rank for rank, (_, programs) in enumerate(OWNERS) if programs == owner)


def _of(source):
    switches = {name: NAME.findall(cases) for name, cases in NAME_CASE.findall(source)}
    for match in FAMILY.finditer(source):
        names = NAME.findall(match["name"]) or switches.get(match["name"].split(".")[-1], [])
        for name in names:
            kind = match["type"] or TYPES.get(match["make"], "counter" if name.endswith("_total") else "gauge")
            yield name, kind, joined_literals(match["help"])


def names(root):
    """Every name of a metric in the sources, registered in a way that `families` reads or not."""
    paths = [path for folder, _ in OWNERS for path in (root / folder).rglob("*.swift")]
    return {name for path in paths for name in NAME.findall(path.read_text(encoding="utf-8"))}


def page(root):
    """A table for each kind of program."""
    found = families(root)
    parts = []
    for owner in dict.fromkeys(owner for _, owner in reversed(OWNERS)):
        rows = [[code(name), kind, cell(words)] for name, (whose, kind, words) in sorted(found.items()) if whose == owner]
        if rows:
            parts.append(f"## {owner[0].upper()}{owner[1:]}\n\n{table(['metric', 'type', 'meaning'], rows)}")
    return "\n".join(parts)
