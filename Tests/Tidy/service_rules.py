"""One shape for the services: whoever has learned one knows where things are in the others (CONTRIBUTING).

And every RPC stands in the allow list of its service in compose.yaml: one that doesn't works in every test of the code, and
gets PERMISSION_DENIED in containers.
"""

import re

SERVICES = {"Identity": "identity", "Profile": "profile", "Invites": "invites"}
# What each has, `Name` being the service's.
FILES = (
    "Configuration/NameKeys.swift", "Configuration/NameSettings.swift", "ErrorMap.swift", "Migrations/NameMigrations.swift",
    "NameMethods.swift", "NameParts.swift", "NameServer.swift")
# The folders that there may be: what stands in a service stands in one of them.
FOLDERS = {
    "Background", "Commands", "Configuration", "Conversions", "Exchanges", "Methods", "Metrics", "Migrations",
    "ProviderKeys", "Store", "Tokens"}

# What apps may ask, and where its methods stand.
APP_PROTOS = "proto/vestibule/app/"
APP_METHODS = "Sources/GatewayService/Methods"

COMPOSE = "docker/compose.yaml"
# RPCs that no program calls, so that nobody is let in.
UNCALLED: set = set()

_RPC = re.compile(r"^\s*rpc\s+(\w+)", re.MULTILINE)
_SERVICE = re.compile(r"^service\s+(\w+)", re.MULTILINE)


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
    for proto in sorted(path for path in known if path.startswith(APP_PROTOS)):
        for method in _RPC.findall(read(proto)):
            if f"{APP_METHODS}/{method}.swift" not in known:
                yield f"{APP_METHODS}/{method}.swift: is missing: each method of {proto} stands in a file of its own"
    if COMPOSE in known:
        yield from _check_allow_lists(known, read)


def _check_allow_lists(known, read):
    compose = read(COMPOSE)
    for name, package in SERVICES.items():
        proto = f"proto/vestibule/{package}/v1/{package}.proto"
        if proto not in known:
            continue
        text, key = read(proto), f"VESTIBULE_{name.upper()}_TLS_ALLOW"
        prefix = f"vestibule.{package}.v1.{_SERVICE.search(text).group(1)}/"
        methods = {prefix + method for method in _RPC.findall(text)}
        allowed = _allowed(compose, key)
        for method in sorted(methods - allowed - UNCALLED):
            yield f"{COMPOSE}: {key} lets nobody call {method}: see the page AddingAnRPC"
        for method in sorted(methods & allowed & UNCALLED):
            yield f"{COMPOSE}: {key} lets somebody call {method}, which Tests/Tidy/service_rules.py calls uncalled"
        for method in sorted(allowed - methods):
            if method.startswith("vestibule."):
                yield f"{COMPOSE}: {key} names {method}, which is no RPC of {proto}"


def _allowed(compose, key):
    """The methods that a list lets anybody call. A line of it is a certificate's name and a method, or a comment."""
    block = re.search(rf"^( *){key}: \|\n((?:\1 +.*\n)*)", compose, re.MULTILINE)
    rules = [line.split() for line in block.group(2).splitlines()] if block else []
    return {rule[1] for rule in rules if len(rule) == 2 and not rule[0].startswith("#")}
