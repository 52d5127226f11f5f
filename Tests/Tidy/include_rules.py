"""The floors of the C RPC layer: who may include whom. No file includes one of a higher floor, and neither includes nor calls go in a
circle."""

import os
import re

from source_text import Fault, SourceFile

LAYER = "Sources/CRPC/"

# The floors from the ground up, each with those below it that it may include. Its own folder goes without saying.
FLOORS = {
    "loop": set(),
    "tls": {"loop"},
    "http": {"loop"},
    "http1": {"loop", "http"},
    "http2": {"loop", "http"},
    "grpc": {"loop", "http", "http2"},
    "transport": {"loop", "tls", "http", "http1", "http2", "grpc"},
}

# The public headers, which have one folder for all floors, and the floor that each belongs to.
PUBLIC = {
    "crpc_error.h": "loop",
    "crpc_loop.h": "loop",
    "crpc_stats.h": "loop",
    "crpc_tls.h": "tls",
    "crpc_exchange.h": "http",
    "crpc_field.h": "http",
    "crpc_limits.h": "http",
    "crpc_metadata.h": "http",
    "crpc_server.h": "http",
    "crpc_call_stats.h": "grpc",
    "crpc_connection.h": "grpc",
    "crpc_gzip.h": "grpc",
    "crpc_stream.h": "grpc",
    "crpc_wire.h": "grpc",
    "crpc_connect.h": "transport",
    "crpc_listener.h": "transport",
    "crpc.h": "transport",
}

# The files that may know a library, by what their paths begin with.
LIBRARY_OWNERS = {"nghttp2": "http2/session", "openssl": "tls/", "zlib.h": "grpc/gzip.c"}

# What a source defines for others, and an inline function of a header with its body. Tables count as well: they hold functions.
_DEFINED = re.compile(r"^(?!static\b|typedef\b|extern\b)\w[\w *]*?\b(crpc_\w+)(?:\([^;{]*\) \{|\[| = |;)", re.MULTILINE)
_INLINE = re.compile(r"^static inline [^;{]*?\b(crpc_\w+)\([^;{]*\) \{([^\n]*\}$|.*?^\})", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"\bcrpc_\w+")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)


def floor_of(path):
    """The floor of a file, by its path below the layer's folder; None for one that has none."""
    folder, _, name = path.partition("/")
    return PUBLIC.get(name) if folder == "include" else folder if folder in FLOORS else None


def _target(path, included, known):
    """The file of the layer that an include of `path` means; None for one of somebody else."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), included))
    return next((found for found in (beside, included, "include/" + included) if found in known), None)


def check(texts):
    """`texts`: path below the project's root to text, of all C files of the layer. Yields the faults."""
    files = {path[len(LAYER):]: text for path, text in texts.items() if path.startswith(LAYER)}
    arrows = {}
    for path, text in sorted(files.items()):
        floor = floor_of(path)
        if floor is None:
            yield Fault(LAYER + path, 1, "is on no floor: Tests/Tidy/include_rules.py says which there are")
            continue
        arrows[path] = []
        for match in _INCLUDE.finditer(text):
            line, included = text.count("\n", 0, match.start()) + 1, match.group(2)
            owner = LIBRARY_OWNERS.get(included.split("/")[0])
            if owner is not None and not path.startswith(owner):
                yield Fault(LAYER + path, line, f"includes {included}: only {owner} knows that library")
            target = _target(path, included, files)
            if target is None:
                if match.group(1) == '"':
                    yield Fault(LAYER + path, line, f"includes {included}, which is not there")
                continue
            arrows[path].append(target)
            other = floor_of(target)
            if other is not None and other != floor and other not in FLOORS[floor]:
                yield Fault(LAYER + path, line, f"{floor} doesn't include {target}: {other} is no floor below it")
    for circle in circles(arrows):
        yield Fault(LAYER + circle[0], 1, "includes itself in a circle: " + " → ".join(circle + circle[:1]))
    for circle in circles(calls(files)):
        yield Fault(LAYER + circle[0], 1, "calls itself in a circle: " + " → ".join(circle + circle[:1]))


def calls(files):
    """For each source those whose functions and tables it names, itself or through inline functions of headers."""
    code = {path: SourceFile(path, text).code for path, text in files.items()}
    sources = [path for path in sorted(code) if path.endswith(".c")]
    owners = {name: path for path in sources for name in _DEFINED.findall(code[path])}
    inline = {name: set(_NAME.findall(body)) for text in code.values() for name, body in _INLINE.findall(text)}
    arrows = {}
    for path in sources:
        names, found = set(_NAME.findall(code[path])), set()
        while names:
            found |= names
            names = {used for name in names for used in inline.get(name, ())} - found
        arrows[path] = sorted({owners[name] for name in found if name in owners} - {path})
    return arrows


def circles(arrows):
    """Each circle of a graph that a walk through it closes, beginning with its least name."""
    done, way, found = set(), [], set()

    def walk(name):
        if name in way:
            circle = way[way.index(name):]
            least = circle.index(min(circle))
            found.add(tuple(circle[least:] + circle[:least]))
            return
        if name in done:
            return
        way.append(name)
        for target in arrows.get(name, []):
            walk(target)
        way.pop()
        done.add(name)

    for name in sorted(arrows):
        walk(name)
    return [list(circle) for circle in sorted(found)]
