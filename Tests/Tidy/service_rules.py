"""One shape for the services: whoever has learned one knows where things are in the others (CONTRIBUTING)."""

import re

SERVICES = {"Identity": "identity", "Profile": "profile", "Invites": "invites"}
# What each has, `Name` being the service's.
FILES = (
    "Configuration/NameKeys.swift", "Configuration/NameSettings.swift", "ErrorMap.swift", "Migrations/NameMigrations.swift",
    "NameMethods.swift", "NameParts.swift", "NameServer.swift")
# The folders that there may be: what stands in a service stands in one of them.
FOLDERS = {
    "Background", "Commands", "Configuration", "Conversions", "Methods", "Metrics", "Migrations", "ProviderKeys", "Store",
    "Tokens"}

_RPC = re.compile(r"^\s*rpc\s+(\w+)", re.MULTILINE)


def check(paths, read):
    """Faults of the whole tree, as lines. `read` gives the text of a path."""
    known = set(paths)
    for name, package in SERVICES.items():
        proto = f"proto/vestibule/{package}/v1/{package}.proto"
        if proto not in known:
            continue
        root = f"Sources/{name}Service"
        for file in FILES:
            path = f"{root}/{file.replace('Name', name)}"
            if path not in known:
                yield f"{path}: is missing: all services have the same files"
        for path in sorted(known):
            if not path.startswith(root + "/") or not path.endswith(".swift"):
                continue
            folder, _, rest = path[len(root) + 1:].partition("/")
            if rest and folder not in FOLDERS:
                yield f"{path}: {folder}/ is no folder that services have: see Tests/Tidy/service_rules.py"
        for method in _RPC.findall(read(proto)):
            path = f"{root}/Methods/{method}.swift"
            if path not in known:
                yield f"{path}: is missing: each method stands in a file of its own"
