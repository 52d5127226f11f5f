"""Rules for protos, after those of Buf: names, own messages for each RPC, a comment on everything."""

import re
from dataclasses import dataclass

# Contracts of others, which we only restate: their names are what they are.
FOREIGN_PACKAGES = ("google.", "grpc.")

_PASCAL = re.compile(r"[A-Z][A-Za-z0-9]*")
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_UPPER_SNAKE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_PACKAGE = re.compile(r"^package\s+([\w.]+)\s*;", re.MULTILINE)
_VERSION = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?")

# Declarations as they stand at the start of a statement.
_BLOCK = re.compile(r"(message|enum|service|oneof)\s+(\w+)\s*$")
_RPC = re.compile(r"rpc\s+(\w+)\s*\(\s*(?:stream\s+)?([\w.]+)\s*\)\s*returns\s*\(\s*(?:stream\s+)?([\w.]+)\s*\)\s*$")
_FIELD = re.compile(r"(?:(?:optional|repeated)\s+)?(?:map\s*<[^>]*>|[\w.]+)\s+(\w+)\s*=\s*\d+\s*(?:\[.*\])?$", re.DOTALL)
_VALUE = re.compile(r"(\w+)\s*=\s*(-?(?:0x[0-9a-fA-F]+|\d+))\s*(?:\[.*\])?$", re.DOTALL)


@dataclass
class Declaration:
    """`kind` is message, enum, service, oneof, rpc, field or value; `inside` the declaration around it."""

    kind: str
    name: str
    offset: int
    inside: "Declaration" = None
    request: str = ""
    response: str = ""
    number: int = 0


def check(file):
    if file.suffix != ".proto" or file.folders[:1] != ["proto"]:
        return
    match = _PACKAGE.search(file.code)
    if not re.search(r'^syntax = "proto3";$', file.text, re.MULTILINE):
        yield file.fault(0, 'says no syntax = "proto3"')
    if not match:
        yield file.fault(0, "has no package")
        return
    package = match.group(1)
    if "/".join(package.split(".")) != "/".join(file.folders[1:]):
        yield file.fault(match.start(), f"package {package} belongs in proto/{package.replace('.', '/')}")
    is_foreign = package.startswith(FOREIGN_PACKAGES)
    if not is_foreign and not _VERSION.fullmatch(package.split(".")[-1]):
        yield file.fault(match.start(), f"package {package} ends with no version")
    if not _SNAKE.fullmatch(file.path.rsplit("/", 1)[-1].removesuffix(".proto")):
        yield file.fault(0, "a proto's file name is lower_snake_case")
    for declaration in declarations(file):
        if not _is_commented(file, declaration.offset):
            yield file.fault(declaration.offset, f"{declaration.kind} {declaration.name} has no comment")
        if not is_foreign:
            yield from _names(file, declaration)


def _names(file, declaration):
    kind, name = declaration.kind, declaration.name
    if kind in ("message", "enum", "service", "rpc") and not _PASCAL.fullmatch(name):
        yield file.fault(declaration.offset, f"{kind} {name} is not PascalCase")
    if kind in ("field", "oneof") and not _SNAKE.fullmatch(name):
        yield file.fault(declaration.offset, f"{kind} {name} is not lower_snake_case")
    if kind == "service" and not name.endswith("Service"):
        yield file.fault(declaration.offset, f"service {name} is not named …Service")
    if kind == "rpc":
        for wanted, found in ((name + "Request", declaration.request), (name + "Response", declaration.response)):
            if found != wanted:
                yield file.fault(declaration.offset, f"rpc {name} uses {found}; it has a message of its own, {wanted}")
    if kind == "value":
        prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", declaration.inside.name).upper()
        if not _UPPER_SNAKE.fullmatch(name) or not name.startswith(prefix + "_"):
            yield file.fault(declaration.offset, f"value {name} is not {prefix}_…")
        if declaration.number == 0 and name != prefix + "_UNSPECIFIED":
            yield file.fault(declaration.offset, f"value {name} is 0, which is {prefix}_UNSPECIFIED")


def declarations(file):
    """Every declaration, in order."""
    code, around, start = file.code, [], 0
    for offset, character in enumerate(code):
        if character not in "{};":
            continue
        statement = code[start:offset]
        begin = start + len(statement) - len(statement.lstrip())
        inside = next((block for block in reversed(around) if block), None)
        found = _declaration(statement.strip(), begin, inside)
        if found:
            yield found
        if character == "{":
            around.append(found)
        elif character == "}" and around:
            around.pop()
        start = offset + 1


def _declaration(statement, offset, inside):
    match = _BLOCK.fullmatch(statement)
    if match:
        return Declaration(match.group(1), match.group(2), offset, inside)
    match = _RPC.fullmatch(statement)
    if match:
        return Declaration("rpc", match.group(1), offset, inside, match.group(2), match.group(3))
    if inside and inside.kind == "enum":
        match = _VALUE.fullmatch(statement)
        if match and not statement.startswith("option"):
            return Declaration("value", match.group(1), offset, inside, number=int(match.group(2), 0))
    if inside and inside.kind in ("message", "oneof"):
        match = _FIELD.fullmatch(statement)
        if match and not statement.startswith(("option ", "reserved ")):
            return Declaration("field", match.group(1), offset, inside)
    return None


def _is_commented(file, offset):
    """A comment ends on the line before, or follows on the same line."""
    line = file.line_of(offset) - 1
    comments = file.comments.split("\n")
    return bool(comments[line].strip()) or (line > 0 and bool(comments[line - 1].strip()))
