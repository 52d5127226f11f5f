"""One shape for the services: whoever has learned one knows where things are in the others (CONTRIBUTING).

And every RPC stands in the allow list of its service in compose.yaml: one that doesn't works in every test of the code, and
gets PERMISSION_DENIED in containers.
"""

import re

SERVICES = {"Identity": "identity", "Profile": "profile", "Invites": "invites"}
# What each has, `Name` being the service's.
FILES = (
    "Configuration/NameKeys.swift", "Configuration/NameSettings.swift", "NameErrorMap.swift", "Migrations/NameMigrations.swift",
    "NameMethods.swift", "NameParts.swift", "NameServer.swift")
# The folders that there may be: what stands in a service stands in one of them.
FOLDERS = {
    "Background", "Commands", "Configuration", "Conversions", "Exchanges", "Grants", "Methods", "Metrics", "Migrations",
    "ProviderKeys", "Store", "Tokens", "Transfers", "Webhooks"}

# What apps may ask, and where its methods stand.
APP_PROTOS = "proto/vestibule/app/"
APP_METHODS = "Sources/GatewayService/Methods"

COMPOSE = "docker/compose.yaml"
# What a service serves beside its own: who may call it stands in its list too.
SERVED_TOO = {
    "Identity": ("proto/vestibule/operator/v1/operator.proto", "proto/vestibule/identity/v1/oauth.proto"),
    "Invites": ("proto/vestibule/app/v1/group.proto",)}
# Where the program of a certificate makes its calls.
CALLERS = {"gateway": "Sources/GatewayService/", "profile": "Sources/ProfileService/"}
# RPCs that no program calls, so that nobody is let in.
UNCALLED = set()

# The name of an RPC and its options.
_RPC = re.compile(r"^\s*rpc\s+(\w+)\s*\([^)]*\)\s*returns\s*\([^)]*\)\s*(?:;|\{((?:[^{}\n]*|\n(?:.*?\n)?  ))\})", re.MULTILINE | re.DOTALL)
_FORWARDED = re.compile(r"option \((?:vestibule\.)?options\.v1\.forwarded\) = true;")
_ADDS, _ANSWERS = "GATEWAY_ROLE_ADDS", "GATEWAY_ROLE_ANSWERS"
_CALL = re.compile(r"\.(\w+)\(")
_CONDITION = re.compile(r"^\$\{\w+:\+(.*)\}$")
_PACKAGE = re.compile(r"^package\s+([\w.]+);", re.MULTILINE)
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
        for served in _served(name, known):
            if served.startswith("proto/vestibule/operator/"):
                continue  # its methods stand beside those that people call
            for method in implemented(read(served)):
                path = f"{root}/Methods/{method}.swift"
                if path not in known:
                    yield f"{path}: is missing: each method stands in a file of its own"
    for proto in sorted(path for path in known if path.startswith(APP_PROTOS)):
        for method in of_gateway(read(proto)):
            if f"{APP_METHODS}/{method}.swift" not in known:
                yield f"{APP_METHODS}/{method}.swift: is missing: each method of {proto} stands in a file of its own"
    if COMPOSE in known:
        yield from _check_allow_lists(known, read)


def implemented(text):
    """The methods of a proto's service that its program implements."""
    return [name for name, options in _RPC.findall(text) if _ANSWERS not in options]


def of_gateway(text):
    """The methods of a proto's service that the gateway has code of its own for."""
    is_forwarded = bool(_FORWARDED.search(text))
    return [name for name, options in _RPC.findall(text) if not is_forwarded or _ADDS in options or _ANSWERS in options]


def _served(name, known):
    """The protos whose services a service serves."""
    package = SERVICES[name]
    return [proto for proto in (f"proto/vestibule/{package}/v1/{package}.proto", *SERVED_TOO.get(name, ())) if proto in known]


def _check_allow_lists(known, read):
    compose = read(COMPOSE)
    calls = {
        caller: {call for path in known if path.startswith(folder) and path.endswith(".swift")
                 for call in _CALL.findall(read(path))}
        for caller, folder in CALLERS.items()}
    for name, package in SERVICES.items():
        proto = f"proto/vestibule/{package}/v1/{package}.proto"
        if proto not in known:
            continue
        key = f"VESTIBULE_{name.upper()}_TLS_ALLOW"
        methods, services = set(), set()
        for served in _served(name, known):
            text = read(served)
            prefix = f"{_PACKAGE.search(text).group(1)}.{_SERVICE.search(text).group(1)}/"
            services.add(prefix + "*")
            methods |= {prefix + method for method in implemented(text)}
        rules = _rules(compose, key)
        allowed = {method for _, method in rules}
        allowed |= {method for method in methods if method.rpartition("/")[0] + "/*" in allowed}
        for method in sorted(methods - allowed - UNCALLED):
            yield f"{COMPOSE}: {key} lets nobody call {method}: see docs/inside/adding-an-rpc.md"
        for method in sorted(methods & allowed & UNCALLED):
            yield f"{COMPOSE}: {key} lets somebody call {method}, which Tests/Tidy/service_rules.py calls uncalled"
        for method in sorted(allowed - methods - services):
            if method.startswith("vestibule."):
                yield f"{COMPOSE}: {key} names {method}, which is no RPC of what it serves"
        for name, method in sorted(rules):
            caller, short = name.rpartition("/")[2], method.rpartition("/")[2]
            if method in methods and calls.get(caller) and short[:1].lower() + short[1:] not in calls[caller]:
                yield f"{COMPOSE}: {key} lets {caller} call {method}, which nothing in {CALLERS[caller]} does"


def _rules(compose, key):
    """What a list lets pass, as certificates' names with methods. A line of it is one of these, maybe under a condition
    (${VARIABLE:+…}), or a comment."""
    block = re.search(rf"^( *){key}: \|\n((?:\1 +.*\n)*)", compose, re.MULTILINE)
    lines = [_CONDITION.sub(r"\1", line.strip()) for line in block.group(2).splitlines()] if block else []
    rules = [line.split() for line in lines]
    return {tuple(rule) for rule in rules if len(rule) == 2 and not rule[0].startswith("#")}
